import { BlockList, isIP } from 'node:net'
import { cleanText } from './text.ts'

/** Hosts that are reached directly although a proxy is configured. */
export interface ProxyExceptions {
  /** Returns true if a connection to this host and port does not use the proxy. */
  has(host: string, port: number): boolean
}

interface Exception {
  /** A lower-case name, an address, or empty for a network. */
  host: string
  network: { address: string; family: 'ipv4' | 'ipv6'; prefix: number } | null
  /** Undefined: all ports. */
  port: number | undefined
}

const NAME = /^(?:\*\.|\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Removes the brackets of an IPv6 address and the final dot of a name. */
const plainHost = (host: string): string => host.toLowerCase().replace(/^\[|\]$|\.$/g, '')

const parseNetwork = (text: string): Exception['network'] => {
  const [address = '', digits = '', ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more.length > 0 || !/^\d{1,3}$/.test(digits)) return null
  const prefix = Number(digits)
  return prefix <= (version === 6 ? 128 : 32) ? { address, family: familyOf(address), prefix } : null
}

/** Parses `*`, a name, `.domain`, an address, `address/prefix`, each except a network with an optional `:port`. */
const parseException = (text: string): Exception | null => {
  const word = text.trim().toLowerCase()
  if (word.includes('/')) {
    const network = parseNetwork(word)
    return network === null ? null : { host: '', network, port: undefined }
  }
  // An IPv6 address contains colons, so a port needs brackets around it.
  const [, bracketed, named, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(word) ?? []
  const host = isIP(word) === 6 ? word : (bracketed ?? named ?? '')
  const port = digits === undefined || isIP(word) === 6 ? undefined : Number(digits)
  const isValid = bracketed === undefined ? host === '*' || isIP(host) !== 0 || NAME.test(host) : isIP(host) === 6
  if (!isValid || host.includes('%') || (port !== undefined && (port === 0 || port > 65_535))) return null
  return { host: host === '*' ? '*' : host.replace(/^\*?\./, ''), network: null, port }
}

/** Splits a list of exceptions at commas and spaces. */
export const splitProxyExceptions = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

/** Returns true for valid input of `proxyExceptions`. */
export const isProxyException = (text: string): boolean => parseException(text) !== null

/**
 * Returns the exceptions of a proxy, in the form that `NO_PROXY` has in other programs. A name also covers the names below it.
 * Compares spelled hosts only: it resolves no name, because a proxy may be the only one that can.
 *
 * @throws RangeError for an invalid exception
 */
export const proxyExceptions = (texts: readonly string[]): ProxyExceptions => {
  const all = texts.map((text) => {
    const exception = parseException(text)
    if (exception === null) throw new RangeError(`${text} is not an exception of a proxy`)
    return exception
  })
  const networks = new BlockList()
  for (const { network } of all)
    if (network !== null) networks.addSubnet(network.address, network.prefix, network.family)
  return {
    has(given, port) {
      const host = plainHost(given)
      const isNumeric = isIP(host) !== 0
      if (isNumeric && networks.check(host, familyOf(host))) return true
      return all.some(
        (one) =>
          one.network === null &&
          (one.port === undefined || one.port === port) &&
          (one.host === '*' || one.host === host || (!isNumeric && host.endsWith(`.${one.host}`))),
      )
    },
  }
}

/** Causes of a connection that a proxy did not open. `signIn`: none was offered; `signInRefused`: it was refused. */
export type ProxyFault =
  | 'unreachable'
  | 'signIn'
  | 'signInRefused'
  | 'signInForeign'
  | 'denied'
  | 'away'
  | 'late'
  | 'other'

/**
 * Classifies the answer of a proxy to CONNECT (RFC 9110, section 9.3.6). Uses nothing from the answer but the status and
 * the names of the sign-in methods.
 */
export const proxyFaultOf = (status: number, methods: string, hasCredentials: boolean): ProxyFault => {
  if (status === 407) {
    const offersBasic = methods === '' || /(?:^|,)\s*basic(?:\s|,|$)/i.test(methods)
    if (!offersBasic) return 'signInForeign'
    return hasCredentials ? 'signInRefused' : 'signIn'
  }
  if (status === 401 || status === 403 || status === 405) return 'denied'
  return status >= 500 && status <= 599 ? 'away' : 'other'
}

/**
 * Returns the name in a distinguished name as Node prints it (`CN=…` in lines): the common name, or the organisation. The
 * text comes from a certificate that nobody verified, so it is cleaned and shortened, and contains no quotation marks.
 */
export const issuerNameOf = (distinguishedName: string): string => {
  const lines = distinguishedName.split('\n')
  const value = (key: string): string =>
    cleanText(lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) ?? '', 80)
      .replace(/["<>\\]/g, '')
      .trim()
  return value('CN') || value('O') || 'unknown'
}
