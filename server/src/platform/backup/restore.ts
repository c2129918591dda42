import type pg from 'pg'
import type { Db } from '../db/db.ts'
import { migrate } from '../db/migrate.ts'
import { StartError } from '../start-error.ts'
import type { OpenArchive } from './archive.ts'
import { type Loaded, load } from './load.ts'
import { restoreMark } from './mark.ts'

const isMarked = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows } = await client.query<{ is: boolean }>(restoreMark.isThere)
  return rows[0]?.is === true
}

/**
 * A server that started on what a broken restore has left would be a new one, with keys and an administrator of its own.
 * @throws StartError
 */
export const assertNotHalfRestored = (db: Db): Promise<void> =>
  db.withClient(async (client) => {
    if (await isMarked(client))
      throw new StartError('A restore into this database was broken off. Restore again, or take an empty database.')
  })

/** A schema in which no server ever made an account: a restore that was broken off leaves that, and is tried again. */
const isUnused = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows: tables } = await client.query<{ is: boolean }>(
    "SELECT to_regclass('public.schema_migrations') IS NOT NULL AND to_regclass('public.accounts') IS NOT NULL AS is",
  )
  if (tables[0]?.is !== true) return false
  const { rows } = await client.query<{ is: boolean }>('SELECT NOT EXISTS (SELECT FROM accounts) AS is')
  return rows[0]?.is === true
}

/** Fills an empty database from a backup, of this release or an older one, and brings it to this release's schema. */
export const restore = async (
  db: Db,
  migrations: string,
  { head, parts }: OpenArchive,
  keepKeys: (keyFile: string) => void = () => {},
): Promise<Loaded & { schema: number }> => {
  await db.withClient(async (client) => {
    const { rows } = await client.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')",
    )
    if ((rows[0]?.n ?? 0) > 0 && !(await isMarked(client)) && !(await isUnused(client)))
      throw new StartError('The database is not empty. Restore into a new one.')
    await client.query(restoreMark.make)
  })
  const reached = await migrate(db, migrations, head.schema)
  if (reached !== head.schema)
    throw new StartError(
      `The backup has schema version ${head.schema}, this release knows ${reached}. Restore it with the release that wrote it, or a newer one.`,
    )
  const loaded = await db.withClient((client) =>
    load(client, parts, { mayHoldKeys: head.encryption !== null, keepKeys }),
  )
  return { ...loaded, schema: await migrate(db, migrations) }
}
