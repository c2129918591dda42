import { mustExist } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** How the database is replicated. Standbys that the role may not see in detail count as connected only. */
export interface Replication {
  /** Value of synchronous_standby_names. */
  synchronous: string
  standbys: number
  /** Standbys that confirm commits; null if the role may not read it. */
  confirming: number | null
  /** Seconds by which the slowest standby is behind; null if it is unknown. */
  lagSeconds: number | null
}

export type HealthRead = ReturnType<typeof createHealthRead>

export const createHealthRead = (db: Queryable) => ({
  ping: async (): Promise<void> => {
    await db.query(sql`select 1`)
  },

  replication: async (): Promise<Replication> =>
    mustExist(
      (
        await db.query<Replication>(sql`
        select current_setting('synchronous_standby_names') as synchronous, count(r.pid)::int as standbys,
               case when bool_or(r.pid is not null and r.sync_state is null) then null
                    else (count(*) filter (where r.state = 'streaming' and r.sync_state in ('sync', 'quorum')))::int
               end as confirming,
               extract(epoch from max(r.replay_lag))::float8 as "lagSeconds"
        from (select 1) one left join pg_stat_replication r on true`)
      )[0],
      'the replication',
    ),

  now: async (): Promise<Date> =>
    mustExist((await db.query<{ now: Date }>(sql`select clock_timestamp() as now`))[0], 'the time').now,

  newestEventId: async (): Promise<number> =>
    (await db.query<{ n: number }>(sql`select h.n from ordered_head h where h.stream = 'events'`))[0]?.n ?? 0,

  sizeBytes: async (): Promise<number> =>
    mustExist(
      (await db.query<{ size: number }>(sql`select pg_database_size(current_database()) as size`))[0],
      'the size',
    ).size,

  versions: async (): Promise<{ database: string; schema: number }> =>
    mustExist(
      (
        await db.query<{ database: string; schema: number }>(sql`
        select split_part(current_setting('server_version'), ' ', 1) as database,
               (select max(m.version) from schema_migrations m) as schema`)
      )[0],
      'the versions',
    ),
})
