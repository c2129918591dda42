import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Bus } from './db/bus.ts'
import type { Db } from './db/db.ts'
import type { ResolveDestination } from './destinations.ts'
import type { Envelope } from './envelope.ts'
import type { Keys } from './keys.ts'
import type { Announce, Hint } from './live.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Tracer } from './tracing/index.ts'

/** The address at which hosts reach this server. */
export interface Reach {
  /** Base address without a trailing slash. */
  url: string
  /** Base64url SHA-256 of the server's own CA key; null: the certificate is from another CA, or there is no TLS. */
  caKeyHash: string | null
  /** False if the server listens on loopback only. */
  reachableFromElsewhere: boolean
}

/** The configuration of a server, apart from its database and its start. */
export type ServerConfig = Pick<
  Config,
  | 'host'
  | 'trustedProxies'
  | 'proxyProtocolFrom'
  | 'dataDir'
  | 'licenceKeysFile'
  | 'keyFile'
  | 'outboundAllow'
  | 'outboundProxy'
  | 'reportsDir'
  | 'auditDir'
  | 'isAuditDirGiven'
  | 'natsUrl'
  | 'kafkaBrokers'
> &
  Partial<Pick<Config, 'tracing' | 'databaseUrl'>>

/**
 * What the platform provides to every capability of one server. A capability extends it by the lower ones that it calls
 * (`context.ts` of its server part), and its files take that type.
 */
export interface Context {
  config: ServerConfig
  /** Pool of short statements. */
  db: Db
  /** Pool of long reads. */
  exportDb: Db
  clock: Clock
  log: Log
  bus: Bus
  keys: Keys
  /** Seals secrets at rest. */
  envelope: Envelope
  metrics: Metrics
  tracer: Tracer
  /** Resolves the host of an outbound connection, and refuses forbidden ones. */
  resolve: ResolveDestination
  announce: Announce
  hint: Hint
  /** Returns the address of this server. Known only after the server listens. */
  reach(): Reach
  /** Version of this server. */
  version: string
}
