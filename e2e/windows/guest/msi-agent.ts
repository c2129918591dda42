/** Runs under Wine in place of the agent: the commands of the installer, and a service that only waits. */
import { appendFileSync } from 'node:fs'
import { AgentExit } from '../../../agent/src/exit.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { runService } from '../../../agent/src/platform/windows/service.ts'
import { createServiceApi } from '../../../agent/src/platform/windows/service-api.ts'
import { runSetup, SERVICE_NAME } from '../../../agent/src/platform/windows/setup.ts'

const main = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(0)))

try {
  const isSetup = runSetup(process.argv.slice(2), process.env)
  if (!isSetup) void runService({ control: createServiceApi(loadKoffi(), SERVICE_NAME), main, onFailure: () => {} })
} catch (error) {
  // Windows Installer discards the output of programs.
  appendFileSync('C:\\refused.txt', `${error instanceof AgentExit ? error.message : error}\n`)
  process.exitCode = 1
}
