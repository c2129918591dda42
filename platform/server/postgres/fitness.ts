import { StartError } from '../start-error.ts'

/** One connection: a `pg` Client, not a Pool, because the checks use a transaction. */
export interface FitnessClient {
  query(text: string): Promise<{ rows: Record<string, unknown>[] }>
}

// The oldest version with MERGE and UNIQUE NULLS NOT DISTINCT; nothing newer is required.
const MIN_VERSION = 150_000

/**
 * Throws for a database on which the product would silently be wrong or lose data.
 * @param durable false only for throw-away test clusters
 * @throws StartError
 */
export async function assertDatabaseFitness(client: FitnessClient, options: { durable?: boolean } = {}): Promise<void> {
  const one = async (text: string) => Object.values((await client.query(text)).rows[0] ?? {})[0]

  const version = Number(await one('SHOW server_version_num'))
  if (!(version >= MIN_VERSION)) {
    throw new StartError(
      `The database runs PostgreSQL ${await one('SHOW server_version')}, but Portcullis needs 15 or newer.`,
    )
  }
  if ((await one('SHOW server_encoding')) !== 'UTF8') {
    throw new StartError('The database encoding is not UTF8. Create the database with ENCODING UTF8.')
  }
  if (options.durable !== false) {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      const value = await one(`SHOW ${setting}`)
      // Every other value waits at least for the local disk; only `off` may lose acknowledged data.
      if (value === 'off') {
        throw new StartError(`The database may lose acknowledged data, because ${setting} is off. Set it to on.`)
      }
    }
  }
  if ((await one("SELECT lower('Ä') = 'ä'")) !== true) {
    throw new StartError(
      "The database's locale cannot change the case of letters beyond ASCII (lower('Ä') is not 'ä'), so searches would miss " +
        'names. Create the database with a UTF-8 locale, for example LOCALE_PROVIDER builtin BUILTIN_LOCALE C.UTF-8.',
    )
  }
  await assertTrigrams(client)
}

async function assertTrigrams(client: FitnessClient): Promise<void> {
  let trigrams: unknown
  // A later migration creates the extension; here it is only tested and rolled back.
  await client.query('BEGIN')
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_trgm')
    trigrams = (await client.query("SELECT cardinality(show_trgm('ж')) AS n")).rows[0]?.n
  } catch (error) {
    throw new StartError(
      `The database cannot use the extension pg_trgm (${error instanceof Error ? error.message : String(error)}). ` +
        'Install it, or allow the user to create it.',
      { cause: error },
    )
  } finally {
    await client.query('ROLLBACK')
  }
  if (!(Number(trigrams) > 0)) {
    throw new StartError(
      "The database's locale creates no trigrams for letters beyond ASCII (show_trgm('ж') is empty). Create the database with a UTF-8 locale.",
    )
  }
}
