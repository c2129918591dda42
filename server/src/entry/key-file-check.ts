import { statSync } from 'node:fs'
import type { Config } from '@portcullis/platform/server/config.ts'
import { createClient } from '@portcullis/platform/server/db/connection.ts'
import { hasAccounts } from '@portcullis/platform/server/db/in-use.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import type pg from 'pg'

const isUsed = async (connection: pg.PoolConfig): Promise<boolean> => {
  const client = createClient({ ...connection, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await hasAccounts(client)) === true
  } catch (error) {
    throw new StartError(`The database cannot be read: ${(error as Error).message}.`)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Throws if the key file of a used database is missing. With a new one, the server could open no stored secret, and hosts
 * would obey none of its commands.
 * @throws StartError
 */
export const assertKeyFileOf = async (
  { keyFile, allowNewKey }: Pick<Config, 'keyFile' | 'allowNewKey'>,
  connection: pg.PoolConfig,
  log: Pick<Log, 'warn'>,
): Promise<void> => {
  const isMissing = (): boolean => statSync(keyFile, { throwIfNoEntry: false }) === undefined
  if (allowNewKey)
    log.warn({ keyFile, isMissing: isMissing() }, 'PORTCULLIS_ALLOW_NEW_KEY is set; remove it after this start')
  // Checked again last: another server that starts at the same time may just have created both.
  else if (isMissing() && (await isUsed(connection)) && isMissing())
    throw new StartError(
      `The key file ${keyFile} of this database does not exist: restore it from its copy, or, if no copy exists, set PORTCULLIS_ALLOW_NEW_KEY=1 for one start, which loses the stored secrets.`,
    )
}
