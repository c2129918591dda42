import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** Reads configuration items for the sign-in page and for links. None of them is a secret. */
export const createAccountsRead = (db: Queryable) => ({
  configItems: async (names: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const rows = await db.query<{ name: string; value: string }>(
      sql`select c.name, c.value from config_items c where c.name = any(${names}::text[])`,
    )
    return new Map(rows.map((row) => [row.name, row.value]))
  },
})
