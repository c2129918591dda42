import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** What a licence says. */
export interface Licence {
  /** Always `portcullis`: a licence of another product is none. */
  product: string
  accountId: string
  accountName: string
  /** Hosts that are covered; null: any number. */
  agents: number | null
  /** Last day it covers (UTC), `yyyy-mm-dd`; null: it does not end. */
  expires: string | null
  /** Days after the last one on which nothing changes yet. */
  graceDays: number
  features: readonly string[]
  /** Day it was issued. */
  issued: string
}

const head = 'PL1'
const day = /^\d{4}-\d{2}-\d{2}$/

const isDay = (text: unknown): boolean =>
  typeof text === 'string' && day.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= max && !/\p{Cc}/u.test(value)

/** What is wrong with what a licence says; null when nothing is. */
export const licenceFault = (said: Partial<Record<keyof Licence, unknown>>): string | null => {
  if (said.product !== 'portcullis') return 'It is for another product.'
  if (!isText(said.accountId, 128) || !isText(said.accountName, 200)) return 'It names no account.'
  if (
    said.agents !== null &&
    !(Number.isInteger(said.agents) && (said.agents as number) > 0 && (said.agents as number) <= 10_000_000)
  )
    return 'Its number of hosts is none from 1 to 10,000,000.'
  if (said.expires !== null && !isDay(said.expires)) return 'Its last day is no date.'
  if (!isDay(said.issued)) return 'Its day of issue is no date.'
  if (!(Number.isInteger(said.graceDays) && (said.graceDays as number) >= 0 && (said.graceDays as number) <= 365))
    return 'Its days of grace are none from 0 to 365.'
  if (!Array.isArray(said.features) || said.features.length > 50 || !said.features.every((one) => isText(one, 64)))
    return 'Its features are no list of names.'
  return null
}

const signedText = (payload: string): Buffer => Buffer.from(`${head}.${payload}`)

/** The licence as a text: `PL1.<payload>.<signature>`, base64url of JSON and of its Ed25519 signature. */
export const issueLicence = (licence: Licence, privateKey: KeyObject): string => {
  const fault = licenceFault({ ...licence })
  if (fault !== null) throw new Error(fault)
  const payload = Buffer.from(JSON.stringify(licence)).toString('base64url')
  return `${head}.${payload}.${sign(null, signedText(payload), privateKey).toString('base64url')}`
}

/** Reads a licence that one of these keys signed; a text says why it is none. */
export const readLicence = (text: string, keys: readonly KeyObject[]): Licence | string => {
  const [version, payload = '', signature = '', ...rest] = text.trim().split('.')
  if (version !== head || payload === '' || signature === '' || rest.length > 0) return 'It is no licence.'
  const bytes = Buffer.from(signature, 'base64url')
  if (!keys.some((key) => verify(null, signedText(payload), key, bytes)))
    return 'It is not signed by a key this server trusts.'
  try {
    const said = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Licence
    return licenceFault({ ...said }) ?? said
  } catch {
    return 'It cannot be read.'
  }
}

/** Ed25519 public keys of a PEM text. @throws when one of them is no such key */
export const licenceKeysOf = (pem: string): KeyObject[] =>
  (pem.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? []).map((text) => {
    const key = createPublicKey(text)
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('a licence key is no Ed25519 key')
    return key
  })

export type LicenceState = 'Activated' | 'Grace' | 'Expired' | 'Invalid'

const dayMs = 86_400_000

/** How a licence stands at a moment, with the days left: below 0 after its last day. */
export const licenceStateAt = (licence: Licence, now: number): { state: LicenceState; daysLeft: number | null } => {
  if (licence.expires === null) return { state: 'Activated', daysLeft: null }
  const end = Date.parse(`${licence.expires}T00:00:00Z`) + dayMs
  const daysLeft = Math.ceil((end - now) / dayMs) - (now < end ? 1 : 0)
  if (now < end) return { state: 'Activated', daysLeft }
  return {
    state: now < end + licence.graceDays * dayMs ? 'Grace' : 'Expired',
    daysLeft: Math.floor((end - now) / dayMs),
  }
}
