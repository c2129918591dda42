import { DestinationError } from './destinations.ts'

/** What can go wrong between this server and another one; `broken`: the connection ended, or something else answered. */
export type ConnectionFault = 'unresolved' | 'refused' | 'unreachable' | 'certificate' | 'timeout' | 'broken'

const unreachable = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EACCES']

/** Codes of certificate checks in Node and OpenSSL; other faults of TLS are a broken connection. */
const certificate =
  /^(?:ERR_TLS_CERT_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_|HOSTNAME_MISMATCH$)/

/** The fault behind an error of resolver, socket, TLS or HTTP. Nothing of what the other side said is part of it. */
export const connectionFaultOf = (error: unknown): ConnectionFault => {
  if (error instanceof DestinationError) return error.fault
  // Several addresses, none of which answered.
  if (error instanceof AggregateError) return connectionFaultOf(error.errors.at(-1))
  const { code = '', syscall = '' } = (error ?? {}) as NodeJS.ErrnoException
  if (unreachable.includes(code)) return 'unreachable'
  if (code === 'ENOTFOUND') return 'unresolved'
  if (code === 'ETIMEDOUT') return syscall === 'connect' ? 'unreachable' : 'timeout'
  return certificate.test(code) ? 'certificate' : 'broken'
}

/** Each as a sentence for people; `where` is what they configured. */
export const connectionSentences: Readonly<Record<ConnectionFault, (where: string) => string>> = {
  unresolved: (where) => `The name of ${where} has no address. Check the spelling, and DNS.`,
  refused: (where) =>
    `${where} is an address this server does not connect to (link-local, metadata, multicast, or loopback under another name).`,
  unreachable: (where) => `Nothing listens at ${where}, or no way leads there. Check host, port and firewalls.`,
  certificate: (where) =>
    `The certificate of ${where} is not accepted. Give the CA that issued it, and the name it is made for.`,
  timeout: (where) => `${where} did not take everything in time.`,
  broken: (where) => `${where} ended the connection before it had taken everything, or something else answers there.`,
}
