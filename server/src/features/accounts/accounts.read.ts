import type { Queryable } from '#platform/db/db.ts'
import { sql } from '#platform/db/sql.ts'

/** Items of the general configuration that sign-in shows or builds links from. None of them is a secret. */
export const createAccountsRead = (db: Queryable) => ({
  configItems: async (names: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const rows = await db.query<{ name: string; value: string }>(
      sql`select c.name, c.value from config_items c where c.name = any(${names}::text[])`,
    )
    return new Map(rows.map((row) => [row.name, row.value]))
  },
  /** Enabled Administrators. */
  administrators: async (): Promise<number> =>
    (
      await db.query<{ n: number }>(
        sql`select count(*)::int as n from accounts a where a.user_profile = 10 and a.is_enabled`,
      )
    )[0]?.n ?? 0,
})
export type AccountsRead = ReturnType<typeof createAccountsRead>
