/** SSH servers that differ from the usual: algorithms, host keys, key formats, methods to sign in, and greetings. */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Poll, PollResult } from '@portcullis/contract/worker-protocol.ts'
import { unless } from '@portcullis/domain/testing'
import type { AuthContext } from 'ssh2'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pollHost } from '../src/poll.ts'
import { startSshPeer } from './ssh-peer.ts'
import { type Sshd, startSshd, whyNoPasswords, whyNoSshd } from './sshd.ts'

const never = new AbortController().signal
const poll = async (server: Pick<Sshd, 'host' | 'port' | 'userName'>, change: Partial<Poll>): Promise<PollResult> => {
  const given: Poll = {
    id: '0199a0c4-0000-7000-8000-000000000002',
    fence: 1,
    isTest: false,
    host: server.host,
    port: server.port,
    platform: null,
    userName: server.userName,
    password: null,
    privateKey: null,
    passphrase: null,
    hostKeyFingerprint: null,
    limits: { connectMs: 20_000, totalMs: 60_000, outputBytes: 4 * 1024 * 1024 },
    ...change,
  }
  for (let i = 0; ; i++) {
    const result = await pollHost(given, () => {}, never)
    // The server may still be starting.
    if (result.failure !== 'connection-refused' || i === 200) return result
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
const start = async (...args: Parameters<typeof startSshd>): Promise<Sshd> => {
  const server = await startSshd(...args)
  onTestFinished(server.stop)
  return server
}
const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-keys-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}
const keygen = (
  dir: string,
  name: string,
  ...more: string[]
): { key: string; fingerprint: string; publicKey: string } => {
  const file = join(dir, name)
  execFileSync('ssh-keygen', ['-q', '-C', name, '-f', file, ...more])
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', `${file}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? ''
  return { key: readFileSync(file, 'utf8'), fingerprint, publicKey: readFileSync(`${file}.pub`, 'utf8') }
}

describe('the algorithms of a server', unless(whyNoSshd), () => {
  it.each([
    ['Ciphers chacha20-poly1305@openssh.com'],
    ['Ciphers aes256-ctr', 'MACs hmac-sha2-512', 'KexAlgorithms diffie-hellman-group16-sha512'],
  ])('may be only %s', async (...lines) => {
    const server = await start('127.0.0.1', lines)
    expect(await poll(server, { privateKey: server.privateKey })).toMatchObject({ failure: null, platform: 'linux' })
  })

  it.each([
    ['cipher', 'Ciphers aes128-cbc,3des-cbc', 'aes128-cbc,3des-cbc', 'aes128-gcm@openssh.com,'],
    ['MAC', 'MACs umac-128@openssh.com\nCiphers aes128-ctr', 'umac-128@openssh.com', 'hmac-sha2-256-etm@openssh.com,'],
    [
      'key exchange',
      'KexAlgorithms sntrup761x25519-sha512@openssh.com',
      'sntrup761x25519-sha512',
      'curve25519-sha256,',
    ],
  ])('without a common %s are named, with those of the worker', async (kind, line, theirs, ours) => {
    const server = await start('127.0.0.1', line.split('\n'))
    const { failure, message } = await poll(server, { privateKey: server.privateKey })
    expect(failure).toBe('no-common-algorithm')
    expect(message).toMatch(new RegExp(`^${kind}: the host offers .*; the worker offers `))
    const [host, worker] = message.split('; the worker offers ')
    expect([host, worker]).toEqual([expect.stringContaining(theirs), expect.stringContaining(ours)])
  })
})

describe('a pinned host key', unless(whyNoSshd), () => {
  it('is found among several keys of the host, and a host without it has changed', async () => {
    const dir = folder()
    const [rsa, ecdsa] = [keygen(dir, 'rsa', '-t', 'rsa', '-N', ''), keygen(dir, 'ecdsa', '-t', 'ecdsa', '-N', '')]
    const server = await start('127.0.0.1', [`HostKey ${join(dir, 'rsa')}`, `HostKey ${join(dir, 'ecdsa')}`])
    for (const pinned of [rsa, ecdsa, { fingerprint: server.fingerprint }, rsa]) {
      const result = await poll(server, { privateKey: server.privateKey, hostKeyFingerprint: pinned.fingerprint })
      expect(result).toMatchObject({ failure: null, hostKeyFingerprint: pinned.fingerprint })
      expect(result.steps.map(({ step }) => step)).toEqual([
        'resolve',
        'connect',
        'host-key',
        'sign-in',
        'read',
        'understand',
      ])
    }
    const other = keygen(dir, 'other', '-t', 'rsa', '-N', '')
    expect(await poll(server, { password: 'secret', hostKeyFingerprint: other.fingerprint })).toMatchObject({
      failure: 'host-key-changed',
      hostKeyFingerprint: server.fingerprint,
      message: `expected ${other.fingerprint}, the host presented ${server.fingerprint}`,
    })
  })

  it('of a type that the host no longer has, has changed', async () => {
    const server = await start('127.0.0.1')
    const { fingerprint } = keygen(folder(), 'gone', '-t', 'rsa', '-N', '')
    expect(await poll(server, { password: 'secret', hostKeyFingerprint: fingerprint })).toMatchObject({
      failure: 'host-key-changed',
      hostKeyFingerprint: server.fingerprint,
    })
  })
})

describe('a private key', unless(whyNoSshd), () => {
  it.each([
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ECDSA', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['Ed25519', () => generateKeyPairSync('ed25519')],
  ])('in PKCS#8 signs in: %s', async (_name, make) => {
    const dir = folder()
    const { privateKey: key } = make()
    const privateKey = key.export({ type: 'pkcs8', format: 'pem' }).toString()
    const file = join(dir, 'authorized')
    writeFileSync(file, authorizedLine(dir, privateKey, key.export({ format: 'jwk' }).x ?? ''))
    const server = await start('127.0.0.1', [`AuthorizedKeysFile ${file}`])
    expect(await poll(server, { privateKey })).toMatchObject({ failure: null })
  })

  it('that is encrypted in another way is refused with the command that rewrites it', async () => {
    const dir = folder()
    const chacha = keygen(dir, 'chacha', '-t', 'ed25519', '-N', 'open sesame', '-Z', 'chacha20-poly1305@openssh.com')
    const { privateKey: pkcs8 } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const nobody = { host: '127.0.0.1', port: 1, userName: 'u' }
    for (const privateKey of [chacha.key, pkcs8]) {
      const { failure, message } = await poll(nobody, { privateKey, passphrase: 'open sesame' })
      expect([failure, message]).toEqual(['key-unusable', expect.stringContaining('ssh-keygen -p -f KEYFILE')])
    }
    execFileSync('ssh-keygen', ['-q', '-p', '-P', 'open sesame', '-N', 'open sesame', '-f', join(dir, 'chacha')])
    const file = join(dir, 'authorized')
    writeFileSync(file, chacha.publicKey)
    const server = await start('127.0.0.1', [`AuthorizedKeysFile ${file}`])
    const privateKey = readFileSync(join(dir, 'chacha'), 'utf8')
    expect(await poll(server, { privateKey, passphrase: 'open sesame' })).toMatchObject({ failure: null })
  })
})

/** Returns the line of `authorized_keys` for a key in PKCS#8. OpenSSH 9.2 reads no Ed25519 keys in it. */
function authorizedLine(dir: string, pem: string, ed25519: string): string {
  if (!pem.includes('MC4CAQ')) {
    const file = join(dir, 'user')
    writeFileSync(file, pem, { mode: 0o600 })
    return execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' })
  }
  const parts = [Buffer.from('ssh-ed25519'), Buffer.from(ed25519, 'base64url')]
  const bytes = Buffer.concat(parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]))
  return `ssh-ed25519 ${bytes.toString('base64')}\n`
}

