import { fileURLToPath } from 'node:url'
import { systemClock } from '@portcullis/platform/server/clock.ts'
import { adminPassword, clientOf, noteAnswers } from '../proof/kit/harness.ts'
import { startTestApp, type TestAppOptions } from '../server/test/app.ts'

const built = (name: string): string => fileURLToPath(new URL(`../build/${name}`, import.meta.url))

export type ConsoleServer = Awaited<ReturnType<typeof startConsoleServer>>

/**
 * Starts the whole server with the built console in this process, on a clone of the migrated database. A process of its
 * own with a database of its own costs 5 s of processor time more; tests that stop or kill a server, or need its command
 * line, start one with `startServer`.
 */
export const startConsoleServer = async (options: Pick<TestAppOptions, 'natsUrl' | 'outboundAllow'> = {}) => {
  const app = await startTestApp({
    ...options,
    adminPassword,
    clock: { ...systemClock, advance: () => {} },
    listen: true,
    showsAddress: true,
    consoleDir: built('console'),
    helpDir: built('help'),
    agentBuildDir: built('agent'),
    logTo: { write: noteAnswers },
  })
  const stopTimers = app.startTimers()
  return {
    ...clientOf(app.address),
    dataDir: app.keyDir,
    connection: app.connection,
    stop: async () => {
      stopTimers()
      await app.close()
    },
  }
}
