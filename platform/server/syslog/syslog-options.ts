import type { ResolveDestination } from '#platform/server/destinations.ts'
import type { SyslogAddress } from './syslog-address.ts'

export interface SyslogTimeouts {
  /** Milliseconds for name resolution, connection and TLS. */
  connectMs: number
  /** Milliseconds for one whole `send`. */
  wholeMs: number
}

export interface SyslogSenderOptions {
  address: SyslogAddress
  /** PEM certificates to trust instead of the system's; empty: the system's. */
  ca: readonly string[]
  timeouts?: SyslogTimeouts
  resolve: ResolveDestination
}

/** Options of a transport. */
export type SendOptions = SyslogSenderOptions & { timeouts: SyslogTimeouts; ending: AbortSignal }
