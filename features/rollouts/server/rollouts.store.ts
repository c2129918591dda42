import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import type { PublishedBuild } from '#features/builds/server/index.ts'
import type { RolloutInput, RolloutKind, RolloutState } from '#features/contract.ts'

/** The requested settings of a rollout, with the defaults that do not depend on the fleet. */
export type RolloutSettings = Required<Omit<RolloutInput, 'revertMinutes'>> & Pick<RolloutInput, 'revertMinutes'>

/** The stored state of a started ring; times are milliseconds since 1970. */
export interface RingMark {
  startedAt: number
  dwellUntil: number | null
  accepted: { failed: number; over: number }
}

export interface RolloutRow {
  rollout_id: string
  kind: RolloutKind
  name: string
  state: RolloutState | 'planned'
  reason: string
  settings: RolloutSettings
  builds: Record<string, PublishedBuild>
  ring: number
  rings: RingMark[]
  created_at: Date
  created_by: string
  ended_at: Date | null
}

const columns = raw(
  't.rollout_id, t.kind, t.name, t.state, t.reason, t.settings, t.builds, t.ring, t.rings, t.created_at, t.created_by, t.ended_at',
)

export const createRolloutsStore = (db: Queryable) => ({
  insert: (row: RolloutRow): Promise<number> =>
    db.execute(sql`
      insert into rollouts (rollout_id, kind, name, state, settings, builds, rings, created_at, created_by)
      values (${row.rollout_id}::uuid, ${row.kind}, ${row.name}, ${row.state}, ${JSON.stringify(row.settings)}::jsonb,
        ${JSON.stringify(row.builds)}::jsonb, '[]', ${row.created_at}, ${row.created_by})`),

  one: async (id: string): Promise<RolloutRow | undefined> =>
    (await db.query<RolloutRow>(sql`select ${columns} from rollouts t where t.rollout_id = ${id}::uuid`))[0],

  newest: (limit: number): Promise<RolloutRow[]> =>
    db.query(sql`select ${columns} from rollouts t order by t.created_at desc, t.rollout_id desc limit ${limit}`),

  activeOf: async (kind: RolloutKind): Promise<RolloutRow | undefined> =>
    (
      await db.query<RolloutRow>(
        sql`select ${columns} from rollouts t where t.kind = ${kind} and t.state in ('running', 'paused', 'halted')`,
      )
    )[0],

  /** Locks a rollout for this transaction; undefined: another replica holds it. */
  lockFree: async (id: string): Promise<RolloutRow | undefined> =>
    (
      await db.query<RolloutRow>(
        sql`select ${columns} from rollouts t where t.rollout_id = ${id}::uuid for update skip locked`,
      )
    )[0],

  lock: async (id: string): Promise<RolloutRow | undefined> =>
    (await db.query<RolloutRow>(sql`select ${columns} from rollouts t where t.rollout_id = ${id}::uuid for update`))[0],

  /** Returns the rollouts to advance: running ones, and stopped ones with active commands. */
  due: async (): Promise<{ rollout_id: string; state: RolloutState }[]> =>
    db.prepared(sql`
      select t.rollout_id, t.state from rollouts t
      where t.state in ('running', 'paused')
        or exists (select from rollout_hosts h where h.rollout_id = t.rollout_id
          and h.state = case when t.state = 'reverted' then 'reverting' else 'commanded' end)
      order by t.created_at`),

  save: (row: Pick<RolloutRow, 'rollout_id' | 'state' | 'reason' | 'ring' | 'rings' | 'ended_at'>): Promise<number> =>
    db.execute(sql`
      update rollouts t set state = ${row.state}, reason = ${row.reason}, ring = ${row.ring}::int,
        rings = ${JSON.stringify(row.rings)}::jsonb, ended_at = ${row.ended_at}::timestamptz
      where t.rollout_id = ${row.rollout_id}::uuid`),
})
