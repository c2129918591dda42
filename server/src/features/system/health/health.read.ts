import { mustExist } from '@portcullis/domain'
import type { Queryable } from '#platform/db/db.ts'
import { sql } from '#platform/db/sql.ts'

export type HealthRead = ReturnType<typeof createHealthRead>

export const createHealthRead = (db: Queryable) => ({
  ping: async (): Promise<void> => {
    await db.query(sql`select 1`)
  },

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
