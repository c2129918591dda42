/** Starts the agent for Windows: as a service, as a program in a console, or for the installer. */
import { join } from 'node:path'
import pkg from '../../../../package.json' with { type: 'json' }
import { loadConfig } from '../../config.ts'
import { AgentExit, cannotStart, exitCodes, messageOf } from '../../exit.ts'
import { runProgram, startProgram } from '../../program.ts'
import { builtInReleaseKey, createReleaseKey } from '../../update/release-key.ts'
import type { Environment, System } from '../platform.ts'
import { createEventLog, createReportEvent } from './event-log.ts'
import { loadKoffi } from './koffi.ts'
import { launchNewest } from './launcher.ts'
import { createPrepareStateDir } from './prepare-state-dir.ts'
import { createRegistry } from './registry.ts'
import { createRegistryApi } from './registry-api.ts'
import { runService } from './service.ts'
import { createServiceApi } from './service-api.ts'
import { checkService } from './service-check.ts'
import { completeRepair } from './service-setup.ts'
import { runSetup, SERVICE_NAME } from './setup.ts'
import { forgetToken } from './setup-settings.ts'
import { defaultStateDir } from './state-dir.ts'
import { verifyHost } from './verify-command.ts'
import { ARCHITECTURE, createWindows } from './windows.ts'

/** Exit code of a service whose agent was replaced. The recovery actions start the new version. */
const REPLACED = 75

/**
 * Makes the settings folder private before the service reads it. If another user created the folder, its settings could
 * name another server, or any file as the token.
 */
const prepareSettings = (env: Environment): void => {
  const dir = defaultStateDir(env)
  try {
    createPrepareStateDir(loadKoffi())(dir)
  } catch (error) {
    throw cannotStart(`The state directory ${dir} cannot be used: ${messageOf(error)}.`)
  }
}

/** Runs the agent until Windows stops the service. */
const serve = async (env: Environment, windows: System, signal: AbortSignal): Promise<number> => {
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
    prepareSettings(env)
    completeService()
    forgetToken(windows.stateDir)
    const code = await runProgram([], env, system, stop)
    return isReplaced ? REPLACED : code
  } catch (error) {
    onFailure(messageOf(error))
    return error instanceof AgentExit ? error.code : exitCodes.cannotStart
  }
}

/** Writes a failure to the event log, because a service has no output. */
const onFailure = (message: string): void => {
  process.stderr.write(`portcullis-agent: ${message}\n`)
  createEventLog(createReportEvent(loadKoffi()))(JSON.stringify({ level: 'error', event: 'service_failed', message }))
}

/** Completes the service after a repair of the package. The agent also works without. */
const completeService = (): void => {
  try {
    const koffi = loadKoffi()
    completeRepair(koffi, createRegistry(createRegistryApi(koffi)), SERVICE_NAME, process.execPath)
  } catch (error) {
    onFailure(messageOf(error))
  }
}

/** Returns whether an update runs instead of this version. */
const launched = (env: Environment, windows: System): boolean => {
  try {
    prepareSettings(env)
    const { stateDir } = loadConfig([], env, windows)
    return launchNewest({
      ...{ stateDir, packaged: process.argv[1] ?? '', version: pkg.version, architecture: ARCHITECTURE, onFailure },
      trusted: createReleaseKey({ builtIn: builtInReleaseKey(), stateDir }).trusted(),
      prepareStateDir: createPrepareStateDir(loadKoffi()),
    })
  } catch {
    // The agent itself reports invalid settings.
    return false
  }
}

/** Prints the differences between the installed service and the one that the agent needs. */
const printServiceCheck = (): void => {
  const findings = checkService(createRegistry(createRegistryApi(loadKoffi())), SERVICE_NAME, process.execPath)
  for (const { code, message } of findings) process.stdout.write(`${code}: ${message}\n`)
  if (findings.length === 0) process.stdout.write(`The service ${SERVICE_NAME} is installed correctly.\n`)
  else process.exitCode = exitCodes.cannotStart
}

/** Runs a command of the installer. Returns false for other commands. */
const setUp = (env: Environment): boolean => {
  try {
    return runSetup(process.argv.slice(2), env)
  } catch (error) {
    process.exitCode = exitCodes.cannotStart
    process.stderr.write(`portcullis-agent: ${messageOf(error)}\n`)
    return true
  }
}

/** Ends the process with the message of an error. */
const fail = (error: unknown): never => {
  process.stderr.write(`portcullis-agent: ${messageOf(error)}\n`)
  process.exit(error instanceof AgentExit ? error.code : exitCodes.cannotStart)
}

/** Runs the Windows verification on this host. */
const verify = async (env: Environment, windows: System): Promise<void> => {
  await verifyHost(process.argv.slice(3), loadConfig(['status'], env, windows).stateDir)
  process.exit(exitCodes.ok)
}

/**
 * Runs the command line of this process.
 *
 * @param calls creates the calls that change devices; the calls of Windows by default
 */
export const startWindows = (environment: Environment, calls?: Parameters<typeof createWindows>[2]): void => {
  // Windows Installer reads the exit code.
  if (setUp(environment)) return
  const env = { PORTCULLIS_AGENT_CONFIG: join(defaultStateDir(environment), 'agent.env'), ...environment }
  const windows = createWindows(env, loadKoffi, calls)
  if (process.argv[2] === 'verify') verify(env, windows).catch(fail)
  else if (process.argv[2] === 'service-check') printServiceCheck()
  else if (process.argv[2] !== 'service') startProgram(env, windows)
  else if (!launched(env, windows))
    void runService({
      control: createServiceApi(loadKoffi(), SERVICE_NAME),
      main: (signal) => serve(env, windows, signal),
      finalCodes: [exitCodes.enrolmentRefused, exitCodes.revoked],
      onFailure,
    })
}
