import { cleanText } from '@portcullis/domain'
import type { Clock } from '#platform/clock.ts'
import { NacFault } from './fault.ts'
import { type Answered, type Asked, exchange, isWebPage, type Place } from './peer.ts'
import type { Traffic } from './traffic.ts'
import { escapeXml, readXml, xmlText } from './xml.ts'

export interface CactConfig extends Place {
  user: string
  password: string
  dexAccount: string
  dexPassword: string
  property: string
  tokenStyle: 'bare' | 'bearer'
}

export interface CactHost {
  address: string
  /** Value of the property; empty: not set. */
  property: string
}

/** Token of the Web API, kept between clients. */
export interface CactToken {
  value: string
  /** Milliseconds since 1970. */
  until: number
}

export interface CactDeps {
  config: CactConfig
  traffic: Traffic
  clock: Clock
  signal?: AbortSignal
  /** Before each request: throws when this server may not go on. */
  before?(): Promise<void>
  token: { current: CactToken | null }
  /** A person waits: a pause after failures does not count. */
  isTrial?: boolean
  /** A person looks: quarantines go first. */
  isLive?: boolean
}

/** Tokens are good for five minutes; one is not begun with in its last. */
const tokenMs = 4 * 60_000

type Json = Readonly<Record<string, unknown>>
const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What an error says: CODE and MESSAGE of Data Exchange, or the message of the Web API. */
const saidBy = ({ text }: Answered): string => {
  const xml = readXml(text)
  if (xml !== null)
    return cleanText([xmlText(xml, 'CODE'), xmlText(xml, 'MESSAGE')].filter((part) => part !== '').join(': '), 300)
  try {
    return cleanText(textOf(objectOf(JSON.parse(text)).message), 300)
  } catch {
    return ''
  }
}

