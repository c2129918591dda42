import { cleanText } from '@portcullis/domain'
import { NacFault } from './fault.ts'
import {
  exchange,
  isWebPage,
  type Json,
  objectOf,
  type PeerAddress,
  type PeerAnswer,
  type PeerRequest,
  textOf,
} from './peer.ts'
import type { Manner, Traffic } from './traffic.ts'
import { readXml, xmlText } from './xml.ts'

export interface IseConfig extends PeerAddress {
  user: string
  password: string
  policy: string
}

export interface IseEndpoint {
  id: string
  mac: string
  groupId: string
  attributes: Record<string, string>
}

export interface IseSession {
  mac: string
  /** Authenticated, and not ended by its switch. */
  isLive: boolean
  userName: string
  address: string
  nasAddress: string
  nasPort: string
  server: string
}

/** Addresses by ANC endpoint id, which ISE never reuses, and reads in progress. */
export interface AncKnowledge {
  macs: Map<string, string>
  reading: Map<string, Promise<string>>
}
export const nothingKnown = (): AncKnowledge => ({ macs: new Map(), reading: new Map() })

export interface IseOptions extends Manner {
  config: IseConfig
  traffic: Traffic
  /** Known ANC endpoints, shared by clients. */
  known: AncKnowledge
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns the text of an ERS error: `ERSResponse` as JSON, or as XML although JSON was requested. */
const errorText = ({ text }: PeerAnswer): string => {
  const titles: string[] = []
  try {
    const response = objectOf(objectOf(JSON.parse(text)).ERSResponse)
    for (const message of listOf(response.messages)) titles.push(textOf(objectOf(message).title))
  } catch {
    const xml = readXml(text)
    if (xml !== null) titles.push(xmlText(xml, 'title'))
  }
  return cleanText(titles.filter((title) => title !== '').join('; '), 300)
}

/** Returns whether the monitoring node answers that it has no such session: with a status of 500, as if it had failed. */
const isNoSession = ({ text }: PeerAnswer): boolean => xmlText(readXml(text), 'cpm-code') === '34110'

const pageSize = 100
const maxPages = 200
/** Tokens expire after a minute without use. */
const tokenMs = 50_000

/** Client for Cisco ISE: ERS (JSON) and the monitoring node (XML). */
export const createIse = ({ config, traffic, signal, before, known, isTest, isLive }: IseOptions) => {
  const where = config.url.host
  const authorization = `Basic ${Buffer.from(`${config.user}:${config.password}`).toString('base64')}`
  const json = { accept: 'application/json', 'content-type': 'application/json', authorization }
  let csrf: { token: string; cookie: string; at: number } | null = null

  const manner = { signal, isTest, isLive }
  async function send(asked: PeerRequest, address: PeerAddress = config): Promise<PeerAnswer> {
    await before?.()
    return traffic.run(async () => {
      const answer = await exchange(address, asked, signal)
      if ((answer.status >= 500 || answer.status === 429) && !isNoSession(answer))
        throw new NacFault('away', 'answer', `${where} answered ${answer.status}${colon(errorText(answer))}`)
      return answer
    }, manner)
  }
  const colon = (text: string): string => (text === '' ? '.' : `: ${text}`)

  /** Returns the response of ERS, or throws the fault it shows. */
  function checked(answer: PeerAnswer): PeerAnswer {
    if (answer.status === 401)
      throw new NacFault(
        'setup',
        'sign-in',
        'ISE rejected the user name or password. The user must be an internal administrator.',
      )
    if (answer.status >= 300 && answer.status < 400)
      throw new NacFault(
        'setup',
        'answer',
        `${where} redirected the request (${answer.status}). Enter the address of ERS itself.`,
      )
    if (isWebPage(answer))
      throw new NacFault(
        'setup',
        'answer',
        `${where} answered with a web page, not with ERS. Enable ERS (Administration, Settings, API Settings) and check the port: 9060, or 443.`,
      )
    if (answer.status === 403)
      throw new NacFault(
        'setup',
        'sign-in',
        `The user lacks the permission${colon(errorText(answer))} Add the user to the group ERS Admin.`,
      )
    if (answer.status === 405 || answer.status === 415 || answer.status === 400)
      throw new NacFault('refused', 'answer', `ISE rejected the request${colon(errorText(answer))}`)
    return answer
  }

  function parse(answer: PeerAnswer): Json {
    try {
      return objectOf(JSON.parse(answer.text))
    } catch {
      throw new NacFault(
        'setup',
        'answer',
        `${where} did not answer in the format of ERS. Check its address and version.`,
      )
    }
  }

  /** Returns null if the object does not exist. */
  async function read(path: string): Promise<Json | null> {
    const answer = checked(await send({ method: 'GET', path, headers: json }))
    return answer.status === 404 ? null : parse(answer)
  }

  /** Fetches the token that a server with CSRF protection requires for changes. */
  async function fetchToken(): Promise<boolean> {
    const answer = checked(
      await send({
        method: 'GET',
        path: '/ers/config/ancpolicy?size=1',
        headers: { ...json, 'x-csrf-token': 'fetch' },
      }),
    )
    const token = answer.headers.get('x-csrf-token') ?? ''
    if (token === '') return false
    const cookie = answer.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    csrf = { token, cookie, at: performance.now() }
    return true
  }

  async function change(method: 'PUT' | 'POST', path: string, body: unknown): Promise<PeerAnswer> {
    function attempt(): Promise<PeerAnswer> {
      const isFresh = csrf !== null && performance.now() - csrf.at < tokenMs
      const token = isFresh && csrf !== null ? { 'x-csrf-token': csrf.token, cookie: csrf.cookie } : {}
      return send({ method, path, headers: { ...json, ...token }, body: JSON.stringify(body) })
    }
    const first = await attempt()
    // Only servers with CSRF protection get here; they refuse before they change anything.
    if (first.status === 403 && (await fetchToken())) return checked(await attempt())
    return checked(first)
  }

  const anc = (operation: 'apply' | 'clear', mac: string, policy: string): Promise<PeerAnswer> =>
    change('PUT', `/ers/config/ancendpoint/${operation}`, {
      OperationAdditionalData: {
        additionalData: [
          { name: 'macAddress', value: mac },
          { name: 'policyName', value: policy },
        ],
      },
    })

  async function ancIds(): Promise<string[]> {
    const ids: string[] = []
    for (let page = 1; page <= maxPages; page++) {
      const result = objectOf((await read(`/ers/config/ancendpoint?size=${pageSize}&page=${page}`))?.SearchResult)
      const resources = listOf(result.resources)
      ids.push(...resources.map((one) => textOf(objectOf(one).id)).filter((id) => id !== ''))
      if (resources.length < pageSize) break
    }
    return ids
  }
  /** Empty strings if it was removed in the meantime. */
  async function ancEndpoint(id: string): Promise<{ mac: string; policy: string }> {
    const endpoint = objectOf((await read(`/ers/config/ancendpoint/${encodeURIComponent(id)}`))?.ErsAncEndpoint)
    return { mac: textOf(endpoint.macAddress).toUpperCase(), policy: textOf(endpoint.policyName) }
  }
  /** Returns the address of an endpoint id. Concurrent quarantines share one read. */
  async function learn(id: string): Promise<string> {
    const read = (): Promise<string> =>
      ancEndpoint(id).then(({ mac }) => {
        if (mac !== '') known.macs.set(id, mac)
        return mac
      })
    // A live view has a deadline and the lowest priority: quarantines must not wait for its read.
    if (isLive === true) return read()
    const other = known.reading.get(id)
    if (other !== undefined) {
      await before?.()
      return other
    }
    const mine = read()
    known.reading.set(id, mine)
    try {
      return await mine
    } finally {
      known.reading.delete(id)
    }
  }

  async function rawEndpoint(mac: string): Promise<Json | null> {
    const found = objectOf((await read(`/ers/config/endpoint?filter=mac.EQ.${mac}`))?.SearchResult)
    const id = textOf(objectOf(listOf(found.resources)[0]).id)
    if (id === '') return null
    const endpoint = objectOf((await read(`/ers/config/endpoint/${encodeURIComponent(id)}`))?.ERSEndPoint)
    return textOf(endpoint.id) === '' ? null : endpoint
  }
  const attributesOf = (endpoint: Json): Record<string, string> =>
    Object.fromEntries(
      Object.entries(objectOf(objectOf(endpoint.customAttributes).customAttributes)).map(([name, value]) => [
        name,
        textOf(value),
      ]),
    )

  /** Returns the address of the monitoring node: port 443, even if ERS has another port. */
  function monitoring(): PeerAddress {
    const url = new URL(config.url)
    if (url.port === '9060') url.port = ''
    return { ...config, url }
  }
  const askMonitoring = (path: string): Promise<PeerAnswer> =>
    send(
      { method: 'GET', path: `/admin/API/mnt${path}`, headers: { accept: 'application/xml', authorization } },
      monitoring(),
    )

  /** Returns a session; null: it does not exist. */
  async function session(path: string): Promise<IseSession | null | 'unreadable'> {
    const answer = await askMonitoring(`/Session/${path}`)
    if (answer.status === 404 || isNoSession(answer)) return null
    const xml = answer.status === 200 ? readXml(answer.text) : null
    if (xml?.name !== 'sessionParameters') return 'unreadable'
    const text = (name: string): string => cleanText(xmlText(xml, name), 128)
    return {
      mac: text('calling_station_id').toUpperCase().replaceAll('-', ':'),
      isLive:
        ['true', '1'].includes(text('passed')) && text('stopped') !== 'true' && text('acct_status_type') !== 'Stop',
      userName: text('user_name'),
      address: text('framed_ip_address'),
      nasAddress: text('nas_ip_address'),
      nasPort: text('nas_port_id'),
      server: text('acs_server'),
    }
  }

  return {
    /** Returns whether an ANC policy exists. */
    hasPolicy: async (name: string): Promise<boolean> => {
      const answer = await read(`/ers/config/ancpolicy/name/${encodeURIComponent(name)}`)
      return answer !== null && textOf(objectOf(answer.ErsAncPolicy).name) === name
    },

    endpoint: async (mac: string): Promise<IseEndpoint | null> => {
      const found = await rawEndpoint(mac)
      return found === null
        ? null
        : {
            id: textOf(found.id),
            mac: textOf(found.mac),
            groupId: textOf(found.groupId),
            attributes: attributesOf(found),
          }
    },

    /** Sets custom attributes and keeps the others. Returns false if ISE has no endpoint with that address yet. */
    setAttributes: async (mac: string, attributes: Readonly<Record<string, string>>): Promise<boolean> => {
      const found = await rawEndpoint(mac)
      if (found === null) return false
      const { link: _, ...rest } = found
      const merged = { ...attributesOf(found), ...attributes }
      await change('PUT', `/ers/config/endpoint/${encodeURIComponent(textOf(found.id))}`, {
        ERSEndPoint: { ...rest, customAttributes: { customAttributes: merged } },
      })
      return true
    },

    apply: async (mac: string, policy: string): Promise<void> => {
      const answer = await anc('apply', mac, policy)
      if (answer.status === 404)
        throw new NacFault(
          'setup',
          'answer',
          `The ANC policy ${policy} does not exist in ISE. Create it, or enter another one.`,
        )
    },

    /** Clears a policy. Does nothing if it is cleared already. */
    clear: async (mac: string, policy: string): Promise<void> => {
      await anc('clear', mac, policy)
    },

    /** Returns whether ANC endpoints can be listed. */
    canList: async (): Promise<boolean> => (await read('/ers/config/ancendpoint?size=1')) !== null,

    /**
     * Returns the ANC policies of these addresses. ERS lists endpoints without addresses, so each new id is read once;
     * the endpoints of these addresses are read again.
     */
    policiesOf: async (macs: readonly string[]): Promise<Map<string, string>> => {
      const wanted = new Set(macs)
      const found = new Map<string, string>()
      const ids = await ancIds()
      const present = new Set(ids)
      for (const id of known.macs.keys()) if (!present.has(id)) known.macs.delete(id)
      for (const id of ids) {
        if (!wanted.has(known.macs.get(id) ?? (await learn(id)))) continue
        const { mac, policy } = await ancEndpoint(id)
        if (wanted.has(mac)) found.set(mac, policy)
      }
      return found
    },

    /** Counts the live sessions of the whole deployment; null: this user may not read them. */
    activeSessions: async (): Promise<number | null> => {
      const answer = await askMonitoring('/Session/ActiveCount')
      const count = answer.status === 200 ? xmlText(readXml(answer.text), 'count') : ''
      return /^\d{1,9}$/.test(count) ? Number(count) : null
    },

    /** Returns the newest session of a MAC address. */
    session: (mac: string) => session(`MACAddress/${mac}`),
    /** Returns the newest session at an IPv4 address. */
    sessionAt: (address: string) => session(`EndPointIPAddress/${address}`),
  }
}