describe('a password', () => {
  const peer = async (offered: AuthContext['method'][], accept: (context: AuthContext) => boolean = () => false) => {
    const attempts: string[] = []
    const server = await startSshPeer({
      answer: () => 'portcullis 1\nLinux\n 00\nend\n',
      authenticate: (context) => {
        if (context.method === 'none') return context.reject(offered)
        attempts.push(context.method)
        if (context.method !== 'keyboard-interactive')
          return accept(context) ? context.accept() : context.reject(offered, context.method === 'publickey')
        context.prompt([{ prompt: 'Password: ', echo: false }], () =>
          accept(context) ? context.accept() : context.reject(offered),
        )
      },
    })
    onTestFinished(server.close)
    return { attempts, ...server, host: '127.0.0.1', userName: 'svc' }
  }

  it.each([
    ['password', ['password', 'keyboard-interactive'], ['password']],
    ['keyboard-interactive', ['keyboard-interactive', 'publickey'], ['keyboard-interactive']],
    ['none', ['publickey'], []],
  ] as const)('is tried once: %s', async (_name, offered, wanted) => {
    const server = await peer([...offered])
    const change = { password: 'wrong', hostKeyFingerprint: server.fingerprint }
    expect((await poll(server, change)).failure).toBe('sign-in-refused')
    expect(server.attempts).toEqual(wanted)
  })

  it('that is wrong is one failed sign-in in the log of OpenSSH', unless(whyNoSshd ?? whyNoPasswords), async () => {
    const dir = folder()
    const log = join(dir, 'log')
    const account = { userName: 'portcullis-once', password: 'right' }
    const lines = ['KbdInteractiveAuthentication yes', 'PasswordAuthentication yes', 'LogLevel VERBOSE']
    const server = await start('127.0.0.1', lines, account, log)
    const change = { password: 'wrong', userName: account.userName, hostKeyFingerprint: server.fingerprint }
    expect((await poll(server, change)).failure).toBe('sign-in-refused')
    expect(readFileSync(log, 'utf8').match(/^Failed \S+/gm)).toEqual(['Failed password'])
  })

  it(
    'follows a key if the server wants both, and is refused if it closes after the key',
    unless(whyNoSshd ?? whyNoPasswords),
    async () => {
      const account = { userName: 'portcullis-both', password: 'right' }
      const dir = folder()
      const { key: privateKey } = keygen(dir, 'user', '-t', 'ed25519', '-N', '')
      // The account cannot read files of root.
      const keys = [`AuthorizedKeysCommand /usr/bin/cat ${join(dir, 'user.pub')}`, 'AuthorizedKeysCommandUser root']
      const both = await start('127.0.0.1', ['AuthenticationMethods publickey,password', ...keys], account)
      const change = { ...account, privateKey, hostKeyFingerprint: both.fingerprint }
      expect(await poll(both, change)).toMatchObject({ failure: null })
      const strict = await start('127.0.0.1', ['MaxAuthTries 1'], account)
      const wrongKey = keygen(folder(), 'wrong', '-t', 'ed25519', '-N', '').key
      expect(
        await poll(strict, { ...account, privateKey: wrongKey, hostKeyFingerprint: strict.fingerprint }),
      ).toMatchObject({ failure: 'sign-in-refused' })
    },
  )
})

describe('a greeting', unless(whyNoSshd ?? whyNoPasswords), () => {
  it.each([
    ['a title escape', '\\033]0;pc\\007'],
    ['a text without a line end', 'Agent pid 4711'],
    ['lines', 'Welcome\\nportcullis 1 is not here\\n'],
  ])('of %s does not hide the output', async (_name, text) => {
    const dir = folder()
    const script = join(dir, 'shell')
    writeFileSync(script, `#!/bin/sh\nprintf '${text}'\nexec /bin/sh "$@"\n`, { mode: 0o755 })
    const server = await start('127.0.0.1', [`ForceCommand ${script} -c "$SSH_ORIGINAL_COMMAND"`])
    expect(await poll(server, { privateKey: server.privateKey })).toMatchObject({ failure: null, platform: 'linux' })
  })
})
