import type { Db } from '../db/db.ts'
import { migrate } from '../db/migrate.ts'
import { StartError } from '../start-error.ts'
import type { OpenArchive } from './archive.ts'
import { type Loaded, load } from './load.ts'

/** Fills an empty database from a backup, of this release or an older one, and brings it to this release's schema. */
export const restore = async (
  db: Db,
  migrations: string,
  { head, parts }: OpenArchive,
): Promise<Loaded & { schema: number }> => {
  await db.withClient(async (client) => {
    const { rows } = await client.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')",
    )
    if ((rows[0]?.n ?? 0) > 0) throw new StartError('The database is not empty. Restore into a new one.')
  })
  const reached = await migrate(db, migrations, head.schema)
  if (reached !== head.schema)
    throw new StartError(
      `The backup has schema version ${head.schema}, this release knows ${reached}. Restore it with the release that wrote it, or a newer one.`,
    )
  const loaded = await db.withClient((client) => load(client, parts, head.encryption !== null))
  return { ...loaded, schema: await migrate(db, migrations) }
}
