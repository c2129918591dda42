/** Configuration, database and failures of commands that run on the server's machine. */
import { existsSync } from 'node:fs'
import { type Config, loadConfig } from '@portcullis/platform/server/config.ts'
import { connectionOf } from '@portcullis/platform/server/db/connection.ts'
import { createDb, type Db } from '@portcullis/platform/server/db/db.ts'
import { type OpenDatabase, openDatabase } from '@portcullis/platform/server/db/open-database.ts'
import { createLog, type Log } from '@portcullis/platform/server/log.ts'
import { runningEmbedded } from '@portcullis/platform/server/postgres/index.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'

/** Returns the configuration in the environment of this process. @throws StartError */
export const ownConfig = (): Config => loadConfig(process.env, process.getuid?.() === 0)

/** @throws StartError if the key file does not exist. A command that created one would sign what no server accepts. */
export const assertKeyFile = ({ keyFile }: Config): void => {
  if (!existsSync(keyFile))
    throw new StartError(
      `The key file ${keyFile} does not exist. Set PORTCULLIS_KEY_FILE to the key file of the server.`,
    )
}

/** Opens the database of this installation for a command, whether the server runs or not. */
export const openLocalDatabase = async (config: Config, log: Log): Promise<OpenDatabase> => {
  async function stop(): Promise<void> {}
  if (config.databaseUrl !== null) return { connection: connectionOf(config.databaseUrl.reveal(), log), stop }
  const running = runningEmbedded(config.dataDir)
  return running === null ? openDatabase(config, log) : { connection: { ...running.connection }, stop }
}

/** Provides a command with a database. `open`: by default, that of this installation, whether the server runs or not. */
export const withDatabase = async <T>(
  config: Config,
  { name, max = 2, open = openLocalDatabase }: { name: string; max?: number; open?: typeof openDatabase },
  work: (db: Db) => Promise<T>,
): Promise<T> => {
  const log = createLog('error')
  const database = await open(config, log)
  const db = createDb({ connection: database.connection, max, name, log, statementTimeoutMs: 0 })
  try {
    return await work(db)
  } finally {
    await db.close()
    await database.stop()
  }
}

type ErrorClass = new (...args: never[]) => Error

/** Returns the message of an error for the operator, and the stack trace of an unexpected one. */
export const problemOf = (error: unknown, ...kinds: readonly ErrorClass[]): string =>
  [StartError, ...kinds].some((kind) => error instanceof kind)
    ? (error as Error).message
    : String((error as Error).stack ?? error)

/** Runs a command. If it fails, prints why and exits with 1. `kinds`: errors for the operator besides StartError. */
export const runCommand = (work: () => Promise<void>, ...kinds: readonly ErrorClass[]): void => {
  work().catch((error: unknown) => {
    process.stderr.write(`${problemOf(error, ...kinds)}\n`)
    // A partly composed server has timers that keep the process alive.
    process.exit(1)
  })
}
