import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IssuedCertificate } from '../certificates.ts'
import { isBasic, type Reply, type Seen, startHttpsPeer } from './https-peer.ts'

/**
 * Simulates Cisco ISE as its documentation and public clients describe it: ERS with XML unless JSON is requested, an
 * HTML page for a wrong password, 204 for ANC operations, custom attributes only if defined, and XML from the
 * monitoring node.
 */
export interface IseOptions {
  certificate: IssuedCertificate
  user?: string
  password?: string
  /** `read`: a member of the group ERS Operator. */
  rights?: 'write' | 'read'
  policies?: readonly string[]
  attributes?: readonly string[]
  /** Requires X-CSRF-TOKEN for changes. */
  csrf?: boolean
  port?: number
}

interface Session {
  user: string
  address: string
  nas: string
  port: string
  server: string
  /** Last report of the switch. Default: `Start`. */
  status?: 'Start' | 'Stop'
  /** Address that the session names. Default: the one it was asked for. */
  mac?: string
}

interface Endpoint {
  id: string
  mac: string
  groupId: string
  customAttributes: Record<string, string>
}

const unauthorized = `<!doctype html><html lang="en"><head><title>HTTP Status 401 – Unauthorized</title></head><body><h1>HTTP Status 401 – Unauthorized</h1></body></html>`
const notFoundPage = `<!doctype html><html lang="en"><head><title>HTTP Status 404 – Not Found</title></head><body><h1>HTTP Status 404 – Not Found</h1></body></html>`
const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const encode = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
const isMac = (text: string): boolean => /^[0-9A-F]{2}(:[0-9A-F]{2}){5}$/.test(text)

/** Transactions per second above which ISE slows down without an error. */
const tooMany = 100

