import { cleanText } from '@portcullis/domain'
import type { Clock } from '@portcullis/platform/server/clock.ts'
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
import { escapeXml, readXml, xmlText } from './xml.ts'

export interface CactConfig extends PeerAddress {
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

/** Token of the Web API, shared by clients. */
export interface CactToken {
  value: string
  /** Milliseconds since 1970. */
  until: number
}

export interface CactOptions extends Manner {
  config: CactConfig
  traffic: Traffic
  clock: Clock
  token: { current: CactToken | null }
}

/** Tokens are valid for five minutes; the last minute is not used. */
const tokenMs = 4 * 60_000

/** Returns the text of an error: CODE and MESSAGE of Data Exchange, or the message of the Web API. */
const errorText = ({ text }: PeerAnswer): string => {
  const xml = readXml(text)
  if (xml !== null)
    return cleanText([xmlText(xml, 'CODE'), xmlText(xml, 'MESSAGE')].filter((part) => part !== '').join(': '), 300)
  try {
    return cleanText(textOf(objectOf(JSON.parse(text)).message), 300)
  } catch {
    return ''
  }
}

/** Client for Forescout CounterACT: reads by the Web API (HAL JSON), writes by Data Exchange (XML). */
export const createCact = ({ config, traffic, clock, signal, before, token, isTest, isLive }: CactOptions) => {
  const where = config.url.host

  const manner = { signal, isTest, isLive }
  async function send(asked: PeerRequest): Promise<PeerAnswer> {
    await before?.()
    return traffic.run(async () => {
      const answer = await exchange(config, asked, signal)
      if (answer.status === 429 || (answer.status >= 500 && answer.status !== 501))
        throw new NacFault('away', 'answer', `${where} answered ${answer.status}.`)
      if (answer.status >= 300 && answer.status < 400)
        throw new NacFault(
          'setup',
          'answer',
          `${where} redirected the request (${answer.status}). Enter the address of the Enterprise Manager itself.`,
        )
      return answer
    }, manner)
  }

  function assertNoPage(answer: PeerAnswer, what: string): void {
    if (isWebPage(answer))
      throw new NacFault(
        'setup',
        'answer',
        `${where} answered with a web page, not with ${what}. Install and start that module on the Enterprise Manager, and allow this server's address there.`,
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
      throw new NacFault('setup', 'sign-in', 'The Web API rejected the user name or password. Check both.')
    assertNoPage(answer, 'the Web API')
    const value = answer.text.trim()
    if (answer.status !== 200 || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(value))
      throw new NacFault('setup', 'sign-in', `${where} did not issue a Web API token. Check its address and version.`)
    token.current = { value, until: clock.now() + tokenMs }
    return value
  }

  /** Returns null if the object does not exist. */
  async function read(path: string): Promise<Json | null> {
    const ask = (value: string): Promise<PeerAnswer> =>
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
    // The token was revoked in the meantime, for example by a restart of CounterACT.
    if (answer.status === 401 && isKept) answer = await ask(await signIn())
    if (answer.status === 401 || answer.status === 403)
      throw new NacFault(
        'setup',
        'sign-in',
        'The Web API rejected its token. Choose the other token style, and check the permissions of the user.',
      )
    if (answer.status === 404) return null
    assertNoPage(answer, 'the Web API')
    if (answer.status !== 200)
      throw new NacFault('refused', 'answer', `CounterACT rejected the request: ${errorText(answer)}`)
    try {
      return objectOf(JSON.parse(answer.text))
    } catch {
      throw new NacFault(
        'setup',
        'answer',
        `${where} did not answer in the format of the Web API. Check its address and version.`,
      )
    }
  }

  /** Runs one Data Exchange transaction on a host, identified by its IP address as documented. */
  async function exchangeData(type: 'update' | 'delete', address: string, properties: string): Promise<PeerAnswer> {
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
        'Data Exchange rejected the account or password. The account has the form user@account.',
      )
    assertNoPage(answer, 'Data Exchange')
    return answer
  }
  function done(answer: PeerAnswer): void {
    if (answer.status === 200) return
    const text = errorText(answer)
    throw /property/i.test(text)
      ? new NacFault(
          'setup',
          'answer',
          `The property ${config.property} does not exist in CounterACT (${text}). Define it there under Options, Data Exchange.`,
        )
      : new NacFault('refused', 'answer', `CounterACT rejected the request: ${text === '' ? answer.status : text}`)
  }

  const property = escapeXml(config.property)
  return {
    /** Returns the host with this MAC address, or null if CounterACT does not know it. */
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

    /** Returns the MAC address of the host at an IPv4 address, or null if CounterACT knows none. */
    macAt: async (address: string): Promise<string | null> => {
      const found = objectOf(
        (await read(`/api/hosts/ip/${address}?fields=${encodeURIComponent(config.property)}`))?.host,
      )
      const digits = textOf(found.mac)
        .replace(/[^0-9a-f]/gi, '')
        .toUpperCase()
      return digits.length === 12 ? (digits.match(/../g) ?? []).join(':') : null
    },

    /** Returns whether the property is defined. */
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

    /** Clears the property. A call takes one property, although the format allows more. */
    unset: async (address: string): Promise<void> =>
      done(await exchangeData('delete', address, `<PROPERTY NAME="${property}"></PROPERTY>`)),

    /** Tests the account of Data Exchange with an empty update, which changes nothing. */
    tryExchange: async (): Promise<void> => {
      await exchangeData('update', '192.0.2.1', '')
    },
  }
}
