/** Runs `portcullis audit anchor` after a restore. It needs access to the machine and its key file. */
import { parseArgs } from 'node:util'
import { TrailFault } from '@portcullis/features/audit/server/index.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { withOfflineServer } from './composed.ts'

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

run().catch((error: unknown) => {
  const isPlain = error instanceof StartError || error instanceof TrailFault
  process.stderr.write(`${isPlain ? error.message : String((error as Error).stack ?? error)}\n`)
  // A partly composed server has timers that keep the process alive.
  process.exit(1)
})
