/** `portcullis audit anchor`: after a restore, for whoever holds the machine and its key file. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { TrailFault } from '#features/audit/index.ts'
import { loadKnowledge } from '#features/knowledge/index.ts'
import { systemClock } from '#platform/clock.ts'
import { loadConfig } from '#platform/config.ts'
import { openDatabase } from '#platform/db/open-database.ts'
import { loadKeys } from '#platform/keys.ts'
import { createLog } from '#platform/log.ts'
import { StartError } from '#platform/start-error.ts'
import { compose } from '../compose.ts'

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const run = async (): Promise<void> => {
  parseArgs({ options: {} })
  const config = loadConfig(process.env, process.getuid?.() === 0)
  // An anchor by a new key file would be one that no server takes.
  if (!existsSync(config.keyFile))
    throw new StartError(`There is no key file ${config.keyFile}. Set PORTCULLIS_KEY_FILE to that of the server.`)
  const log = createLog('error')
  const database = await openDatabase(config, log)
  try {
    const server = await compose({
      config,
      connection: database.connection,
      keys: loadKeys(config.keyFile),
      clock: systemClock,
      log,
      knowledge: await loadKnowledge(fromRoot('knowledge')),
      tls: null,
      reach: () => ({ url: `http://${config.host}:${config.port}`, caKeyHash: null, reachableFromElsewhere: false }),
      agentBuildDir: fromRoot('build/agent'),
      consoleDir: fromRoot('build/console'),
      validateResponses: false,
    })
    try {
      const { number, auditTrailID } = await server.checkpoints.reanchor()
      process.stdout.write(
        number === 0
          ? 'The anchor says that there is no checkpoint: the server signs the trail from its first record.\n'
          : `The anchor is at checkpoint ${number}, which covers records up to ${auditTrailID}.\n`,
      )
    } finally {
      await server.close()
    }
  } finally {
    await database.stop()
  }
}

run()
  .catch((error: unknown) => {
    const isPlain = error instanceof StartError || error instanceof TrailFault
    process.stderr.write(`${isPlain ? error.message : String((error as Error).stack ?? error)}\n`)
    process.exitCode = 1
  })
  // Server and database are closed by now; a composed server that never listened leaves something that keeps the process.
  .finally(() => process.exit())
