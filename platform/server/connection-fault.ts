import { DestinationError } from './destinations.ts'
import type { IssuerError } from './outbound-issuer.ts'
import { OutboundProxyError } from './outbound-proxy.ts'

/** Faults of a connection to another server. `broken`: it was closed, or another kind of server answered. */
export type ConnectionFault = 'unresolved' | 'refused' | 'unreachable' | 'certificate' | 'timeout' | 'broken'

const unreachable = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EACCES']

/** Codes of certificate checks in Node and OpenSSL; other TLS faults count as a broken connection. */
const certificate =
  /^(?:ERR_TLS_CERT_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_|HOSTNAME_MISMATCH$)/

/** Classifies an error of resolver, socket, TLS or HTTP. The result contains nothing that the peer sent. */
export const connectionFaultOf = (error: unknown): ConnectionFault => {
  if (error instanceof DestinationError) return error.fault
  if (error instanceof OutboundProxyError) return error.fault === 'late' ? 'timeout' : 'unreachable'
  // Several addresses, and none answered.
  if (error instanceof AggregateError) return connectionFaultOf(error.errors.at(-1))
  const { code = '', syscall = '' } = (error ?? {}) as NodeJS.ErrnoException
  if (unreachable.includes(code)) return 'unreachable'
  if (code === 'ENOTFOUND') return 'unresolved'
  if (code === 'ETIMEDOUT') return syscall === 'connect' ? 'unreachable' : 'timeout'
  return certificate.test(code) ? 'certificate' : 'broken'
}

/** Describes each fault for people; `where` is the configured destination. */
export const connectionSentences: Readonly<Record<ConnectionFault, (where: string) => string>> = {
  unresolved: (where) => `The name of ${where} does not resolve. Check its spelling and DNS.`,
  refused: (where) =>
    `This server does not connect to ${where}, because the address is link-local, metadata, multicast, or loopback under another name.`,
  unreachable: (where) => `${where} is unreachable or refuses connections. Check host, port and firewalls.`,
  certificate: (where) =>
    `The certificate of ${where} is not trusted. Enter the CA that issued it and the host name in it.`,
  timeout: (where) => `${where} did not accept all data in time.`,
  broken: (where) => `${where} closed the connection before it accepted all data, or another kind of server answered.`,
}

/** Returns a sentence about the proxy of this server or an unknown issuer, or null for other faults. */
export const explainedFault = (error: unknown, where: string): string | null => {
  if (error instanceof OutboundProxyError) return error.message
  const { issuer } = (error ?? {}) as IssuerError
  return issuer === undefined
    ? null
    : `The certificate of ${where} is not trusted (issuer: "${issuer}"). Enter the CA that issued it and the host name in it. If a device on the network inspects TLS, exempt ${where} from TLS inspection.`
}
