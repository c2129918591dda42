/** Runs `portcullis admin lift-second-approver`, for installations that no longer have a second Administrator. */
import { parseArgs } from 'node:util'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { withOfflineServer } from './composed.ts'
import { runCommand } from './local.ts'

const mostMinutes = 1_440

const run = async (): Promise<void> => {
  const { minutes } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } }).values
  const n = Number(minutes)
  if (!Number.isInteger(n) || n < 1 || n > mostMinutes)
    throw new StartError(`--minutes must be a whole number from 1 to ${mostMinutes}, not "${minutes}".`)
  await withOfflineServer(async (server) => {
    const until = await server.changeRequests.lift(systemActor('command line'), n)
    process.stdout.write(
      `No second approver is needed until ${until.toISOString()}. Start the server, disable accounts that nobody uses, and add an Administrator for another person. After that time, the requirement applies again as soon as two Administrators are enabled.\n`,
    )
  })
}

runCommand(run)
