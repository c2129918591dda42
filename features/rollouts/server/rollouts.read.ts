import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { RolloutHost, RolloutHostState } from '#features/contract.ts'

export interface RingCounts {
  rollout_id: string
  ring: number
  state: RolloutHostState
  hosts: number
  predicted: number
  actual: number
  over: number
}

interface HostRow {
  agent_id: string
  host: string
  ring: number
  state: RolloutHostState
  reason: string
  enforcement: string | null
  last_seen: Date | null
  predicted: number
  actual: number
}

const hostView = (row: HostRow): RolloutHost => ({
  uuid: row.agent_id,
  hostIdentifier: row.host,
  ring: row.ring,
  state: row.state,
  reason: row.reason,
  enforcement: row.enforcement ?? '',
  lastContact: row.last_seen?.toISOString() ?? null,
  predictedBlocks: row.predicted,
  actualBlocks: row.actual,
})

const hostColumns = raw(
  'h.agent_id, h.host, h.ring, h.state, h.reason, a.enforcement, b.last_seen, h.predicted, h.actual',
)
const hostJoins = raw(
  'left join agents a on a.agent_id = h.agent_id left join agent_heartbeats b on b.agent_id = h.agent_id',
)

export const createRolloutsRead = (db: Queryable) => ({
  /** Counts hosts by ring and state. */
  counts: (rolloutIds: readonly string[]): Promise<RingCounts[]> =>
    db.query(sql`
      select h.rollout_id, h.ring, h.state, count(*)::int as hosts,
        coalesce(sum(h.predicted) filter (where h.commanded_at is not null), 0)::int as predicted,
        coalesce(sum(h.actual), 0)::int as actual, count(*) filter (where h.actual > h.predicted)::int as over
      from rollout_hosts h where h.rollout_id = any(${rolloutIds}::uuid[]) group by 1, 2, 3`),

  hosts: async (
    rolloutId: string,
    filter: { ring: number | undefined; state: RolloutHostState | undefined },
    { limit, offset }: { limit: number; offset: number },
  ): Promise<{ total: number; filtered: number; data: RolloutHost[] }> => {
    const where = sql`h.rollout_id = ${rolloutId}::uuid and (${filter.ring ?? null}::int is null or h.ring = ${filter.ring ?? null}::int)
      and (${filter.state ?? null}::text is null or h.state = ${filter.state ?? null}::text)`
    const [counts, rows] = await Promise.all([
      db.query<{ total: number; filtered: number }>(sql`
        select count(*)::int as total, count(*) filter (where ${where})::int as filtered
        from rollout_hosts h where h.rollout_id = ${rolloutId}::uuid`),
      db.query<HostRow>(sql`
        select ${hostColumns} from rollout_hosts h ${hostJoins} where ${where}
        order by h.ring, h.host, h.agent_id limit ${limit}::bigint offset ${offset}::bigint`),
    ])
    return { total: counts[0]?.total ?? 0, filtered: counts[0]?.filtered ?? 0, data: rows.map(hostView) }
  },

  /** Returns the hosts that a person should check before a rollout starts. */
  notable: async (rolloutId: string, limit: number): Promise<RolloutHost[]> =>
    (
      await db.query<HostRow>(sql`
        select ${hostColumns} from rollout_hosts h ${hostJoins} where h.rollout_id = ${rolloutId}::uuid
        order by h.state <> 'notReady', h.predicted desc, h.ring, h.host, h.agent_id limit ${limit}::int`)
    ).map(hostView),

  /** Counts the hosts of a plan by ring, state and reason. */
  plan: (
    rolloutId: string,
  ): Promise<{ ring: number; state: RolloutHostState; reason: string; hosts: number; predicted: number }[]> =>
    db.query(sql`
      select h.ring, h.state, h.reason, count(*)::int as hosts, sum(h.predicted)::int as predicted
      from rollout_hosts h where h.rollout_id = ${rolloutId}::uuid group by 1, 2, 3 order by 4 desc`),

  /** Counts hosts and devices with a kernel driver that contradicts their kind, by ring. */
  mismatches: (
    rolloutId: string,
    hosts: readonly { agentId: string; mismatched: number }[],
  ): Promise<{ ring: number; hosts: number; devices: number }[]> =>
    db.query(sql`
      select h.ring, count(*)::int as hosts, sum(c.n)::int as devices from ${unnestOf([
        [hosts.map(({ agentId }) => agentId), 'uuid[]'],
        [hosts.map(({ mismatched }) => mismatched), 'int[]'],
      ])} c(agent_id, n) join rollout_hosts h on h.agent_id = c.agent_id
      where h.rollout_id = ${rolloutId}::uuid and c.n > 0 group by 1`),

  /** Counts the hosts that could be in a ring. */
  candidates: async (): Promise<number> =>
    (await db.query<{ n: number }>(sql`select count(*)::int as n from agent_rows r where not r.agentless`))[0]?.n ?? 0,

  /** Returns the given tags that do not exist. */
  unknownTags: async (names: readonly string[]): Promise<string[]> => {
    const foldedOf = (name: string): string => fold(name.trim())
    const folded = names.map(foldedOf)
    const rows = await db.query<{ folded: string }>(
      sql`select t.folded from tags t where t.folded = any(${folded}::text[])`,
    )
    const known = new Set(rows.map((row) => row.folded))
    return names.filter((name) => !known.has(foldedOf(name)))
  },
})

export type RolloutsRead = ReturnType<typeof createRolloutsRead>
