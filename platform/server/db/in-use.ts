import type pg from 'pg'

/** Returns whether a server has used the database: it has an account. Null: it has no schema. */
export const hasAccounts = async (client: pg.ClientBase): Promise<boolean | null> => {
  const { rows: tables } = await client.query<{ is: boolean }>(
    "SELECT to_regclass('public.schema_migrations') IS NOT NULL AND to_regclass('public.accounts') IS NOT NULL AS is",
  )
  if (tables[0]?.is !== true) return null
  const { rows } = await client.query<{ is: boolean }>('SELECT EXISTS (SELECT FROM accounts) AS is')
  return rows[0]?.is === true
}
