import type { Config } from '@portcullis/platform/server/config.ts'
import { connectionOf } from '@portcullis/platform/server/db/connection.ts'
import { type OpenDatabase, openDatabase } from '@portcullis/platform/server/db/open-database.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import { runningEmbedded } from '@portcullis/platform/server/postgres/index.ts'

/** Opens the database of this installation for a command, whether the server runs or not. */
export const openLocalDatabase = async (config: Config, log: Log): Promise<OpenDatabase> => {
  async function stop(): Promise<void> {}
  if (config.databaseUrl !== null) return { connection: connectionOf(config.databaseUrl.reveal(), log), stop }
  const running = runningEmbedded(config.dataDir)
  return running === null ? openDatabase(config, log) : { connection: { ...running.connection }, stop }
}
