/** Runs `portcullis admin reset-password`: recovery for operators with access to the machine and its key file. */
import { parseArgs } from 'node:util'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { withOfflineServer } from './composed.ts'
import { runCommand } from './local.ts'

const run = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { user: { type: 'string', default: 'admin' }, 'revoke-tokens': { type: 'boolean', default: false } },
  })
  const { user } = values
  await withOfflineServer(async (server) => {
    const link = await server.accounts.resetPassword(user, values['revoke-tokens'])
    if (link === null) throw new StartError(`The local account "${user}" does not exist.`)
    const { revoked, left } = link.apiTokens
    const ofTokens = [
      ...(revoked > 0 ? [`Revoked API tokens of the account: ${revoked}.`] : []),
      ...(left > 0
        ? [`API tokens of the account that still work: ${left}. To revoke them, run this command with --revoke-tokens.`]
        : []),
    ]
    process.stdout.write(
      `Account ${link.userName} is enabled. Start the server and set a new password within two days at\n${link.url}\n${ofTokens.map((line) => `${line}\n`).join('')}`,
    )
  })
}

runCommand(run)
