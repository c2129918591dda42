/** Asks the servers of a PostgreSQL cluster for their role, and finds the primary. */
import pg from 'pg'
import { type DatabaseHost, hostLabel } from './hosts.ts'

/** The state of a reachable server. */
export interface NodeState {
  host: DatabaseHost
  /** Whether it replays the log of another server. */
  isStandby: boolean
  /** Whether an operator fenced it: `default_transaction_read_only` is on. */
  isFenced: boolean
  /** Newest timeline that it knows. Each promotion begins a new one. */
  timeline: number
  /** Identifies the cluster: all copies of one cluster have the same. */
  system: string
}

/** An unreachable server. `reason` completes the sentence "db-a:5432 …". */
export interface UnreachableNode {
  host: DatabaseHost
  reason: string
}

export type Node = NodeState | UnreachableNode

export const isReachable = (node: Node): node is NodeState => !('reason' in node)

/** A server that takes longer counts as unreachable. */
const probeWithinMs = 2_000

// pg_control_checkpoint() shows the timeline of a promotion only after the next checkpoint, the log's name at once.
const stateSql = `
  select r.standby as "isStandby", current_setting('default_transaction_read_only') = 'on' as "isFenced",
         s.system_identifier::text as system,
         case when r.standby then greatest(c.timeline_id, v.min_recovery_end_timeline)
              else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline
  from (select pg_is_in_recovery() as standby) r, pg_control_system() s, pg_control_checkpoint() c,
       pg_control_recovery() v`

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ENOENT: 'does not run',
  ENOTFOUND: 'has an unknown name',
  EAI_AGAIN: 'has a name that cannot be resolved now',
  EHOSTUNREACH: 'is unreachable',
  ENETUNREACH: 'is unreachable',
  '57P03': 'is starting or stopping',
}

/** Returns why a server cannot be read; completes the sentence "db-a:5432 …". */
export const reasonOf = (error: unknown): string => {
  const { code = '', message } = error as { code?: string; message: string }
  if (reasons[code] !== undefined) return reasons[code]
  return /timeout|terminated/i.test(message) ? 'does not answer' : `fails (${message})`
}

/** Opens a connection to one server for `work`, and closes it. */
export const onNode = async <T>(
  { url }: Pick<DatabaseHost, 'url'>,
  work: (client: pg.Client) => Promise<T>,
  { withinMs = probeWithinMs, name = 'probe' } = {},
): Promise<T> => {
  const client = new pg.Client({
    connectionString: url,
    application_name: `portcullis ${name}`,
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    // Not awaited: a server that hangs does not close its side.
    client.end().catch(() => {})
  }
}

/** Returns the state of a server, or the reason why it cannot be read. Never throws. */
export const probeNode = (host: DatabaseHost): Promise<Node> =>
  onNode(host, async (client): Promise<Node> => {
    const { rows } = await client.query<Omit<NodeState, 'host'>>(stateSql)
    return { host, ...(rows[0] as Omit<NodeState, 'host'>) }
  }).catch((error: unknown) => ({ host, reason: reasonOf(error) }))

/** No server of the cluster is a primary that may be used. */
export class NoPrimaryError extends Error {
  override readonly name = 'NoPrimaryError'
  /** SQLSTATE of a connection that cannot be established. */
  readonly code = '08001'
}

const describe = (node: Node): string =>
  isReachable(node)
    ? `${hostLabel(node.host)} is ${node.isStandby ? 'a standby' : node.isFenced ? 'read-only' : `a primary of timeline ${node.timeline}`}`
    : `${hostLabel(node.host)} ${node.reason}`

const refuse = (why: string, nodes: readonly Node[]): NoPrimaryError =>
  new NoPrimaryError(`${why}: ${nodes.map(describe).join(', ')}`)

/**
 * Returns the primary: the writable server on the newest timeline that any server knows. A former primary that returned
 * is on an older timeline and is never chosen.
 *
 * @param seen newest timeline that was seen before
 * @throws NoPrimaryError
 */
export const primaryOf = (nodes: readonly Node[], seen = 0): NodeState => {
  const reachable = nodes.filter(isReachable)
  if (new Set(reachable.map(({ system }) => system)).size > 1)
    throw refuse('The hosts of the database address belong to different clusters', nodes)
  const newest = Math.max(seen, ...reachable.map(({ timeline }) => timeline))
  const writable = reachable.filter(({ isStandby, isFenced }) => !isStandby && !isFenced)
  const [primary, second] = writable.filter(({ timeline }) => timeline === newest)
  if (second !== undefined) throw refuse('Two database servers are primaries of the same timeline', nodes)
  if (primary !== undefined) return primary
  throw writable.length > 0
    ? refuse(`No database server is the primary of the newest timeline ${newest}`, nodes)
    : refuse('No database server is the primary', nodes)
}
