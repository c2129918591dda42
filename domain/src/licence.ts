import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** The content of a licence. */
export interface Licence {
  /** Always `portcullis`. Licences for other products are refused. */
  product: string
  accountId: string
  accountName: string
  /** Number of covered hosts. Null: any number. */
  agents: number | null
  /** Last day (UTC), `yyyy-mm-dd`. Null: the licence does not expire. */
  expires: string | null
  /** Number of days after the last day on which nothing changes yet. */
  graceDays: number
  features: readonly string[]
  /** Day of issue. */
  issued: string
}

const head = 'PL1'
const day = /^\d{4}-\d{2}-\d{2}$/

const isDay = (text: unknown): boolean =>
  typeof text === 'string' && day.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= max && !/\p{Cc}/u.test(value)

/** Returns the first error in the content of a licence, or null. */
export const licenceFault = (said: Partial<Record<keyof Licence, unknown>>): string | null => {
  if (said.product !== 'portcullis') return 'The licence is for another product.'
  if (!isText(said.accountId, 128) || !isText(said.accountName, 200)) return 'The licence does not name an account.'
  if (
    said.agents !== null &&
    !(Number.isInteger(said.agents) && (said.agents as number) > 0 && (said.agents as number) <= 10_000_000)
  )
    return 'The number of hosts in the licence is not between 1 and 10,000,000.'
  if (said.expires !== null && !isDay(said.expires)) return 'The last day in the licence is not a valid date.'
  if (!isDay(said.issued)) return 'The day of issue in the licence is not a valid date.'
  if (!(Number.isInteger(said.graceDays) && (said.graceDays as number) >= 0 && (said.graceDays as number) <= 365))
    return 'The number of grace days in the licence is not between 0 and 365.'
  if (!Array.isArray(said.features) || said.features.length > 50 || !said.features.every((one) => isText(one, 64)))
    return 'The features in the licence are not a list of names.'
  return null
}

const signedText = (payload: string): Buffer => Buffer.from(`${head}.${payload}`)

/** Issues a licence as text: `PL1.<payload>.<signature>`, with JSON and its Ed25519 signature in base64url. */
export const issueLicence = (licence: Licence, privateKey: KeyObject): string => {
  const fault = licenceFault({ ...licence })
  if (fault !== null) throw new Error(fault)
  const payload = Buffer.from(JSON.stringify(licence)).toString('base64url')
  return `${head}.${payload}.${sign(null, signedText(payload), privateKey).toString('base64url')}`
}

/** Reads a licence that one of these keys signed. Returns an error message if it is not valid. */
export const readLicence = (text: string, keys: readonly KeyObject[]): Licence | string => {
  const [version, payload = '', signature = '', ...rest] = text.trim().split('.')
  if (version !== head || payload === '' || signature === '' || rest.length > 0) return 'The text is not a licence.'
  const bytes = Buffer.from(signature, 'base64url')
  if (!keys.some((key) => verify(null, signedText(payload), key, bytes)))
    return 'The licence is not signed by a key that this server trusts.'
  try {
    const said = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Licence
    return licenceFault({ ...said }) ?? said
  } catch {
    return 'The content of the licence cannot be read.'
  }
}

/** Returns the Ed25519 public keys in a PEM text. @throws if one is not an Ed25519 key */
export const licenceKeysOf = (pem: string): KeyObject[] =>
  (pem.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? []).map((text) => {
    const key = createPublicKey(text)
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('a licence key is not an Ed25519 key')
    return key
  })

export type LicenceState = 'Activated' | 'Grace' | 'Expired' | 'Invalid'

const dayMs = 86_400_000

/** Returns the state of a licence at a time, and the days left. They are negative after the last day. */
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
