import { DestinationError } from '@portcullis/platform/server/destinations.ts'
import { ResultCodeError } from 'ldapts'
import { certificateFault } from './certificate-labels.ts'

/** Why a directory could not be used. A fixed set: answers contain nothing that the peer sent. */
export type LdapFaultCode =
  | 'unresolved'
  | 'refusedAddress'
  | 'noConnection'
  | 'silent'
  | 'noTls'
  | 'certificate'
  | 'notLdap'
  | 'insecure'
  | 'bindRefused'
  | 'bindPassword'
  | 'noSuchBase'
  | 'referral'
  | 'filter'
  | 'refused'

/** The setting to correct, by fault. */
const fieldOfFault: Readonly<Record<LdapFaultCode, string>> = {
  unresolved: 'LDAP_URL',
  refusedAddress: 'LDAP_URL',
  noConnection: 'LDAP_URL',
  silent: 'LDAP_URL',
  noTls: 'LDAP_SECURITY',
  certificate: 'LDAP_CA',
  notLdap: 'LDAP_URL',
  insecure: 'LDAP_SECURITY',
  bindRefused: 'LDAP_BIND_DN',
  bindPassword: 'LDAP_BIND_PASSWORD',
  noSuchBase: 'LDAP_BASE_DN',
  referral: 'LDAP_URL',
  filter: 'LDAP_USER_FILTER',
  refused: 'LDAP_BIND_DN',
}

/** Faults that affect every request. Other faults may belong to one typed name, which must not stop the others. */
const affectsEveryone: ReadonlySet<LdapFaultCode> = new Set([
  'unresolved',
  'refusedAddress',
  'noConnection',
  'silent',
  'noTls',
  'certificate',
  'notLdap',
  'insecure',
  'bindRefused',
  'bindPassword',
])

export class LdapFault extends Error {
  readonly code: LdapFaultCode
  constructor(code: LdapFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'LdapFault'
    this.code = code
  }

  /** The setting to correct. */
  get field(): string {
    return fieldOfFault[this.code]
  }
}

/** Returns whether every further request would fail the same way now. */
export const isUseless = ({ code }: LdapFault): boolean => affectsEveryone.has(code)

/** The RFC 4511 result codes that are distinguished. */
export const resultCode = {
  operationsError: 1,
  strongerAuthRequired: 8,
  referral: 10,
  confidentialityRequired: 13,
  constraintViolation: 19,
  noSuchObject: 32,
  invalidDnSyntax: 34,
  inappropriateAuthentication: 48,
  invalidCredentials: 49,
  insufficientAccessRights: 50,
  unwillingToPerform: 53,
} as const

/** Returns the result code of a directory's answer. Returns null for other failures. */
export const resultOf = (error: unknown): number | null => (error instanceof ResultCodeError ? error.code : null)

const needsTls = 'The directory requires a secure connection. Use starttls or tls.'

const messages: Readonly<Record<number, readonly [LdapFaultCode, string]>> = {
  [resultCode.referral]: [
    'referral',
    'The directory refers to another server, but referrals are not followed. Enter that server, or a base DN of this one.',
  ],
  [resultCode.strongerAuthRequired]: ['insecure', needsTls],
  [resultCode.confidentialityRequired]: ['insecure', needsTls],
  [resultCode.invalidDnSyntax]: ['noSuchBase', 'The directory does not accept the form of this DN. Check the base DN.'],
  [resultCode.noSuchObject]: ['noSuchBase', 'The directory has no entry with this DN. Check the base DN.'],
  [resultCode.insufficientAccessRights]: ['refused', 'The bind account cannot read this entry. Grant it read access.'],
  // Active Directory's answer to a search before a bind.
  [resultCode.operationsError]: ['refused', 'The directory requires a bind. Set a bind DN and its password.'],
}

/** Converts a failure of the library, a socket or the resolver to a fault. */
export const faultOf = (error: unknown): LdapFault => {
  if (error instanceof LdapFault) return error
  if (error instanceof DestinationError)
    return error.fault === 'unresolved'
      ? new LdapFault('unresolved', `${error.host} cannot be resolved. Check the name, and the DNS of this server.`)
      : new LdapFault(
          'refusedAddress',
          `${error.host} resolves to an address that this server never connects to (link-local, metadata, multicast, or loopback under another name).`,
        )
  const code = resultOf(error)
  if (code !== null) {
    const [kind, message] = messages[code] ?? ['refused', `The directory refused the request with result ${code}.`]
    return new LdapFault(kind, message, error)
  }
  const certificate = certificateFault(error)
  if (certificate !== undefined)
    return new LdapFault('certificate', `The certificate of the directory ${certificate}.`, error)
  const { code: name, message } = error as { code?: unknown; message?: unknown }
  if (name === 'ECONNREFUSED')
    return new LdapFault(
      'noConnection',
      'Nothing listens at this address. Check the port, and whether the directory runs.',
    )
  if (typeof name === 'string' && /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(name))
    return new LdapFault('noConnection', 'This address cannot be reached. Check routes and firewalls.')
  if (typeof message === 'string' && /timed? ?out/i.test(message))
    return new LdapFault('silent', 'The directory did not answer in time.')
  return new LdapFault('notLdap', 'The connection broke. The server at this address may not be a directory.', error)
}
