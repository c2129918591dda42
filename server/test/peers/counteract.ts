import { createHmac, randomBytes } from 'node:crypto'
import type { IssuedCertificate } from '../certificates.ts'
import { isBasic, type Reply, type Seen, startHttpsPeer } from './https-peer.ts'

/**
 * Simulates Forescout CounterACT as its documentation and public clients describe it. Web API: read-only HAL JSON, with
 * a login token as plain text that is valid for five minutes. Data Exchange: XML, errors as CODE and MESSAGE, and one
 * property per delete.
 */
export interface CounterActOptions {
  certificate: IssuedCertificate
  user?: string
  password?: string
  dexAccount?: string
  dexPassword?: string
  /** Properties defined in the CounterACT console. */
  properties?: readonly string[]
  tokenStyle?: 'bare' | 'bearer'
  /** Treats every requested MAC address as known. */
  seesAll?: boolean
  port?: number
}

interface Host {
  id: number
  ip: string
  /** Twelve hex digits, lower case. */
  mac: string
  fields: Record<string, string>
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')
const xmlHead = '<?xml version="1.0" encoding="UTF-8"?>'
const dexAnswer = (status: number, code: string, message: string): Reply => ({
  status,
  type: 'application/xml',
  body: `${xmlHead}<FSAPI TYPE="response" API_VERSION="2.0"><STATUS><CODE>${code}</CODE><MESSAGE>${message}</MESSAGE></STATUS></FSAPI>`,
})

export const startCounterAct = async (options: CounterActOptions) => {
  const user = options.user ?? 'webapi'
  const password = options.password ?? 'Web-Passw0rd'
  const dexAccount = options.dexAccount ?? 'dex@portcullis'
  const dexPassword = options.dexPassword ?? 'Dex-Passw0rd'
  const properties = new Set(options.properties ?? ['portcullis_state'])
  const hosts: Host[] = []
  const changes: { type: 'update' | 'delete'; ip: string; property: string; value: string }[] = []
  const key = randomBytes(32)
  const tokens = new Map<string, number>()

  const json = (status: number, body: unknown): Reply => ({
    status,
    type: 'application/hal+json;charset=UTF-8',
    body: JSON.stringify(body),
  })
  const failure = (status: number, error: string, message: string): Reply =>
    json(status, { timestamp: Math.floor(Date.now() / 1_000), status, error, message })

  const login = (seen: Seen): Reply => {
    if (!(seen.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded'))
      return failure(415, 'Unsupported Media Type', 'Content type is not supported')
    const form = new URLSearchParams(seen.body)
    if (form.get('username') !== user || form.get('password') !== password)
      return failure(401, 'Unauthorized', 'Authentication Failed')
    const unsigned = `${base64url('{"alg":"HS256"}')}.${base64url(JSON.stringify({ sub: user, jti: randomBytes(6).toString('hex') }))}`
    const token = `${unsigned}.${createHmac('sha256', key).update(unsigned).digest('base64url')}`
    tokens.set(token, seen.at + 300_000)
    return { status: 200, type: 'text/plain;charset=UTF-8', body: token }
  }

  const shown = (host: Host, wanted: readonly string[] | null): Reply => ({
    ...json(200, {
      host: {
        id: host.id,
        ip: host.ip,
        mac: host.mac,
        fields: Object.fromEntries(
          Object.entries(host.fields)
            .filter(([name]) => wanted === null || wanted.includes(name))
            .map(([name, value]) => [name, { timestamp: 1_700_000_000, value }]),
        ),
      },
      _links: { self: { href: `https://localhost/api/hosts/${host.id}` } },
    }),
    headers: { etag: `"${host.id}"` },
  })

  const webApi = (seen: Seen, url: URL): Reply => {
    const given = seen.headers.authorization ?? ''
    const token = options.tokenStyle === 'bearer' ? given.replace(/^Bearer /, '') : given
    if ((options.tokenStyle === 'bearer') !== given.startsWith('Bearer ') || (tokens.get(token) ?? 0) < seen.at)
      return failure(401, 'Unauthorized', 'Full authentication is required to access this resource')
    if (seen.method !== 'GET') return failure(405, 'Method Not Allowed', 'Request method is not supported')
    if (url.pathname === '/api/hostfields')
      return json(200, {
        hostFields: [...properties].map((name) => ({ name, label: name, description: '', type: 'string' })),
        _links: { self: { href: 'https://localhost/api/hostfields' } },
      })
    const fields = url.searchParams.get('fields')?.split(',') ?? null
    const [, by, value = ''] = /^\/api\/hosts\/(mac|ip)\/(.+)$/.exec(url.pathname) ?? []
    if (
      options.seesAll === true &&
      by === 'mac' &&
      /^[0-9a-f]{12}$/.test(value) &&
      !hosts.some((one) => one.mac === value)
    )
      hosts.push({ id: hosts.length + 1, ip: `10.0.0.${hosts.length + 1}`, mac: value, fields: {} })
    const host = hosts.find((one) => (by === 'mac' ? one.mac === value : by === 'ip' && one.ip === value))
    return host === undefined ? failure(404, 'Not Found', 'Host not found') : shown(host, fields)
  }

  const dataExchange = (seen: Seen): Reply => {
    if (!isBasic(seen.headers.authorization, dexAccount, dexPassword))
      return dexAnswer(401, 'FSAPI_ERR_AUTHENTICATION', 'Authentication failed')
    const type = /<TRANSACTION TYPE="(update|delete)">/.exec(seen.body)?.[1] as 'update' | 'delete' | undefined
    const ip = /<HOST_KEY NAME="ip" VALUE="([^"]+)"\/>/.exec(seen.body)?.[1]
    if (type === undefined || ip === undefined)
      return dexAnswer(400, 'FSAPI_ERR_REQUEST', 'The request could not be understood')
    const given = [...seen.body.matchAll(/<PROPERTY NAME="([^"]+)">(?:<VALUE>([^<]*)<\/VALUE>)?<\/PROPERTY>/g)]
    for (const [, name = ''] of given)
      if (!properties.has(name))
        return dexAnswer(400, 'FSAPI_ERR_UNKNOWN_PROPERTY', `Property ${name} is not defined for this account`)
    const host = hosts.find((one) => one.ip === ip)
    if (host === undefined) return dexAnswer(400, 'FSAPI_ERR_NO_HOST', `Host ${ip} does not exist`)
    // A delete removes only the first property, whatever it contains.
    for (const [, name = '', value = ''] of type === 'delete' ? given.slice(0, 1) : given) {
      changes.push({ type, ip, property: name, value })
      if (type === 'delete') delete host.fields[name]
      else host.fields[name] = value
    }
    return dexAnswer(200, 'FSAPI_OK', 'Processed')
  }

  const peer = await startHttpsPeer(
    options.certificate,
    (seen) => {
      const url = new URL(seen.path, 'https://localhost')
      if (url.pathname === '/api/login') return login(seen)
      if (url.pathname.startsWith('/api/')) return webApi(seen, url)
      if (url.pathname === '/fsapi/niCore/Hosts') return dataExchange(seen)
      return { status: 404, type: 'text/html', body: '<html><body>404</body></html>' }
    },
    options.port,
  )
  return {
    ...peer,
    user,
    password,
    dexAccount,
    dexPassword,
    properties,
    changes,
    addHost: (mac: string, ip: string): Host => {
      const host = { id: hosts.length + 1, ip, mac: mac.replaceAll(':', '').toLowerCase(), fields: {} }
      hosts.push(host)
      return host
    },
    /** Revokes all tokens, like a restart. */
    forgetTokens: (): void => tokens.clear(),
  }
}
