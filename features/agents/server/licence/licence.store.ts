import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export const createLicenceStore = (db: Queryable) => ({
  counts: async (): Promise<{ used: number; pending: number }> =>
    (
      await db.query<{ used: number; pending: number }>(sql`
        select (select t.agents from fleet_totals t) as used, (select count(*)::int from agent_rows r where r.license = 0) as pending`)
    )[0] ?? { used: 0, pending: 0 },

  account: async (id: string, name: string): Promise<void> => {
    await db.execute(sql`
      update licence_state set account_id = ${id}, account_name = ${name} where account_id <> ${id} or account_name <> ${name}`)
  },
})
