import type { WindowsCandidate } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'

export interface VerificationRow {
  build: string
  agent_id: string
  host: string
  payload: string
  signature: string
  confirmed: string[]
  imported_at: Date
  imported_by: string
  seal: Buffer
}

export interface KnownHost {
  agent_id: string
  host: string
  public_key: Buffer | null
  os_build: string | null
}

export interface BuildCount {
  build: string
  agents: number
  counted: number
}

/** A host may have applied a command that ended within this time, although its report has not arrived yet. */
const uncertain = raw(`interval '15 minutes'`)

/**
 * Hosts whose agents report Windows. Only the owner of a host can make its agent report another system. The owner could
 * also make it report that it is Armed, so this gains nothing.
 */
const isWindows = raw(`(not r.agentless and (a.enforcement = 'before-install' or a.facts ->> 'osBuild' is not null
  or a.os_name ~* '^(microsoft )?windows'))`)
/** As `majorBuildOf` returns it. */
const build = raw(`coalesce(regexp_replace(split_part(a.facts ->> 'osBuild', '.', 3), '^0+(?=.)', ''), '')`)

/**
 * The host is armed, has an order to arm, or received one and has not confirmed a later order. A later order that is
 * still pending can be cancelled, so only a confirmed one ends this.
 */
const isCounted = (now: Date): SqlFragment => sql`(r.armed or exists (
  select from commands c where c.agent_id = r.agent_id and c.kind = 'configure' and c.payload::jsonb ->> 'mode' = 'Armed'
    and (c.state in ('queued', 'delivered') or (c.delivered_at is not null
      and c.state in ('confirmed', 'cancelled', 'expired') and c.ended_at > ${now}::timestamptz - ${uncertain}))
    and not exists (
      select from commands n where n.agent_id = c.agent_id and n.kind = 'configure' and n.counter > c.counter
        and n.state = 'confirmed')))`

const columns = raw(
  'v.build, v.agent_id, v.host, v.payload, v.signature, v.confirmed, v.imported_at, v.imported_by, v.seal',
)

export const createWindowsStore = () => ({
  named: (agentIds: readonly string[]): SqlFragment => sql`r.agent_id = any(${agentIds}::uuid[])`,

  /** Returns whether any of these hosts runs Windows. `where` is a condition over `agent_rows r`. */
  hasWindows: async (q: Queryable, where: SqlFragment): Promise<boolean> =>
    (
      await q.query<{ found: boolean }>(sql`
        select exists (select from agent_rows r join agents a on a.agent_id = r.agent_id
          where ${isWindows} and (${where})) as found`)
    )[0]?.found === true,

  /** Returns the Windows hosts among these hosts in the given order, then by id. */
  candidates: (q: Queryable, now: Date, where: SqlFragment, order: SqlFragment | null): Promise<WindowsCandidate[]> =>
    q.query<WindowsCandidate>(sql`
      select r.agent_id as "agentId", ${build} as build, ${isCounted(now)} as "isCounted"
      from agent_rows r join agents a on a.agent_id = r.agent_id
      where ${isWindows} and (${where}) order by ${order === null ? sql`` : sql`${order}, `}r.agent_id`),

  /** Counts the Windows hosts with an agent by build. */
  counts: (q: Queryable, now: Date): Promise<BuildCount[]> =>
    q.query<BuildCount>(sql`
      select ${build} as build, count(*)::int as agents, count(*) filter (where ${isCounted(now)})::int as counted
      from agent_rows r join agents a on a.agent_id = r.agent_id where ${isWindows}
      group by 1 order by length(${build}) desc, 1 desc`),

  /** Returns the first hosts of each build that are armed or ordered to arm. */
  armed: (q: Queryable, now: Date, most: number): Promise<{ build: string; uuid: string; hostIdentifier: string }[]> =>
    q.query(sql`
      select w.build, w.uuid, w.host as "hostIdentifier" from (
        select ${build} as build, r.agent_id as uuid, a.host,
          row_number() over (partition by ${build} order by a.host, r.agent_id) as n
        from agent_rows r join agents a on a.agent_id = r.agent_id
        where ${isWindows} and ${isCounted(now)}) w where w.n <= ${most}::int order by w.host, w.uuid`),

  /** Returns Windows hosts with a pending order to arm. */
  ordered: async (q: Queryable): Promise<string[]> =>
    (
      await q.query<{ agent_id: string }>(sql`
        select distinct r.agent_id from commands c join agent_rows r on r.agent_id = c.agent_id
          join agents a on a.agent_id = r.agent_id
        where c.state in ('queued', 'delivered') and c.kind = 'configure' and c.payload::jsonb ->> 'mode' = 'Armed'
          and ${isWindows} order by r.agent_id`)
    ).map((row) => row.agent_id),

  host: async (q: Queryable, agentId: string): Promise<KnownHost | undefined> =>
    (
      await q.query<KnownHost>(sql`
        select a.agent_id, a.host, a.public_key, a.facts ->> 'osBuild' as os_build
        from agents a where a.agent_id = ${agentId}::uuid`)
    )[0],

  verifications: (q: Queryable): Promise<VerificationRow[]> =>
    q.query<VerificationRow>(
      sql`select ${columns} from windows_verifications v order by length(v.build) desc, v.build desc`,
    ),

  put: async (tx: Tx, row: VerificationRow): Promise<void> => {
    await tx.execute(sql`
      insert into windows_verifications (build, agent_id, host, payload, signature, confirmed, imported_at, imported_by, seal)
      values (${row.build}, ${row.agent_id}::uuid, ${row.host}, ${row.payload}, ${row.signature}, ${row.confirmed}::text[],
        ${row.imported_at}, ${row.imported_by}, ${row.seal})
      on conflict (build) do update set agent_id = excluded.agent_id, host = excluded.host, payload = excluded.payload,
        signature = excluded.signature, confirmed = excluded.confirmed, imported_at = excluded.imported_at,
        imported_by = excluded.imported_by, seal = excluded.seal`)
  },

  remove: async (tx: Tx, number: string): Promise<{ host: string } | undefined> =>
    (
      await tx.query<{ host: string }>(
        sql`delete from windows_verifications v where v.build = ${number} returning v.host`,
      )
    )[0],
})
