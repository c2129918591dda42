import { type ConnectionFault, connectionFaultOf, connectionSentences } from '#platform/server/connection-fault.ts'
import type { SyslogAddress } from './syslog-address.ts'

/** Why messages did not arrive. In all cases the same messages may be sent again. */
export type SyslogFault = Exclude<ConnectionFault, 'broken'> | 'reset' | 'answered'

type Where = Pick<SyslogAddress, 'host' | 'port'>

export class SyslogError extends Error {
  readonly fault: SyslogFault
  constructor(fault: SyslogFault, { host, port }: Where, cause?: unknown) {
    const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    const sentence =
      fault === 'answered'
        ? `${where} answered, but syslog receivers do not answer: another service listens there. Check host and port.`
        : connectionSentences[fault === 'reset' ? 'broken' : fault](where)
    super(sentence, { cause })
    this.name = 'SyslogError'
    this.fault = fault
  }
}

/** Converts a failure of resolver, socket or TLS. */
export const syslogError = (error: unknown, where: Where): SyslogError => {
  if (error instanceof SyslogError) return error
  const fault = connectionFaultOf(error)
  return new SyslogError(fault === 'broken' ? 'reset' : fault, where, error)
}
