import type { Config } from '#platform/config.ts'
import { connectionOf } from '#platform/db/connection.ts'
import { type OpenDatabase, openDatabase } from '#platform/db/open-database.ts'
import type { Log } from '#platform/log.ts'
import { runningEmbedded } from '#platform/postgres/index.ts'

/** Opens the database of this installation for a command, whether the server runs or not. */
export const openLocalDatabase = async (config: Config, log: Log): Promise<OpenDatabase> => {
  async function stop(): Promise<void> {}
  if (config.databaseUrl !== null) return { connection: connectionOf(config.databaseUrl.reveal(), log), stop }
  const running = runningEmbedded(config.dataDir)
  return running === null ? openDatabase(config, log) : { connection: { ...running.connection }, stop }
}
