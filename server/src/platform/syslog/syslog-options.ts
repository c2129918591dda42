import type { ResolveDestination } from '#platform/destinations.ts'
import type { SyslogAddress } from './syslog-address.ts'

export interface SyslogTimeouts {
  /** Milliseconds for name, connection and TLS. */
  connectMs: number
  /** Milliseconds for all of one `send`. */
  wholeMs: number
}

export interface SyslogSenderOptions {
  address: SyslogAddress
  /** PEM certificates to trust in place of the system's; empty: the system's. */
  ca: readonly string[]
  timeouts?: SyslogTimeouts
  resolve: ResolveDestination
}

/** What a transport sends by. */
export type SendOptions = SyslogSenderOptions & { timeouts: SyslogTimeouts; ending: AbortSignal }
