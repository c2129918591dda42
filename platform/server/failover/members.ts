/** Reads the servers of a cluster as the operator's role sees them. */
import { type DatabaseHost, hostLabel } from '../db/hosts.ts'
import { type NodeState, onNode, reasonOf, type UnreachableNode } from '../db/nodes.ts'

/** What a server reports. Positions are bytes of the log. */
export interface MemberState extends NodeState {
  /** Value of synchronous_standby_names. */
  synchronous: string
  /** Value of primary_conninfo; null if the role may not read it. */
  conninfo: string | null
  /** Server that it streams from; null: from none. */
  follows: string | null
  /** End of the log that it stored. */
  position: number
  /** End of the log that it replayed; on a primary the same as `position`. */
  replayed: number
}

export type Member = MemberState | UnreachableNode

export const isMember = (member: Member): member is MemberState => !('reason' in member)

/** Statements of the command: a loaded server may answer late. */
export const commandWithinMs = 10_000

// A restarted standby has replayed log that it did not receive since the restart. Its control file shows a timeline only
// after a restartpoint, the names of its log files at once.
const memberSql = `
  select r.standby as "isStandby", current_setting('default_transaction_read_only') = 'on' as "isFenced",
         s.system_identifier::text as system,
         case when r.standby then greatest(c.timeline_id, v.min_recovery_end_timeline, l.timeline)
              else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline,
         current_setting('synchronous_standby_names') as synchronous,
         (select p.setting from pg_settings p where p.name = 'primary_conninfo') as conninfo,
         w.sender_host || ':' || w.sender_port as follows,
         ((case when r.standby then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                else pg_current_wal_lsn() end) - '0/0'::pg_lsn)::float8 as position,
         ((case when r.standby then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end) - '0/0'::pg_lsn)::float8
           as replayed
  from (select pg_is_in_recovery() as standby) r, pg_control_system() s, pg_control_checkpoint() c,
       pg_control_recovery() v,
       (select max(('x' || left(f.name, 8))::bit(32)::int) as timeline
        from pg_ls_waldir() f where f.name ~ '^[0-9A-F]{24}$') l
       left join pg_stat_wal_receiver w on true`

/** Reads one server. Never throws. */
export const readMember = (host: DatabaseHost): Promise<Member> =>
  onNode(
    host,
    async (client): Promise<Member> => {
      const { rows } = await client.query<Omit<MemberState, 'host'>>(memberSql)
      return { host, ...(rows[0] as Omit<MemberState, 'host'>) }
    },
    { withinMs: commandWithinMs, name: 'failover' },
  ).catch((error: unknown) => ({ host, reason: reasonOf(error) }))

export const labelOf = ({ host }: Pick<Member, 'host'>): string => hostLabel(host)

/**
 * Returns how many standbys must store a change before a COMMIT returns: the number in `ANY 1 (…)`, `FIRST 2 (…)` or
 * `2 (…)`, 1 for a plain list, and 0 if replication is asynchronous.
 */
export const confirmationsOf = (synchronous: string): number => {
  if (synchronous.trim() === '') return 0
  return Number(/^\s*(?:ANY\s+|FIRST\s+)?(\d+)\s*\(/i.exec(synchronous)?.[1] ?? 1)
}

/** A folder that does not exist: a standby with this host follows nobody, and keeps its user and password. */
export const detachedHost = '/portcullis-detached'

const part = /\s*([a-z_]+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s\\]|\\.)*)/giy

/**
 * Returns primary_conninfo with another host and port; null if it is not in the form of keywords.
 *
 * @param conninfo such as `user=replicator host=db-a password='a b'`
 */
export const withSender = (conninfo: string, host: string, port: number): string | null => {
  const kept: string[] = []
  part.lastIndex = 0
  for (let at = 0; at < conninfo.trimEnd().length; at = part.lastIndex) {
    const [, name = '', value = ''] = part.exec(conninfo) ?? []
    if (name === '') return null
    if (!['host', 'hostaddr', 'port'].includes(name)) kept.push(`${name}=${value}`)
  }
  return [`host=${host}`, `port=${port}`, ...kept].join(' ')
}

export const isDetached = ({ conninfo }: MemberState): boolean => conninfo?.includes(`host=${detachedHost}`) === true
