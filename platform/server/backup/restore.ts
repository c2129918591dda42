import type pg from 'pg'
import type { Db } from '../db/db.ts'
import { hasAccounts } from '../db/in-use.ts'
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
 * Throws if a restore was interrupted: a server that started on its remains would create new keys and a new administrator.
 * @throws StartError
 */
export const assertNotHalfRestored = (db: Db): Promise<void> =>
  db.withClient(async (client) => {
    if (await isMarked(client))
      throw new StartError('A restore into this database was interrupted. Restore again, or use an empty database.')
  })

/** Returns whether a schema has no accounts, as after an interrupted restore, which may be repeated. */
const isUnused = async (client: pg.ClientBase): Promise<boolean> => (await hasAccounts(client)) === false

/** Restores a backup of this or an older release into an empty database, and migrates it to this release's schema. */
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
      throw new StartError('The database is not empty. Restore into a new database.')
    await client.query(restoreMark.make)
  })
  const reached = await migrate(db, migrations, head.schema)
  if (reached !== head.schema)
    throw new StartError(
      `The backup has schema version ${head.schema}, but this release knows only ${reached}. Restore it with the release that wrote it or a newer one.`,
    )
  const loaded = await db.withClient((client) =>
    load(client, parts, { mayHoldKeys: head.encryption !== null, keepKeys }),
  )
  return { ...loaded, schema: await migrate(db, migrations) }
}
