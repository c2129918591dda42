import { StartError } from '../start-error.ts'

/** One connection: a `pg` Client fits, a Pool does not (the checks use a transaction). */
export interface FitnessClient {
  query(text: string): Promise<{ rows: Record<string, unknown>[] }>
}

// The oldest with MERGE and UNIQUE NULLS NOT DISTINCT; nothing newer is used.
const MIN_VERSION = 150_000

/**
 * Refuses a database on which the product would be wrong or lose data without saying so.
 * @param durable false only for throw-away test clusters.
 * @throws StartError
 */
export async function assertDatabaseFitness(client: FitnessClient, options: { durable?: boolean } = {}): Promise<void> {
  const one = async (text: string) => Object.values((await client.query(text)).rows[0] ?? {})[0]

  const version = Number(await one('SHOW server_version_num'))
  if (!(version >= MIN_VERSION)) {
    throw new StartError(
      `The database is PostgreSQL ${await one('SHOW server_version')}; Portcullis needs 15 or newer.`,
    )
  }
  if ((await one('SHOW server_encoding')) !== 'UTF8') {
    throw new StartError('The database is not encoded in UTF8: create it with ENCODING UTF8.')
  }
  if (options.durable !== false) {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      const value = await one(`SHOW ${setting}`)
      // Every other value waits for the local disk at least; only `off` acknowledges what may be lost.
      if (value === 'off') {
        throw new StartError(`The database has ${setting} off and may lose what it has acknowledged: set it to on.`)
      }
    }
  }
  if ((await one("SELECT lower('Ä') = 'ä'")) !== true) {
    throw new StartError(
      "The database's locale cannot fold letters beyond ASCII (lower('Ä') is not 'ä'), so searches would miss " +
        'names: create it with a UTF-8 locale, for example LOCALE_PROVIDER builtin BUILTIN_LOCALE C.UTF-8.',
    )
  }
  await assertTrigrams(client)
}

async function assertTrigrams(client: FitnessClient): Promise<void> {
  let trigrams: unknown
  // The extension is made by a migration, which comes later: tried here and taken back.
  await client.query('BEGIN')
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_trgm')
    trigrams = (await client.query("SELECT cardinality(show_trgm('ж')) AS n")).rows[0]?.n
  } catch (error) {
    throw new StartError(
      `The database has no usable extension pg_trgm (${error instanceof Error ? error.message : String(error)}): ` +
        'install it, or let the user create it.',
      { cause: error },
    )
  } finally {
    await client.query('ROLLBACK')
  }
  if (!(Number(trigrams) > 0)) {
    throw new StartError(
      "The database's locale makes no trigrams of letters beyond ASCII (show_trgm('ж') is empty): create it with a UTF-8 locale.",
    )
  }
}
