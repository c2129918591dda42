/**
 * Runs `portcullis admin lift-suspension`, `reset-second-factor` and `exempt-second-factor`: recovery without network
 * access. It can run beside a server, like a second replica.
 */
import { parseArgs } from 'node:util'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { withOfflineServer } from './composed.ts'
import { openLocalDatabase, runCommand } from './local.ts'

const hoursOf = (text: string): number => {
  const hours = Number(text)
  if (!Number.isInteger(hours) || hours < 1 || hours > 168)
    throw new StartError('--hours must be a whole number from 1 to 168.')
  return hours
}

const run = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { user: { type: 'string', default: '' }, hours: { type: 'string', default: '24' } },
  })
  const [what] = positionals
  const { user } = values
  const hours = hoursOf(values.hours)
  await withOfflineServer(async ({ accounts }) => {
    if (what === 'lift-suspension') {
      const { userName } = await accounts.liftSuspension(user)
      process.stdout.write(`Account ${userName} is no longer suspended.\n`)
    } else if (what === 'reset-second-factor') {
      const { userName, reset } = await accounts.resetSecondFactor(user)
      process.stdout.write(
        reset
          ? `The second factors of account ${userName} were removed. It can now sign in with its password alone.\n`
          : `Account ${userName} has no second factor.\n`,
      )
    } else if (what === 'exempt-second-factor') {
      const { userName, until } = await accounts.exemptSecondFactor(user, hours)
      process.stdout.write(
        `Account ${userName} may sign in without a second factor until ${until.toISOString()}. Set one up before then.\n`,
      )
    } else throw new StartError('Unknown command. Use lift-suspension, reset-second-factor or exempt-second-factor.')
  }, openLocalDatabase)
}

runCommand(run, AppError)
