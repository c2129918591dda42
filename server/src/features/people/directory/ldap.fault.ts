import { ResultCodeError } from 'ldapts'
import { DestinationError } from '#platform/destinations.ts'
import { certificateFault } from './certificate-labels.ts'

/** Why a directory was of no use. A fixed set: nothing that a peer says gets into an answer. */
export type LdapFaultCode =
  | 'unresolved'
  | 'refusedAddress'
  | 'noConnection'
  | 'silent'
  | 'noTls'
  | 'certificate'
  | 'notLdap'
  | 'bindRefused'
  | 'noSuchBase'
  | 'referral'
  | 'filter'
  | 'refused'

/** Faults that everybody meets. Others may lie in one question: a name somebody typed must not stop the others. */
const forEverybody: ReadonlySet<LdapFaultCode> = new Set([
  'unresolved',
  'refusedAddress',
  'noConnection',
  'silent',
  'noTls',
  'certificate',
  'notLdap',
  'bindRefused',
])

export class LdapFault extends Error {
  readonly code: LdapFaultCode
  constructor(code: LdapFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'LdapFault'
    this.code = code
  }
}

/** Whether asking again at once would end the same way, whoever asks. */
export const isUseless = ({ code }: LdapFault): boolean => forEverybody.has(code)

/** Result codes of RFC 4511 that are told apart. */
export const resultCode = {
  operationsError: 1,
  strongerAuthRequired: 8,
  referral: 10,
  confidentialityRequired: 13,
  constraintViolation: 19,
  noSuchObject: 32,
  inappropriateAuthentication: 48,
  invalidCredentials: 49,
  insufficientAccessRights: 50,
  unwillingToPerform: 53,
} as const

/** The result code a directory answered with; null for other failures. */
export const resultOf = (error: unknown): number | null => (error instanceof ResultCodeError ? error.code : null)

const messages: Readonly<Record<number, readonly [LdapFaultCode, string]>> = {
  [resultCode.referral]: [
    'referral',
    'The directory refers to another server, and referrals are not followed: name that server, or a base DN this one holds.',
  ],
  [resultCode.strongerAuthRequired]: ['refused', 'The directory demands more security: use starttls or tls.'],
  [resultCode.confidentialityRequired]: ['refused', 'The directory demands more security: use starttls or tls.'],
  [resultCode.noSuchObject]: ['noSuchBase', 'The directory has no entry of that DN: check the base DN.'],
  [resultCode.insufficientAccessRights]: ['refused', 'The bind account may not read there: give it the right to.'],
  // Active Directory answers so to a search before a bind.
  [resultCode.operationsError]: ['refused', 'The directory wants a bind first: set a bind DN and its password.'],
}

/** A failure of the library, a socket or the resolver as one of ours. */
export const faultOf = (error: unknown): LdapFault => {
  if (error instanceof LdapFault) return error
  if (error instanceof DestinationError)
    return error.fault === 'unresolved'
      ? new LdapFault('unresolved', `${error.host} cannot be resolved: check the name, and the DNS of this server.`)
      : new LdapFault(
          'refusedAddress',
          `${error.host} leads to an address this server does not connect to (link-local, metadata, multicast, or loopback under another name).`,
        )
  const code = resultOf(error)
  if (code !== null) {
    const [kind, message] = messages[code] ?? ['refused', `The directory refused with result ${code}.`]
    return new LdapFault(kind, message, error)
  }
  const certificate = certificateFault(error)
  if (certificate !== undefined)
    return new LdapFault('certificate', `The certificate of the directory ${certificate}.`, error)
  const { code: name, message } = error as { code?: unknown; message?: unknown }
  if (name === 'ECONNREFUSED')
    return new LdapFault('noConnection', 'Nothing listens there: check the port, and whether the directory runs.')
  if (typeof name === 'string' && /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(name))
    return new LdapFault('noConnection', 'There is no way there: check routes and firewalls.')
  if (typeof message === 'string' && /timed? ?out/i.test(message))
    return new LdapFault('silent', 'The directory did not answer in time.')
  return new LdapFault('notLdap', 'The connection broke: what answers there may be no directory.', error)
}
