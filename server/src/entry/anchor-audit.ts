/** Runs `portcullis audit anchor` after a restore. It needs access to the machine and its key file. */
import { parseArgs } from 'node:util'
import { TrailFault } from '@portcullis/features/audit/server/index.ts'
import { withOfflineServer } from './composed.ts'
import { runCommand } from './local.ts'

const run = async (): Promise<void> => {
  parseArgs({ options: {} })
  await withOfflineServer(async (server) => {
    const { number, auditTrailID } = await server.checkpoints.reanchor()
    process.stdout.write(
      number === 0
        ? 'The anchor contains no checkpoint. The server signs the trail from its first record.\n'
        : `The anchor is at checkpoint ${number}, which covers records up to ${auditTrailID}.\n`,
    )
  })
}

runCommand(run, TrailFault)
