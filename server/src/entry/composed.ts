/** Composes the server of this checkout with the configuration of this machine. */
import { fileURLToPath } from 'node:url'
import { loadReleaseKey } from '@portcullis/features/builds/server/index.ts'
import { loadKnowledge } from '@portcullis/features/knowledge/server/index.ts'
import { systemClock } from '@portcullis/platform/server/clock.ts'
import type { Config } from '@portcullis/platform/server/config.ts'
import { openDatabase } from '@portcullis/platform/server/db/open-database.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { type ComposeOptions, compose, type Server } from '../compose.ts'
import { assertKeyFile, ownConfig } from './local.ts'

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

type Given = Pick<ComposeOptions, 'connection' | 'log' | 'tls' | 'reach' | 'validateResponses' | 'ownWorkerToken'>

export const composeFor = async (config: Config, given: Given): Promise<Server> =>
  compose({
    ...given,
    config,
    keys: loadKeys(config.keyFile),
    clock: systemClock,
    knowledge: await loadKnowledge(fromRoot('knowledge')),
    releaseKey: loadReleaseKey(config.releaseKeyFile, fromRoot('build/agent/manifest.json')),
    agentBuildDir: fromRoot('build/agent'),
    consoleDir: fromRoot('build/console'),
    helpDir: fromRoot('build/help'),
  })

/**
 * Provides a command with a server that does not listen, on the database and with the key file of this machine. `open`:
 * by default, the server of this machine must be stopped if it runs its own database.
 */
export const withOfflineServer = async (
  work: (server: Server) => Promise<void>,
  open: typeof openDatabase = openDatabase,
): Promise<void> => {
  const config = ownConfig()
  assertKeyFile(config)
  const log = createLog('error')
  const database = await open(config, log)
  try {
    const server = await composeFor(config, {
      connection: database.connection,
      log,
      tls: null,
      reach: () => ({ url: `http://${config.host}:${config.port}`, caKeyHash: null, reachableFromElsewhere: false }),
      validateResponses: false,
    })
    try {
      await work(server)
    } finally {
      await server.close()
    }
  } finally {
    await database.stop()
  }
}
