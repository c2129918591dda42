/** `portcullis audit anchor`: after a restore, for whoever holds the machine and its key file. */
import { parseArgs } from 'node:util'
import { TrailFault } from '#features/system/audit/index.ts'
import { StartError } from '#platform/start-error.ts'
import { withOfflineServer } from './composed.ts'

const run = async (): Promise<void> => {
  parseArgs({ options: {} })
  await withOfflineServer(async (server) => {
    const { number, auditTrailID } = await server.checkpoints.reanchor()
    process.stdout.write(
      number === 0
        ? 'The anchor says that there is no checkpoint: the server signs the trail from its first record.\n'
        : `The anchor is at checkpoint ${number}, which covers records up to ${auditTrailID}.\n`,
    )
  })
}

run().catch((error: unknown) => {
  const isPlain = error instanceof StartError || error instanceof TrailFault
  process.stderr.write(`${isPlain ? error.message : String((error as Error).stack ?? error)}\n`)
  // What was composed in part has timers that keep the process.
  process.exit(1)
})
