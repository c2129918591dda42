import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { unless } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../clock.ts'
import { StartError } from '../start-error.ts'
import { ensureOwnCertificate, localIdentity } from './index.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portcullis-tls-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const day = 86_400_000
// The TLS client checks validity by the real clock.
const now = systemClock.now()
const make = (at = now, names = ['portcullis.example'], addresses = ['192.0.2.7', '2001:db8::7']) =>
  ensureOwnCertificate({ dir: join(dir, 'tls'), names, addresses, now: at })
const leafOf = (made: { cert: string }) => new X509Certificate(made.cert)

const withOpenssl = unless(spawnSync('openssl', ['version']).status === 0 ? null : 'no openssl')

const handshake = async (made: Awaited<ReturnType<typeof make>>, servername: string): Promise<string> => {
  const server = createServer({ cert: made.cert, key: made.key }, (socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await new Promise((resolve) => {
      const { port } = server.address() as AddressInfo
      const socket = connect({ host: '127.0.0.1', port, servername, ca: made.caPem }, () => {
        resolve(socket.authorized ? 'authorized' : 'refused')
        socket.destroy()
      })
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    })
  } finally {
    server.close()
  }
}

describe('ensureOwnCertificate', () => {
  it('creates a chain that a client with the CA accepts, for its names only', async () => {
    const made = await make()
    expect(await handshake(made, 'portcullis.example')).toBe('authorized')
    expect(await handshake(made, 'localhost')).toBe('authorized')
    expect(await handshake(made, 'other.example')).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    const stranger = await ensureOwnCertificate({ dir: join(dir, 'other'), names: [], addresses: [], now })
    expect(await handshake({ ...made, caPem: stranger.caPem }, 'localhost')).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/)
  })

  it('has the profile that clients check', async () => {
    const made = await make()
    const [leaf, ca] = [leafOf(made), new X509Certificate(made.caPem)]
    expect(leaf.subjectAltName).toBe(
      'DNS:localhost, DNS:portcullis.example, IP Address:127.0.0.1, IP Address:192.0.2.7, IP Address:2001:DB8:0:0:0:0:0:7, IP Address:0:0:0:0:0:0:0:1',
    )
    expect([leaf.ca, ca.ca, leaf.checkIssued(ca), ca.checkIssued(ca)]).toEqual([false, true, true, true])
    expect((Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / day).toBeLessThanOrEqual(825)
    expect(Date.parse(leaf.validTo)).toBeLessThan(Date.parse(ca.validTo))
    const spki = createPublicKey(made.caPem).export({ type: 'spki', format: 'der' })
    expect(made.caKeyHash).toBe(createHash('sha256').update(spki).digest('base64url'))
    expect(made.leafKeyHash).not.toBe(made.caKeyHash)
  })

  it('passes openssl verify, strictly', withOpenssl, async () => {
    const made = await make()
    const [ca, leaf] = [join(dir, 'ca.pem'), join(dir, 'leaf.pem')]
    writeFileSync(ca, made.caPem)
    writeFileSync(leaf, leafOf(made).toString())
    const verify = (...more: string[]) =>
      execFileSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, ...more, leaf], {
        encoding: 'utf8',
        stdio: 'pipe',
      })
    expect(verify('-verify_hostname', 'portcullis.example')).toContain('OK')
    expect(verify('-verify_ip', '2001:db8::7')).toContain('OK')
    expect(() => verify('-verify_hostname', 'other.example')).toThrow()
  })

  it('identifies keys and times like CA certificates of earlier releases', withOpenssl, async () => {
    const shown = (pem: string, ...args: string[]) => execFileSync('openssl', args, { input: pem, encoding: 'utf8' })
    const identifier = (pem: string, extension: string) =>
      shown(pem, 'x509', '-noout', '-ext', extension).match(/(?:[0-9A-F]{2}:){19}[0-9A-F]{2}/)?.[0]
    const ofKey = (pem: string) => {
      const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' })
      return createHash('sha1')
        .update(spki)
        .digest('hex')
        .toUpperCase()
        .replace(/..(?!$)/g, '$&:')
    }
    const made = await make()
    for (const extension of ['subjectKeyIdentifier', 'authorityKeyIdentifier'])
      expect(identifier(made.caPem, extension)).toBe(ofKey(made.caPem))
    expect(identifier(made.cert, 'subjectKeyIdentifier')).toBe(ofKey(made.cert))
    expect(identifier(made.cert, 'authorityKeyIdentifier')).toBe(ofKey(made.caPem))
    // RFC 5280, 4.1.2.5: another type of time from 2050 on.
    const { caPem } = await make(Date.UTC(2048, 0, 1))
    expect(shown(caPem, 'asn1parse')).toMatch(/UTCTIME +:471231000000Z[\s\S]*GENERALIZEDTIME +:20571228000000Z/)
  })

  it('keeps its keys private', async () => {
    await make()
    const modes = Object.fromEntries(
      readdirSync(join(dir, 'tls')).map((name) => [name, (statSync(join(dir, 'tls', name)).mode & 0o777).toString(8)]),
    )
    expect(modes).toEqual({ 'ca.crt': '644', 'ca.key': '600', 'server.crt': '644', 'server.key': '600' })
    expect((statSync(join(dir, 'tls')).mode & 0o777).toString(8)).toBe('700')
  })

  it('stays the same after restarts, and renews only the certificate when needed', async () => {
    const first = await make()
    expect(await make(now + 790 * day)).toEqual(first)
    const late = await make(now + 800 * day)
    expect(late.cert).not.toBe(first.cert)
    expect([late.key, late.caPem, late.caKeyHash]).toEqual([first.key, first.caPem, first.caKeyHash])
    const moved = await make(now + 800 * day, ['renamed.example'], ['192.0.2.8'])
    expect(leafOf(moved).checkHost('renamed.example')).toBe('renamed.example')
    expect([moved.leafKeyHash, moved.caPem]).toEqual([first.leafKeyHash, first.caPem])
    const old = await make(now + 3_000 * day)
    expect(old.caPem).not.toBe(first.caPem)
    expect(old.caKeyHash).toBe(first.caKeyHash)
    expect(leafOf(old).verify(createPublicKey(first.caPem))).toBe(true)
  })

  it('leaves out names that a certificate cannot contain', async () => {
    const made = await make(
      now,
      ['bad name', 'UPPER.example.', '*.wild', 'x'.repeat(300)],
      ['fe80::1%eth0', 'nonsense'],
    )
    expect(leafOf(made).subjectAltName).toBe(
      'DNS:localhost, DNS:upper.example, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    )
  })

  it.each(['ca.key', 'ca.crt', 'server.key', 'server.crt'])('refuses to start with a damaged %s', async (name) => {
    await make()
    const file = join(dir, 'tls', name)
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, 60))
    await expect(make()).rejects.toThrow(StartError)
    await expect(make()).rejects.toThrow(new RegExp(`${name.replace('.', '\\.')} is damaged`))
  })

  it.each(['ca.key', 'server.key'])('refuses to start without %s', async (name) => {
    await make()
    rmSync(join(dir, 'tls', name))
    await expect(make()).rejects.toThrow(/is missing, but its certificate exists/)
  })

  it('rejects a key that does not match the certificate, and a folder that it cannot create', async () => {
    await make()
    const other = await ensureOwnCertificate({ dir: join(dir, 'other'), names: [], addresses: [], now })
    writeFileSync(join(dir, 'tls', 'server.key'), other.key)
    await expect(make()).rejects.toThrow(/does not match its key/)
    writeFileSync(join(dir, 'file'), '')
    await expect(
      ensureOwnCertificate({ dir: join(dir, 'file', 'tls'), names: [], addresses: [], now }),
    ).rejects.toThrow(StartError)
  })

  it('writes any IP address in the form that OpenSSL reads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.ipV4(), fc.ipV6()), async (address) => {
        const made = await ensureOwnCertificate({ dir: join(dir, 'any'), names: [], addresses: [address], now })
        expect(leafOf(made).checkIP(address)).toBe(address)
      }),
      { numRuns: 50 },
    )
  })
})

describe('localIdentity', () => {
  it('contains the host name and its addresses, without zones', () => {
    const any = localIdentity('0.0.0.0')
    expect(any.addresses).toContain('127.0.0.1')
    expect(any.addresses.some((address) => address.includes('%') || address === '0.0.0.0')).toBe(false)
    expect(localIdentity('192.0.2.1').addresses).toContain('192.0.2.1')
    expect(localIdentity('portcullis.example').names).toContain('portcullis.example')
  })
})
