/** Entry of the agent for Windows: as a service, as a program in a console, or for the installer. */
import { join } from 'node:path'
import { AgentExit, exitCodes, messageOf } from '../../exit.ts'
import { runProgram, startProgram } from '../../program.ts'
import type { Environment } from '../platform.ts'
import { loadKoffi } from './koffi.ts'
import { runService } from './service.ts'
import { createServiceApi } from './service-api.ts'
import { runSetup, SERVICE_NAME } from './setup.ts'
import { defaultStateDir } from './state-dir.ts'
import { createWindows } from './windows.ts'

/** Exit code of a service whose agent was replaced. The recovery actions start the new version. */
const REPLACED = 75

const env: Environment = { PORTCULLIS_AGENT_CONFIG: join(defaultStateDir(process.env), 'agent.env'), ...process.env }
const windows = createWindows(env)

/** Runs the agent until Windows stops the service. */
const serve = async (signal: AbortSignal): Promise<number> => {
  let isReplaced = false
  const stop = new AbortController()
  signal.addEventListener('abort', () => stop.abort())
  const system = {
    ...windows,
    restart: () => {
      isReplaced = true
    },
  }
  try {
    const code = await runProgram([], env, system, stop)
    return isReplaced ? REPLACED : code
  } catch (error) {
    process.stderr.write(`portcullis-agent: ${messageOf(error)}\n`)
    return error instanceof AgentExit ? error.code : exitCodes.cannotStart
  }
}

/** Runs a command of the installer. Returns false for other commands. */
const setUp = (): boolean => {
  try {
    return runSetup(process.argv.slice(2), process.env)
  } catch (error) {
    process.exitCode = exitCodes.cannotStart
    process.stderr.write(`portcullis-agent: ${messageOf(error)}\n`)
    return true
  }
}

if (setUp()) {
  // Windows Installer reads the exit code.
} else if (process.argv[2] === 'service')
  void runService({
    control: createServiceApi(loadKoffi(), SERVICE_NAME),
    main: serve,
    finalCodes: [exitCodes.enrolmentRefused, exitCodes.revoked],
    onFailure: (message) => process.stderr.write(`portcullis-agent: ${message}\n`),
  })
else startProgram(env, windows)
