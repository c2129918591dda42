/** Runs the commands of `portcullis admin`, and `portcullis audit anchor`. They need the machine and its key file. */
import { parseArgs } from 'node:util'
import { TrailFault } from '@portcullis/features/audit/server/index.ts'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import type { Server } from '../compose.ts'
import { withOfflineServer } from './composed.ts'
import { openLocalDatabase, runCommand } from './local.ts'

const numberUpTo = (most: number, text: string, refusal: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1 || n > most) throw new StartError(refusal)
  return n
}

const optionsOf = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      user: { type: 'string', default: '' },
      hours: { type: 'string', default: '24' },
      minutes: { type: 'string', default: '60' },
      'revoke-tokens': { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
    },
  })
  return {
    command: positionals[0] ?? '',
    user: values.user,
    hours: numberUpTo(168, values.hours, '--hours must be a whole number from 1 to 168.'),
    minutes: numberUpTo(
      1_440,
      values.minutes,
      `--minutes must be a whole number from 1 to 1440, not "${values.minutes}".`,
    ),
    revokesTokens: values['revoke-tokens'],
    yes: values.yes,
  }
}

/** Returns what the command prints. */
type Command = (server: Server, options: ReturnType<typeof optionsOf>) => Promise<string>

const listed = (lines: readonly string[]): string =>
  lines.length === 0 ? 'The rules match the history of the policy.\n' : `${lines.join('\n')}\n`

/** The server of this machine must be stopped if it runs its own database. */
const whenStopped: Readonly<Record<string, Command>> = {
  'accept-rules': async ({ policy: { integrity } }, { yes }) =>
    yes
      ? `${listed(await integrity.accept(systemActor('command line')))}The rules are accepted as they are stored, and the audit trail records it. Start the server: it signs policies again.\n`
      : `${listed(await integrity.differences())}Nothing has changed. To accept the rules as they are stored, run this command again with --yes.\n`,

  'anchor-audit': async ({ checkpoints }) => {
    const { number, auditTrailID } = await checkpoints.reanchor()
    return number === 0
      ? 'The anchor contains no checkpoint. The server signs the trail from its first record.\n'
      : `The anchor is at checkpoint ${number}, which covers records up to ${auditTrailID}.\n`
  },

  'lift-second-approver': async ({ changeRequests }, { minutes }) => {
    const until = await changeRequests.lift(systemActor('command line'), minutes)
    return `No second approver is needed until ${until.toISOString()}. Start the server, disable accounts that nobody uses, and add an Administrator for another person. After that time, the requirement applies again as soon as two Administrators are enabled.\n`
  },

  'reset-password': async ({ accounts }, { user, revokesTokens }) => {
    const link = await accounts.resetPassword(user, revokesTokens)
    if (link === null) throw new StartError(`The local account "${user}" does not exist.`)
    const { revoked, left } = link.apiTokens
    return [
      `Account ${link.userName} is enabled. Start the server and set a new password within two days at\n${link.url}\n`,
      revoked > 0 ? `Revoked API tokens of the account: ${revoked}.\n` : '',
      left > 0
        ? `API tokens of the account that still work: ${left}. To revoke them, run this command with --revoke-tokens.\n`
        : '',
    ].join('')
  },
}

/** The server can keep running, because these commands work like a second replica. */
const whileRunning: typeof whenStopped = {
  'lift-suspension': async ({ accounts }, { user }) =>
    `Account ${(await accounts.liftSuspension(user)).userName} is no longer suspended.\n`,

  'reset-second-factor': async ({ accounts }, { user }) => {
    const { userName, reset } = await accounts.resetSecondFactor(user)
    return reset
      ? `The second factors of account ${userName} were removed. It can now sign in with its password alone.\n`
      : `Account ${userName} has no second factor.\n`
  },

  'exempt-second-factor': async ({ accounts }, { user, hours }) => {
    const { userName, until } = await accounts.exemptSecondFactor(user, hours)
    return `Account ${userName} may sign in without a second factor until ${until.toISOString()}. Set one up before then.\n`
  },
}

const run = async (): Promise<void> => {
  const options = optionsOf()
  const commands = new Map(Object.entries({ ...whenStopped, ...whileRunning }))
  const command = commands.get(options.command)
  if (command === undefined) throw new StartError(`Unknown command. Use ${[...commands.keys()].join(', ')}.`)
  await withOfflineServer(
    async (server) => {
      process.stdout.write(await command(server, options))
    },
    Object.hasOwn(whenStopped, options.command) ? undefined : openLocalDatabase,
  )
}

runCommand(run, TrailFault, AppError)
