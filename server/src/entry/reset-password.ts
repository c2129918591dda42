/** `portcullis admin reset-password`: the way back in for whoever holds the machine and its key file. */
import { parseArgs } from 'node:util'
import { StartError } from '#platform/start-error.ts'
import { withOfflineServer } from './composed.ts'

const run = async (): Promise<void> => {
  const { user } = parseArgs({ options: { user: { type: 'string', default: 'admin' } } }).values
  await withOfflineServer(async (server) => {
    const link = await server.accounts.resetPassword(user)
    if (link === null) throw new StartError(`There is no local account "${user}".`)
    process.stdout.write(
      `Account ${link.userName} is enabled. Start the server and set a new password within two days at\n${link.url}\n`,
    )
  })
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartError ? error.message : String((error as Error).stack ?? error)}\n`)
  // What was composed in part has timers that keep the process.
  process.exit(1)
})