/** Forescout CounterACT: read by the Web API (HAL JSON), written by Data Exchange (XML). */
export const createCact = ({ config, traffic, clock, signal, before, token, isTrial, isLive }: CactDeps) => {
  const where = config.url.host

  const manner = { signal, isTrial, isLive }
  async function send(asked: Asked): Promise<Answered> {
    await before?.()
    return traffic.run(async () => {
      const answer = await exchange(config, asked, signal)
      if (answer.status === 429 || (answer.status >= 500 && answer.status !== 501))
        throw new NacFault('away', 'answer', `${where} answered ${answer.status}.`)
      if (answer.status >= 300 && answer.status < 400)
        throw new NacFault(
          'setup',
          'answer',
          `${where} sends elsewhere (${answer.status}). Give the address of the Enterprise Manager itself.`,
        )
      return answer
    }, manner)
  }

  function assertNoPage(answer: Answered, what: string): void {
    if (isWebPage(answer))
      throw new NacFault(
        'setup',
        'answer',
        `${where} answers with a web page, not with ${what}. Install and start that module on the Enterprise Manager, and allow this server's address there.`,
      )
  }

  async function signIn(): Promise<string> {
    const answer = await send({
      method: 'POST',
      path: '/api/login',
      headers: { accept: 'text/plain, application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ username: config.user, password: config.password }).toString(),
    })
    if (answer.status === 401 || answer.status === 403)
      throw new NacFault('setup', 'sign-in', 'User or password of the Web API is refused.')
    assertNoPage(answer, 'the Web API')
    const value = answer.text.trim()
    if (answer.status !== 200 || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(value))
      throw new NacFault('setup', 'sign-in', `${where} gives no token of the Web API. Check address and version.`)
    token.current = { value, until: clock.now() + tokenMs }
    return value
  }

  /** null: there is no such thing. */
  async function read(path: string): Promise<Json | null> {
    const ask = (value: string): Promise<Answered> =>
      send({
        method: 'GET',
        path,
        headers: {
          accept: 'application/hal+json',
          authorization: config.tokenStyle === 'bearer' ? `Bearer ${value}` : value,
        },
      })
    const kept = token.current
    const isKept = kept !== null && clock.now() < kept.until
    let answer = await ask(isKept ? kept.value : await signIn())
    // It was taken back meanwhile: CounterACT was restarted, say.
    if (answer.status === 401 && isKept) answer = await ask(await signIn())
    if (answer.status === 401 || answer.status === 403)
      throw new NacFault(
        'setup',
        'sign-in',
        'The token of the Web API is refused. Choose the other way to send it, and check the rights of the user.',
      )
    if (answer.status === 404) return null
    assertNoPage(answer, 'the Web API')
    if (answer.status !== 200) throw new NacFault('refused', 'answer', `CounterACT refuses it: ${saidBy(answer)}`)
    try {
      return objectOf(JSON.parse(answer.text))
    } catch {
      throw new NacFault(
        'setup',
        'answer',
        `${where} does not answer in the form of the Web API. Check address and version.`,
      )
    }
  }

  /** One transaction of Data Exchange on a host, named by its address as documented. */
  async function exchangeData(type: 'update' | 'delete', address: string, properties: string): Promise<Answered> {
    const answer = await send({
      method: 'POST',
      path: '/fsapi/niCore/Hosts',
      headers: {
        accept: 'application/xml',
        'content-type': 'application/xml',
        authorization: `Basic ${Buffer.from(`${config.dexAccount}:${config.dexPassword}`).toString('base64')}`,
      },
      body: `<?xml version="1.0" encoding="UTF-8"?><FSAPI TYPE="request" API_VERSION="2.0"><TRANSACTION TYPE="${type}"><OPTIONS CREATE_NEW_HOST="false"/><HOST_KEY NAME="ip" VALUE="${escapeXml(address)}"/><PROPERTIES>${properties}</PROPERTIES></TRANSACTION></FSAPI>`,
    })
    if (answer.status === 401 || answer.status === 403)
      throw new NacFault(
        'setup',
        'sign-in',
        'Account or password of Data Exchange is refused. The account is user@account.',
      )
    assertNoPage(answer, 'Data Exchange')
    return answer
  }
  function done(answer: Answered): void {
    if (answer.status === 200) return
    const said = saidBy(answer)
    throw /property/i.test(said)
      ? new NacFault(
          'setup',
          'answer',
          `CounterACT does not know the property ${config.property} (${said}). Define it there: Options, Data Exchange.`,
        )
      : new NacFault('refused', 'answer', `CounterACT refuses it: ${said === '' ? answer.status : said}`)
  }

  const property = escapeXml(config.property)
  return {
    /** The host with this MAC address; null: CounterACT knows none. */
    host: async (mac: string): Promise<CactHost | null> => {
      const name = encodeURIComponent(config.property)
      const found = await read(`/api/hosts/mac/${mac.replaceAll(':', '').toLowerCase()}?fields=${name}`)
      const host = objectOf(found?.host)
      if (found === null || textOf(host.ip) === '') return null
      const fields = objectOf(host.fields)
      const field = Object.hasOwn(fields, config.property) ? fields[config.property] : undefined
      const value = objectOf(Array.isArray(field) ? field[0] : field).value
      return { address: textOf(host.ip), property: cleanText(textOf(value), 128) }
    },

    /** Whether the property is defined. */
    hasProperty: async (): Promise<boolean> => {
      const fields = (await read('/api/hostfields'))?.hostFields
      return Array.isArray(fields) && fields.some((one) => textOf(objectOf(one).name) === config.property)
    },

    signIn,

    set: async (address: string, value: string): Promise<void> =>
      done(
        await exchangeData(
          'update',
          address,
          `<PROPERTY NAME="${property}"><VALUE>${escapeXml(value)}</VALUE></PROPERTY>`,
        ),
      ),

    /** One property: a call takes no more, whatever the form allows. */
    unset: async (address: string): Promise<void> =>
      done(await exchangeData('delete', address, `<PROPERTY NAME="${property}"></PROPERTY>`)),

    /** Whether account and password of Data Exchange are taken; an update that holds nothing changes nothing. */
    tryExchange: async (): Promise<void> => {
      await exchangeData('update', '192.0.2.1', '')
    },
  }
}