export const startIse = async (options: IseOptions) => {
  const user = options.user ?? 'ersadmin'
  const password = options.password ?? 'Ise-Passw0rd'
  const policies = new Set(options.policies ?? ['Quarantine'])
  const attributes = new Set(options.attributes ?? ['PortcullisState', 'PortcullisReason', 'PortcullisUntil'])
  const endpoints = new Map<string, Endpoint>()
  /** Addresses with a policy, by the id of their ANC endpoint. */
  const anc = new Map<string, { mac: string; policy: string }>()
  const sessions = new Map<string, Session>()
  const changes: { operation: 'apply' | 'clear'; mac: string; policy: string }[] = []
  /**
   * Test switches: ANC accepts changes without effect, reading hangs after this many changes, and the monitoring node
   * refuses, fails, or names another machine at each address.
   */
  const knobs: {
    ancIsIdle: boolean
    hangAfter: number | null
    monitoring: 'works' | 'refuses' | 'fails'
    liesAbout: Session | null
  } = { ancIsIdle: false, hangAfter: null, monitoring: 'works', liesAbout: null }
  const token = { value: randomBytes(16).toString('hex').toUpperCase(), usedAt: Number.NEGATIVE_INFINITY }

  const wantsJson = (seen: Seen): boolean => (seen.headers.accept ?? '').includes('application/json')
  /** Returns an error in ERS format. */
  const ersError = (seen: Seen, status: number, title: string, code: string): Reply => {
    const operation = `${seen.method}-${seen.path.split('?')[0]?.split('/').slice(3).join('-')}`
    return wantsJson(seen)
      ? {
          status,
          type: 'application/json;charset=utf-8',
          body: JSON.stringify({
            ERSResponse: {
              operation,
              messages: [{ title, type: 'ERROR', code }],
              link: { rel: 'related', href: `https://localhost${seen.path}`, type: 'application/xml' },
            },
          }),
        }
      : {
          status,
          type: 'application/xml;charset=utf-8',
          body: `${xmlHead}<ns3:ersResponse operation="${encode(operation)}" xmlns:ns3="ers.ise.cisco.com"><link rel="related" href="https://localhost/"/><messages><message type="ERROR" code="${encode(code)}"><title>${encode(title)}</title></message></messages></ns3:ersResponse>`,
        }
  }
  const ok = (seen: Seen, body: unknown, headers: Record<string, string> = {}): Reply =>
    wantsJson(seen)
      ? { status: 200, type: 'application/json;charset=utf-8', headers, body: JSON.stringify(body) }
      : {
          status: 200,
          type: 'application/xml;charset=utf-8',
          headers,
          body: `${xmlHead}<ns2:resource xmlns:ns2="ers.ise.cisco.com"/>`,
        }
  const missing = (seen: Seen, what: string): Reply =>
    ersError(seen, 404, `The resource you are looking for cannot be found: ${what}`, 'Resource not found exception')

  const list = (seen: Seen, url: URL, resources: readonly { id: string; name?: string }[], path: string): Reply => {
    const size = Math.min(100, Number(url.searchParams.get('size') ?? 20))
    const page = Number(url.searchParams.get('page') ?? 1)
    const some = resources.slice((page - 1) * size, page * size)
    return ok(seen, {
      SearchResult: {
        total: resources.length,
        resources: some.map((one) => ({
          ...one,
          link: { rel: 'self', href: `https://localhost/ers/config/${path}/${one.id}`, type: 'application/json' },
        })),
        ...(page * size < resources.length
          ? { nextPage: { rel: 'next', href: `https://localhost/ers/config/${path}?size=${size}&page=${page + 1}` } }
          : {}),
      },
    })
  }

  const changeAnc = (seen: Seen, operation: 'apply' | 'clear'): Reply => {
    const data = JSON.parse(seen.body).OperationAdditionalData?.additionalData as { name: string; value: string }[]
    const value = (name: string): string => data?.find((one) => one.name === name)?.value ?? ''
    const [mac, policy] = [value('macAddress'), value('policyName')]
    if (!isMac(mac))
      return ersError(seen, 400, `Invalid mac address ${mac}`, 'Application resource validation exception')
    if (!policies.has(policy))
      return ersError(seen, 400, `ANC policy ${policy} does not exist`, 'Application resource validation exception')
    changes.push({ operation, mac, policy })
    const held = [...anc].find(([, one]) => one.mac === mac)
    if (operation === 'apply') {
      if (held !== undefined)
        return ersError(
          seen,
          400,
          `mac address ${mac} is already associated with policy ${held[1].policy}`,
          'Application resource validation exception',
        )
      if (!knobs.ancIsIdle) anc.set(randomUUID(), { mac, policy })
    } else {
      if (held === undefined)
        return ersError(
          seen,
          400,
          `mac address ${mac} is not associated with policy ${policy}`,
          'Application resource validation exception',
        )
      if (!knobs.ancIsIdle) anc.delete(held[0])
    }
    return { status: 204 }
  }

  const shownEndpoint = (one: Endpoint) => ({
    ERSEndPoint: {
      id: one.id,
      name: one.mac,
      mac: one.mac,
      groupId: one.groupId,
      staticGroupAssignment: false,
      staticProfileAssignment: false,
      customAttributes: { customAttributes: one.customAttributes },
      link: { rel: 'self', href: `https://localhost/ers/config/endpoint/${one.id}`, type: 'application/json' },
    },
  })

  const changeEndpoint = (seen: Seen, one: Endpoint): Reply => {
    const given = JSON.parse(seen.body).ERSEndPoint
    const wanted = (given?.customAttributes?.customAttributes ?? {}) as Record<string, string>
    const unknown = Object.keys(wanted).find((name) => !attributes.has(name))
    if (unknown !== undefined)
      return ersError(
        seen,
        400,
        `Custom attribute ${unknown} is not defined`,
        'Application resource validation exception',
      )
    const before = one.customAttributes
    one.customAttributes = wanted
    return ok(seen, {
      UpdatedFieldsList: {
        updatedField: Object.keys(wanted)
          .filter((name) => before[name] !== wanted[name])
          .map((name) => ({ field: name, oldValue: before[name] ?? '', newValue: wanted[name] })),
      },
    })
  }

  const ers = async (seen: Seen, url: URL): Promise<Reply> => {
    const [kind = '', ...rest] = url.pathname.slice('/ers/config/'.length).split('/').map(decodeURIComponent)
    if (seen.method !== 'GET') {
      const type = seen.headers['content-type'] ?? ''
      if (!type.includes('application/json'))
        return ersError(seen, 415, 'Unsupported media type', 'Conversion exception')
      if (options.rights === 'read') return ersError(seen, 403, 'Access denied', 'Security exception')
      if (options.csrf === true) {
        const isGood =
          seen.headers['x-csrf-token'] === token.value &&
          (seen.headers.cookie ?? '').includes('JSESSIONID=ise') &&
          seen.at - token.usedAt < 60_000
        if (!isGood)
          return {
            ...ersError(seen, 403, 'CSRF nonce validation failed', 'Security exception'),
            headers: { 'x-csrf-token': 'Required' },
          }
        token.usedAt = seen.at
      }
    }
    const fetching = options.csrf === true && seen.headers['x-csrf-token'] === 'fetch'
    const headers: Record<string, string> = fetching
      ? { 'x-csrf-token': token.value, 'set-cookie': 'JSESSIONID=ise; Path=/ers; Secure; HttpOnly' }
      : {}
    if (fetching) token.usedAt = seen.at

    if (kind === 'ancpolicy' && rest[0] === 'name')
      return policies.has(rest[1] ?? '')
        ? ok(seen, { ErsAncPolicy: { id: rest[1], name: rest[1], actions: ['QUARANTINE'] } }, headers)
        : missing(seen, rest[1] ?? '')
    if (kind === 'ancpolicy' && rest.length === 0) {
      const reply = list(
        seen,
        url,
        [...policies].map((name) => ({ id: name, name })),
        'ancpolicy',
      )
      return { ...reply, headers }
    }
    if (kind === 'ancendpoint' && seen.method === 'PUT' && (rest[0] === 'apply' || rest[0] === 'clear'))
      return changeAnc(seen, rest[0])
    if (kind === 'ancendpoint' && rest.length === 0) {
      if (knobs.hangAfter !== null && changes.length > knobs.hangAfter) await new Promise(() => {})
      return list(
        seen,
        url,
        [...anc.keys()].map((id) => ({ id })),
        'ancendpoint',
      )
    }
    if (kind === 'ancendpoint') {
      const one = anc.get(rest[0] ?? '')
      return one === undefined
        ? missing(seen, rest[0] ?? '')
        : ok(seen, { ErsAncEndpoint: { id: rest[0], macAddress: one.mac, policyName: one.policy } })
    }
    if (kind === 'endpoint' && rest.length === 0) {
      const mac = /^mac\.EQ\.(.*)$/.exec(url.searchParams.get('filter') ?? '')?.[1]
      const found = [...endpoints.values()].filter((one) => mac === undefined || one.mac === mac.toUpperCase())
      return list(
        seen,
        url,
        found.map(({ id, mac: name }) => ({ id, name })),
        'endpoint',
      )
    }
    if (kind === 'endpoint') {
      const one = endpoints.get(rest[0] ?? '')
      if (one === undefined) return missing(seen, rest[0] ?? '')
      return seen.method === 'PUT' ? changeEndpoint(seen, one) : ok(seen, shownEndpoint(one))
    }
    return { status: 404, type: 'text/html;charset=utf-8', body: notFoundPage }
  }

  const monitoring = (url: URL): Reply => {
    const xml = (body: string, status = 200): Reply => ({ status, type: 'application/xml', body: `${xmlHead}${body}` })
    if (knobs.monitoring === 'refuses') return xml('<mnt-rest-result><http-code>403</http-code></mnt-rest-result>', 403)
    if (knobs.monitoring === 'fails')
      return xml(
        '<mnt-rest-result><internal-error-info>Server encountered error</internal-error-info></mnt-rest-result>',
        500,
      )
    if (url.pathname === '/admin/API/mnt/Session/ActiveCount')
      return xml(`<sessionCount><count>${sessions.size}</count></sessionCount>`)
    const [, by = '', value = ''] =
      /^\/admin\/API\/mnt\/Session\/(MACAddress|EndPointIPAddress)\/(.+)$/.exec(decodeURIComponent(url.pathname)) ?? []
    const [mac, one] =
      (by === 'MACAddress'
        ? [...sessions].find(([key]) => key === value)
        : knobs.liesAbout === null
          ? [...sessions].findLast(([, { address }]) => address === value)
          : [knobs.liesAbout.mac ?? '', knobs.liesAbout]) ?? []
    // The monitoring node answers so, as if it had failed.
    if (one === undefined)
      return xml(
        '<mnt-rest-result><http-code>500</http-code><cpm-code>34110</cpm-code><description>Session not found</description></mnt-rest-result>',
        500,
      )
    return xml(
      `<sessionParameters><passed xsi:type="xs:boolean" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">true</passed><user_name>${encode(one.user)}</user_name><nas_ip_address>${one.nas}</nas_ip_address><calling_station_id>${one.mac ?? mac}</calling_station_id><nas_port_id>${encode(one.port)}</nas_port_id><framed_ip_address>${one.address}</framed_ip_address><acs_server>${encode(one.server)}</acs_server><acct_status_type>${one.status ?? 'Start'}</acct_status_type></sessionParameters>`,
    )
  }

  const recent: number[] = []
  const peer = await startHttpsPeer(
    options.certificate,
    async (seen) => {
      recent.push(seen.at)
      while ((recent[0] ?? seen.at) < seen.at - 1_000) recent.shift()
      if (recent.length > tooMany) await sleep(2_000)
      if (!isBasic(seen.headers.authorization, user, password))
        return {
          status: 401,
          type: 'text/html;charset=utf-8',
          headers: { 'www-authenticate': 'Basic realm="ERS"' },
          body: unauthorized,
        }
      const url = new URL(seen.path, 'https://localhost')
      if (url.pathname.startsWith('/ers/config/')) return ers(seen, url)
      if (url.pathname.startsWith('/admin/API/mnt/')) return monitoring(url)
      return { status: 404, type: 'text/html;charset=utf-8', body: notFoundPage }
    },
    options.port,
  )
  return {
    ...peer,
    user,
    password,
    policies,
    attributes,
    anc,
    sessions,
    changes,
    knobs,
    /** Adds an endpoint that ISE has seen. */
    addEndpoint: (mac: string, customAttributes: Record<string, string> = {}): Endpoint => {
      const one = { id: randomUUID(), mac, groupId: 'Unknown', customAttributes }
      endpoints.set(one.id, one)
      return one
    },
    /** Adds the session of an address, at a port of its own. */
    see: (mac: string, address: string, more: Partial<Session> = {}): void => {
      sessions.delete(mac)
      sessions.set(mac, {
        ...{ user: mac, address, nas: '10.0.0.1', port: `Gi1/0/${sessions.size + 1}`, server: 'psn-1' },
        ...more,
      })
    },
    /** Returns the policy of an address. Undefined if it has none. */
    policyOf: (mac: string): string | undefined => [...anc.values()].find((one) => one.mac === mac)?.policy,
  }
}
