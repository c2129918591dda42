// Invariant: A proxy opens no destination that the server refuses without it.

import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ConnectProxyOptions, startConnectProxy } from '../../agent/test/connect-proxy.ts'
import { explainedFault } from './connection-fault.ts'
import { createDestinations, type Resolver } from './destinations.ts'
import { createOutboundFetch } from './outbound-fetch.ts'
import { parseOutboundProxy } from './outbound-proxy.ts'
import { webhookError } from './webhooks/webhook-error.ts'

const authority = await createAuthority()
const inspecting = await createAuthority('Example Proxy CA')

/** Addresses by name, as this server resolves them. Other names only the proxy resolves. */
const names: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['198.51.100.7'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': ['198.51.100.7', '127.0.0.1'],
  'local.example': ['127.0.0.1'],
}
const resolver: Resolver = async (host) => {
  const found = names[host]
  if (found === undefined) throw new Error('no such name')
  return found.map((address) => ({ address, family: 4 }))
}

const setUp = async (
  options: { issuer?: typeof authority; login?: string; exceptions?: string } & ConnectProxyOptions = {},
) => {
  const { issuer = authority, login = '', exceptions, ...more } = options
  const hosts = ['hook.example', 'public.example', 'metadata.example', 'mixed.example', 'local.example', '192.0.2.9']
  const server = createServer(await issuer.issue(hosts), (_request, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const proxy = await startConnectProxy({
    ...more,
    routes: Object.fromEntries([...hosts, 'unlisted.example'].map((host) => [`${host}:443`, `127.0.0.1:${port}`])),
  })
  const get = createOutboundFetch({
    ca: [authority.pem],
    timeoutMs: 5_000,
    mostBytes: 1_000,
    plainOnLoopback: true,
    resolve: createDestinations(
      ['127.0.0.0/8'],
      resolver,
      parseOutboundProxy(proxy.url.replace('//', `//${login}`), exceptions),
    ),
  })
  const outcome = (url: string): Promise<unknown> =>
    get(url).then(
      (answer) => answer.text(),
      (error: unknown) => webhookError(error, new URL(url).host).message,
    )
  return { proxy, outcome, port }
}

describe('the proxy of the server', () => {
  it('opens tunnels to names, which only the proxy may be able to resolve, with basic authentication', async () => {
    const { proxy, outcome } = await setUp({ credentials: 'svc:p@ss:ü', login: 'svc:p%40ss%3A%C3%BC@' })
    expect(await outcome('https://hook.example/x')).toBe('ok')
    expect(await outcome('https://public.example/x')).toBe('ok')
    expect(await outcome('https://192.0.2.9/x')).toBe('ok')
    expect(proxy.asked.map(({ target }) => target)).toEqual(['hook.example:443', 'public.example:443', '192.0.2.9:443'])
  })

  it.each([
    'https://metadata.example/latest',
    'https://mixed.example/',
    'https://169.254.169.254/latest',
    'https://[::ffff:169.254.169.254]/',
    'https://[fd00:ec2::254]/',
    'https://127.0.0.1:1/',
    'https://localhost:1/',
    'https://local.example:1/',
    'http://hook.example/',
    'http://127.0.0.1:1/',
  ])('is not asked for %s', async (url) => {
    const { proxy, outcome } = await setUp()
    expect(await outcome(url)).not.toBe('ok')
    expect(proxy.asked).toEqual([])
  })

  it('verifies the certificate in the tunnel, and names the issuer of one that a device replaced', async () => {
    const { outcome } = await setUp({ issuer: inspecting })
    expect(await outcome('https://hook.example/')).toBe(
      'The certificate of hook.example is not trusted (issuer: "Example Proxy CA"). Enter the CA that issued it and the host name in it. If a device on the network inspects TLS, exempt hook.example from TLS inspection.',
    )
    // As if an attacker let the proxy resolve a name to another service.
    const other = await setUp()
    expect(await other.outcome('https://unlisted.example/')).toContain('certificate of unlisted.example is not trusted')
  })

  it('does not get exceptions', async () => {
    const { proxy, outcome } = await setUp({ exceptions: '.example,192.0.2.0/24' })
    expect(await outcome('https://hook.example/')).toContain('does not resolve')
    expect(proxy.asked).toEqual([])
  })

  it.each([
    [{ status: 403 }, 'refused the connection to hook.example:443'],
    [{ status: 407 }, 'requires a user name and password'],
    [{ status: 407, headers: { 'Proxy-Authenticate': 'NTLM' } }, 'such as NTLM'],
    [{ status: 503 }, 'cannot reach hook.example:443'],
    ['garbage' as const, 'does not answer as an HTTP proxy'],
    ['early-data' as const, 'does not answer as an HTTP proxy'],
    ['cut' as const, 'does not answer as an HTTP proxy'],
  ])('is named as the cause of a failure: %j', async (answer, sentence) => {
    const { proxy, outcome } = await setUp()
    proxy.answerWith(answer)
    expect(await outcome('https://hook.example/')).toContain(sentence)
  })

  it('is not a setting that a value could break', () => {
    expect(parseOutboundProxy(undefined, 'a b')).toBeNull()
    for (const bad of [
      'proxy.example:3128',
      'https://proxy.example',
      'socks5://user:hunter2@p',
      'http://u:hunter2@p/x',
    ]) {
      expect(() => parseOutboundProxy(bad, undefined)).toThrow('PORTCULLIS_OUTBOUND_PROXY must be')
      expect(() => parseOutboundProxy(bad, undefined)).not.toThrow('hunter2')
    }
    expect(() => parseOutboundProxy('http://p:1', '10.0.0.0/99')).toThrow('PORTCULLIS_OUTBOUND_PROXY_EXCEPTIONS')
    expect(JSON.stringify(parseOutboundProxy('http://p:1', '')?.exceptions)).toBe('{}')
    expect(explainedFault(new Error('x'), 'y')).toBeNull()
  })
})
