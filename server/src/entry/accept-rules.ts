/** Runs `portcullis admin accept-rules`, after rules were changed in the database. */
import { parseArgs } from 'node:util'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { withOfflineServer } from './composed.ts'
import { runCommand } from './local.ts'

const listed = (lines: readonly string[]): string =>
  lines.length === 0 ? 'The rules match the history of the policy.\n' : `${lines.join('\n')}\n`

const run = async (): Promise<void> => {
  const { yes } = parseArgs({ options: { yes: { type: 'boolean', default: false } } }).values
  await withOfflineServer(async ({ policy: { integrity } }) => {
    if (!yes) {
      process.stdout.write(
        `${listed(await integrity.differences())}Nothing has changed. To accept the rules as they are stored, run this command again with --yes.\n`,
      )
      return
    }
    const differences = await integrity.accept(systemActor('command line'))
    process.stdout.write(
      `${listed(differences)}The rules are accepted as they are stored, and the audit trail records it. Start the server: it signs policies again.\n`,
    )
  })
}

runCommand(run)
