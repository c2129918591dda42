// Invariant: An agent sends nothing through a device that replaces the server's certificate.

import { X509Certificate } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainKeyboard } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { linux } from '../src/platform/linux/linux.ts'
import { openTunnel } from '../src/transport/proxy.ts'
import { spkiHash } from '../src/transport/tls-pin.ts'
import { certificates } from './certificates.ts'
import { type ConnectProxyOptions, startConnectProxy } from './connect-proxy.ts'
import { createTree, startAgent, statusOf, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'

const { ca, server: leaf, otherCa, impostorLeaf } = certificates
const token = `pce_1_secret.${spkiHash(new X509Certificate(ca))}`
const chain = { key: leaf.key, cert: leaf.cert + ca }
/** What a device that inspects TLS presents: the server's name, issued by its own CA. */
const inspected = { key: leaf.key, cert: impostorLeaf + otherCa }

const setUp = async (options: ConnectProxyOptions = {}) => {
  const peer = await startPeer({ tls: chain, token })
  onTestFinished(() => peer.stop())
  const proxy = await startConnectProxy(options)
  const stateDir = temporaryDir()
  const args = (more: string[] = ['--proxy', proxy.url]) => [
    ...['--server', peer.url, '--token', token, '--state-dir', stateDir],
    ...['--sysfs-root', createTree([plainKeyboard({ portPath: '1-1' })]).root],
    ...more,
  ]
  const present = (tls: { key: string; cert: string }) => {
    if ('setSecureContext' in peer.server) peer.server.setSecureContext(tls)
  }
  return { peer, proxy, stateDir, args, present, status: () => statusOf(args()) }
}

const credentialsFile = (text: string): string => {
  const path = join(temporaryDir(), 'credentials')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

describe('an agent behind a proxy', () => {
  it('enrols, checks in and keeps its wake socket through CONNECT, with basic authentication', async () => {
    const { peer, proxy, stateDir, args } = await setUp({ credentials: 'svc:se:cret ü' })
    const agent = startAgent(
      args(['--proxy', proxy.url, '--proxy-credentials-file', credentialsFile('svc:se:cret ü\n')]),
    )
    await until('a check-in', () => peer.seen.checkIns.length > 0)
    // The pin, the protocol and the wake socket each have a connection.
    await until('the wake socket', () => agent.lines.some((line) => line.includes('wake_')) && proxy.asked.length >= 3)
    expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set([new URL(peer.url).host]))
    const sockets = proxy.asked.length
    const checkIns = peer.seen.checkIns.length
    proxy.cut()
    await until('a connection after a cut', () => proxy.asked.length > sockets)
    expect(checkIns).toBeGreaterThan(0)
    await agent.stop()
    const kept = readdirSync(stateDir).map((name) => readFileSync(join(stateDir, name), 'utf8'))
    for (const secret of ['se:cret', Buffer.from('svc:se:cret ü').toString('base64')])
      expect([...agent.lines, ...kept].join('\n')).not.toContain(secret)
  })

  it('reaches exceptions directly', async () => {
    const { peer, proxy, args } = await setUp()
    expect(
      await startAgent([...args(), '--no-proxy', 'intranet.example.org,127.0.0.0/8', '--once']).done,
    ).toBeUndefined()
    expect([peer.seen.checkIns.length, proxy.asked]).toEqual([1, []])
  })

  it('leaves the name of the server to the proxy', async () => {
    const peer = await startPeer({ token: 'pce_1_plain' })
    onTestFinished(() => peer.stop())
    const proxy = await startConnectProxy({ routes: { 'server.invalid:8080': new URL(peer.url).host } })
    const agent = startAgent([
      ...['--server', 'http://server.invalid:8080', '--insecure-http', '--token', 'pce_1_plain'],
      ...['--state-dir', temporaryDir(), '--sysfs-root', createTree([]).root, '--proxy', proxy.url, '--once'],
    ])
    expect(await agent.done).toBeUndefined()
    expect(peer.seen.checkIns).toHaveLength(1)
  })

  it.each([
    [{ status: 407, headers: { 'Proxy-Authenticate': 'Basic realm="x"' } }, 'requires a user name and password'],
    [{ status: 407, headers: { 'Proxy-Authenticate': 'NTLM, Negotiate' } }, 'NTLM or Negotiate (407)'],
    [{ status: 403 }, 'Allow CONNECT to this host and port'],
    [{ status: 502 }, 'cannot reach'],
    [{ status: 302 }, 'does not answer as an HTTP proxy (302)'],
    ['cut' as const, 'does not answer as an HTTP proxy (connection closed)'],
    ['garbage' as const, 'does not answer as an HTTP proxy (no HTTP)'],
    ['early-data' as const, 'does not answer as an HTTP proxy (data before the connection)'],
  ])('shows cause and cure of %j in status and log, and recovers', async (answer, sentence) => {
    const { peer, proxy, args, status } = await setUp()
    expect(await startAgent([...args(), '--once']).done).toBeUndefined()
    proxy.answerWith(answer)
    const agent = startAgent(args())
    await until('a failure', () => agent.lines.some((line) => line.includes('check_in_failed')))
    expect(agent.lines.find((line) => line.includes('check_in_failed'))).toContain(sentence)
    expect(status()).toContain(sentence)
    const checkIns = peer.seen.checkIns.length
    proxy.answerWith(undefined)
    await until('a check-in', () => peer.seen.checkIns.length > checkIns)
  })

  it('names refused credentials without repeating them', async () => {
    const { proxy, args } = await setUp({ credentials: 'svc:right' })
    const agent = startAgent([...args(), '--proxy-credentials-file', credentialsFile('svc:wrong')])
    await until('a failure', () => agent.lines.some((line) => line.includes('enrolment_failed')))
    expect(agent.lines.join()).toContain('refused the user name or password (407)')
    expect(agent.lines.join()).not.toContain('wrong')
    expect(proxy.asked.length).toBeGreaterThan(0)
  })

  it('gives up a proxy that does not answer or cannot be reached', async () => {
    const proxy = await startConnectProxy()
    proxy.answerWith('hang')
    const open = (url: string) =>
      new Promise((resolve) =>
        openTunnel(
          { url: new URL(url), credentials: undefined, exceptions: [] },
          { host: 'fd00::1', port: 443 },
          (error) => resolve(error?.message),
          50,
        ),
      )
    expect(await open(proxy.url)).toContain('did not open a connection to [fd00::1]:443 in time')
    expect(proxy.asked).toEqual([{ target: '[fd00::1]:443', authorization: undefined }])
    expect(await open('http://127.0.0.1:1')).toContain('Cannot connect to the proxy 127.0.0.1:1 (ECONNREFUSED)')
  })
})

describe('TLS inspection', () => {
  it('is explained with its issuer after the enrolment, and nothing is sent', async () => {
    const { peer, args, present, status } = await setUp()
    expect(await startAgent([...args(), '--once']).done).toBeUndefined()
    const sessions = peer.seen.sessions.length
    present(inspected)
    const agent = startAgent(args())
    await until('a failure', () => agent.lines.some((line) => line.includes('check_in_failed')))
    const sentence = `A device between this host and the server replaces the server's certificate (issuer: "Other CA"). Exempt 127.0.0.1 from TLS inspection.`
    expect(status()).toContain(sentence)
    expect(peer.seen.sessions).toHaveLength(sessions)
    present(chain)
    await until('a session', () => peer.seen.sessions.length > sessions)
  })

  it('is explained during the enrolment, with and without a hash in the token', async () => {
    const { peer, args, present, stateDir } = await setUp()
    present(inspected)
    expect(await startAgent([...args(), '--once']).done).toMatchObject({
      message: expect.stringContaining(
        '(issuer: "Other CA"). If a device on the network inspects TLS, exempt 127.0.0.1',
      ),
    })
    const unpinned = startAgent([...args(), '--token', 'pce_1_plain'])
    await until('a failure', () => unpinned.lines.some((line) => line.includes('enrolment_failed')))
    expect(unpinned.lines.join()).toContain('does not trust the certificate of 127.0.0.1 (issuer: \\"Other CA\\")')
    expect([peer.seen.enrols, existsSync(join(stateDir, 'ca.pem'))]).toEqual([[], false])
  })
})

describe('settings of the proxy', () => {
  it.each([
    [['--proxy', 'socks5://proxy.example.org:1080']],
    [['--proxy', 'https://proxy.example.org']],
    [['--proxy', 'proxy.example.org:3128']],
    [['--proxy', 'http://user:hunter2@proxy.example.org:3128']],
    [['--proxy', 'http://proxy.example.org:3128/path']],
    [['--proxy', 'http://p:1', '--no-proxy', '10.0.0.0/33']],
    [['--proxy', 'http://p:1', '--no-proxy', 'a b$(id)']],
    [['--proxy', 'http://p:1', '--proxy-credentials-file', '/nowhere']],
    [['--proxy', 'http://p:1', '--proxy-credentials-file', '/dev/null']],
  ])('reject %j without repeating a password', (argv) => {
    let message = ''
    try {
      loadConfig(argv, {}, linux)
    } catch (error) {
      message = String(error)
    }
    expect(message).toMatch(/proxy|user:password/)
    expect(message).not.toContain('hunter2')
  })

  it('reject credentials that other users can read', () => {
    const file = credentialsFile('svc:hunter2')
    chmodSync(file, 0o644)
    const load = () => loadConfig(['--proxy', 'http://p:1', '--proxy-credentials-file', file], {}, linux)
    expect(load).toThrow(`Other users can read the credentials file of the proxy ${file}.`)
    expect(load).not.toThrow('hunter2')
  })

  it('come from arguments or the environment, and never from HTTPS_PROXY', () => {
    expect(loadConfig([], { HTTPS_PROXY: 'http://p:1' }, linux).proxy).toBeUndefined()
    expect(loadConfig(['--proxy', 'none'], { PORTCULLIS_AGENT_PROXY: 'http://p:1' }, linux).proxy).toBeUndefined()
    expect(
      loadConfig(
        [],
        { PORTCULLIS_AGENT_PROXY: 'http://p:1', PORTCULLIS_AGENT_NO_PROXY: 'a.example, .b.example' },
        linux,
      ).proxy,
    ).toEqual({ url: new URL('http://p:1'), credentials: undefined, exceptions: ['a.example', '.b.example'] })
  })
})
