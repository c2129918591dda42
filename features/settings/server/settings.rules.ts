import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { countText } from '@portcullis/domain'
import type { ConfigItem, ConfigKind } from '#features/contract.ts'

/** A host name of one or more labels (RFC 1123). */
const hostName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

const isHost = (text: string): boolean => isIP(text) !== 0 || (hostName.test(text) && !/^[0-9.]+$/.test(text))

const hostFault = (text: string): string | null =>
  isHost(text) ? null : 'is neither a host name (RFC 1123) nor an IP address'

/** Returns the fault of an address with one of these schemes, or null. A path is allowed only if it is used. */
const urlFault = (text: string, schemes: readonly string[], withPath: boolean): string | null => {
  if (!URL.canParse(text)) return `is not an address such as ${schemes[0]}//host:port`
  const url = new URL(text)
  if (!schemes.includes(url.protocol)) return `must start with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`
  if (url.username !== '' || url.password !== '') return 'must not contain a user or password'
  if (url.search !== '' || url.hash !== '') return 'must not contain ? or #'
  if (!withPath && url.pathname !== '/' && url.pathname !== '') return 'must not contain a path'
  return isHost(url.hostname.replace(/^\[|\]$/g, '')) ? null : 'has no valid host'
}

export const certificatesOf = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []

const certificatesFault = (text: string, now: Date): string | null => {
  const found = certificatesOf(text)
  if (found.length === 0) return 'contains no PEM certificate'
  if (/PRIVATE KEY/.test(text)) return 'contains a private key; only certificates are allowed'
  for (const pem of found)
    try {
      const { subject, validToDate, validFromDate } = new X509Certificate(pem)
      const name = subject.split('\n').pop() ?? ''
      if (validToDate < now)
        return `contains a certificate (${name}) that expired on ${validToDate.toISOString().slice(0, 10)}`
      if (validFromDate > now)
        return `contains a certificate (${name}) that is valid only from ${validFromDate.toISOString().slice(0, 10)}`
    } catch {
      return 'contains an invalid certificate'
    }
  return null
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')
const maxImageBytes = 256 * 1024
const maxImageSide = 2_000

/** Accepts PNG only: SVG can carry scripts, and other formats need their own decoders. */
const imageFault = (text: string): string | null => {
  const match = /^data:image\/png;base64,([A-Za-z0-9+/]+={0,2})$/.exec(text)
  if (match?.[1] === undefined) return 'is not a PNG data URI (data:image/png;base64,…)'
  const bytes = Buffer.from(match[1], 'base64')
  if (bytes.length > maxImageBytes) return `has ${bytes.length} bytes; at most ${maxImageBytes} are allowed`
  // The first chunk of a PNG is IHDR: length 13, then width and height.
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(pngSignature) || bytes.toString('latin1', 12, 16) !== 'IHDR')
    return 'is not a PNG'
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  return width < 1 || height < 1 || width > maxImageSide || height > maxImageSide
    ? `is ${width} by ${height} pixels; at most ${maxImageSide} by ${maxImageSide} are allowed`
    : null
}

/** Checks what RFC 4515 requires before a directory sees the filter: matching brackets and no control characters. */
const filterFault = (text: string): string | null => {
  let depth = 0
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')' && --depth < 0) break
  }
  if (depth !== 0 || !text.startsWith('(') || !text.endsWith(')'))
    return 'is not an RFC 4515 filter, such as (uid={username})'
  return text.includes('{username}')
    ? null
    : 'must contain {username}, which is replaced by the name of the person who signs in'
}

// Each value ends at the next separator, so the expression never backtracks.
const attributeType = '(?:[A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\\.[0-9]+)+)'
const dn = new RegExp(`^${attributeType}=(?:\\\\.|[^\\\\,+])*(?:[,+]\\s*${attributeType}=(?:\\\\.|[^\\\\,+])*)*$`)

const listFault = (text: string, most: number, fault: (part: string) => string | null): string | null => {
  const parts = text.split(/\s+/).filter((part) => part !== '')
  if (parts.length > most) return `names more than ${most}`
  return parts.map(fault).find((found) => found !== null) ?? null
}

const authorityFault = (text: string): string | null => {
  if (/^https?:\/\//i.test(text)) return urlFault(text, ['https:', 'http:'], false)
  return URL.canParse(`https://${text}`)
    ? urlFault(`https://${text}`, ['https:'], false)
    : 'is not a name, name:port or address'
}

type Rule = (text: string, item: ConfigItem, now: Date) => string | null

const number = (text: string): number => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN)

const rules: Readonly<Partial<Record<ConfigKind, Rule>>> = {
  host: hostFault,
  https: (text) => urlFault(text, ['https:'], true),
  ldap: (text) => listFault(text, 3, (part) => urlFault(part, ['ldaps:', 'ldap:'], false)),
  email: (text) =>
    /^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,190}$/.test(text) ? null : 'is not a mail address',
  boolean: (text) => (text === 'true' || text === 'false' ? null : 'is neither true nor false'),
  integer: (text, { range = [0, Number.MAX_SAFE_INTEGER] }) => {
    const value = number(text)
    return Number.isInteger(value) && value >= range[0] && value <= range[1]
      ? null
      : `is not a whole number from ${range[0].toLocaleString('en')} to ${range[1].toLocaleString('en')}`
  },
  share: (text) => (number(text) >= 0 && number(text) <= 1 ? null : 'is not a number from 0 to 1'),
  choice: (text, { choices = [] }) => (choices.includes(text) ? null : `must be one of ${choices.join(', ')}`),
  certificates: (text, _item, now) => certificatesFault(text, now),
  image: imageFault,
  color: (text) => (/^#[0-9a-f]{6}$/i.test(text) ? null : 'is not a color such as #1c7ed6'),
  dn: (text) => (dn.test(text) ? null : 'is not a distinguished name (RFC 4514), such as ou=people,dc=example,dc=org'),
  // Active Directory also accepts names that are no DN.
  bindName: (text) =>
    dn.test(text) || /[@\\]/.test(text) || !text.includes('=')
      ? null
      : 'is neither a distinguished name (RFC 4514) nor a name such as reader@example.org or EXAMPLE\\reader',
  filter: filterFault,
  secret: (text, { min = 1, isTrimmed = false }) =>
    text.length < min
      ? `must have at least ${countText(min, 'character')}`
      : isTrimmed && text !== text.trim()
        ? 'must not begin or end with a space'
        : null,
  attribute: (text) => (/^[A-Za-z][\w.:/-]{0,127}$/.test(text) ? null : 'is not an attribute name'),
  authority: authorityFault,
}

/** Control characters have no meaning in a line of text, but can have one in a mail or log. */
const control = /[\u0000-\u001f\u007f]/
const controlInLines = /[\u0000-\u0008\u000b-\u001f\u007f]/

/** Returns the fault of the value of an item, or null. An empty value removes the item and is always valid. */
export const faultOf = (item: ConfigItem, text: string, now: Date): string | null => {
  if (text === '') return null
  const isLines = item.kind === 'lines' || item.kind === 'certificates'
  if ((isLines ? controlInLines : control).test(text)) return 'contains control characters'
  return rules[item.kind]?.(text, item, now) ?? null
}
