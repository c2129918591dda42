import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { AssetKey } from './assets.store.ts'

export const replayKind = 'assets.replay'

export interface ReplayRow {
  job_id: string
  state: 'running' | 'completed' | 'failed' | 'cancelled'
  total: number
  done: number
  message: string
  started_at: string | null
  ended_at: Date | null
}

const columns = sql`j.job_id, j.state, j.total, j.done, j.message, j.cursor ->> 'startedAt' as started_at, j.ended_at`

export const createReplayStore = (db: Queryable) => ({
  running: async (q: Queryable): Promise<string | undefined> =>
    (
      await q.query<{ job_id: string }>(
        sql`select j.job_id from jobs j where j.kind = ${replayKind} and j.state = 'running' limit 1`,
      )
    )[0]?.job_id,

  one: async (jobId: string): Promise<ReplayRow | undefined> =>
    (
      await db.query<ReplayRow>(
        sql`select ${columns} from jobs j where j.job_id = ${jobId}::uuid and j.kind = ${replayKind}`,
      )
    )[0],

  last: async (): Promise<ReplayRow | undefined> =>
    (
      await db.query<ReplayRow>(
        sql`select ${columns} from jobs j where j.kind = ${replayKind} order by j.created_at desc, j.job_id desc limit 1`,
      )
    )[0],

  assets: async (q: Queryable): Promise<number> =>
    (
      await q.query<{ n: number }>(sql`select (select count(*) from agents) + (select count(*) from peripherals) as n`)
    )[0]?.n ?? 0,

  /** Returns the hosts after `after`, in the order of their ids. */
  agents: (q: Queryable, after: string, limit: number): Promise<AssetKey[]> =>
    q.prepared<AssetKey>(sql`
      select a.agent_id, '' as device_id, false as removed from agents a where a.agent_id > ${after}::uuid
      order by a.agent_id limit ${limit}::int`),

  peripherals: (q: Queryable, agent: string, device: string, limit: number): Promise<AssetKey[]> =>
    q.prepared<AssetKey>(sql`
      select p.agent_id, p.device_id, false as removed from peripherals p where (p.agent_id, p.device_id) > (${agent}::uuid, ${device}::text)
      order by p.agent_id, p.device_id limit ${limit}::int`),
})
