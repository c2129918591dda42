/** The commands of the Windows installer. They write the settings and remove the files and values of the agent. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { cannotStart, messageOf } from '../../exit.ts'
import { BOOT_KEY } from './boot.ts'
import { restoreBefore } from './enforcement/restrictions.ts'
import { createReportEvent, registerEventSource, removeEventSource } from './event-log.ts'
import { loadKoffi } from './koffi.ts'
import { createPrepareStateDir } from './prepare-state-dir.ts'
import { createRegistry } from './registry.ts'
import { createRegistryApi } from './registry-api.ts'
import { relatedProducts } from './related-products.ts'
import { createServiceControl, setUpService } from './service-setup.ts'
import { completeSettings, parseSettings, writeSettings } from './setup-settings.ts'
import { defaultStateDir } from './state-dir.ts'

type Environment = Readonly<Record<string, string | undefined>>

export const SERVICE_NAME = 'PortcullisAgent'

/** The changes of an installation to Windows, apart from its own files. */
export interface SetupDeps {
  /** Creates the state directory with access for SYSTEM and Administrators only. */
  prepareStateDir(dir: string): void
  /** Completes the service and registers the source of its events. */
  setUpService(): void
  /** Stops the service and waits until it has stopped. @throws AgentExit(1) if Windows refuses */
  stopService(): void
  /** Starts the service. @throws AgentExit(1) if Windows refuses */
  startService(): void
  /**
   * Frees the host, and removes what the agent wrote to the registry: restrictions, the source of its events.
   *
   * @param hasState whether the agent can use its state directory
   */
  cleanRegistry(hasState: boolean): void
  /** Returns the product codes of the installed versions. */
  relatedProducts(upgradeCode: string): string[]
  /** Writes an error to the event log. Windows Installer discards the output of programs. */
  reportError(message: string): void
  /** Writes information to the event log. */
  reportNote(message: string): void
}

/** EVENTLOG_ERROR_TYPE and EVENTLOG_INFORMATION_TYPE, and the numbers of the events in the documentation. */
const ERROR_TYPE = 1
const NOTE_TYPE = 4
const REFUSED_EVENT = 80
const IGNORED_EVENT = 81
const TOKEN_IGNORED =
  'This host is enrolled, so it keeps its identity and ignores the token. To enrol it at another server, uninstall the agent first.'
/** Time limit for freeing the host. Windows Installer waits for it. */
const RELEASE_MS = 60_000

const systemDeps = (): SetupDeps => {
  const koffi = loadKoffi()
  const registry = createRegistry(createRegistryApi(koffi))
  const service = createServiceControl(koffi, SERVICE_NAME)
  return {
    prepareStateDir: createPrepareStateDir(koffi),
    setUpService() {
      setUpService(koffi, registry, SERVICE_NAME, process.execPath)
      registerEventSource(registry)
    },
    stopService: service.stop,
    startService: service.start,
    cleanRegistry(hasState) {
      // The command of the agent also enables the devices that it disabled.
      const [, script = ''] = process.argv
      const args = [...process.execArgv, script, 'release']
      if (hasState) spawnSync(process.execPath, args, { stdio: 'ignore', timeout: RELEASE_MS })
      restoreBefore(registry)
      removeEventSource(registry)
      registry.removeTree(BOOT_KEY)
    },
    relatedProducts: (upgradeCode) => relatedProducts(koffi, upgradeCode),
    reportError: (message) => void createReportEvent(koffi)(ERROR_TYPE, REFUSED_EVENT, message),
    reportNote: (message) => void createReportEvent(koffi)(NOTE_TYPE, IGNORED_EVENT, message),
  }
}

/** Runs a command, and writes a refusal to the event log. */
const reported = (deps: SetupDeps, run: () => void): void => {
  try {
    run()
  } catch (error) {
    deps.reportError(`The installation was refused. ${messageOf(error)}`)
    throw error
  }
}

const configure = (settings: ReturnType<typeof parseSettings>, stateDir: string, deps: SetupDeps): void => {
  const complete = completeSettings(settings, stateDir)
  deps.setUpService()
  if (complete === undefined) return
  try {
    deps.prepareStateDir(stateDir)
  } catch (error) {
    throw cannotStart(`The state directory ${stateDir} cannot be used: ${messageOf(error)}.`)
  }
  writeSettings(complete, stateDir)
  if (complete.isEnrolled && complete.token !== undefined) deps.reportNote(TOKEN_IGNORED)
}

/**
 * Changes the settings of an installed agent. Stops the service in the meantime, so that it cannot enrol between the
 * check and the change.
 */
const reconfigure = (settings: ReturnType<typeof parseSettings>, stateDir: string, deps: SetupDeps): void => {
  deps.stopService()
  try {
    configure(settings, stateDir, deps)
  } finally {
    deps.startService()
  }
}

/**
 * Removes everything that the agent wrote. Does not touch a directory of another user, which could redirect it to other
 * files.
 */
const removeAll = (stateDir: string, deps: SetupDeps): void => {
  let isOurs = existsSync(stateDir)
  try {
    if (isOurs) deps.prepareStateDir(stateDir)
  } catch (error) {
    isOurs = false
    deps.reportError(`The state directory ${stateDir} was not removed: ${messageOf(error)}.`)
  }
  // Before the state is removed, because the agent needs it to free the host.
  deps.cleanRegistry(isOurs)
  if (isOurs) rmSync(stateDir, { recursive: true, force: true, maxRetries: 10 })
}

/**
 * Runs a command of the Windows installer. Returns false for other commands.
 *
 * - `configure` and values: writes the settings of an installation. A refusal changes no setting.
 * - `reconfigure` and values: the same for an installed agent, and restarts its service. It runs with the rights of the
 *   user, because Windows lets every user repair an installed package with values.
 * - `roll-back` and the upgrade code: removes the settings of an installation that failed, unless another version uses them.
 * - `purge` and the upgrade code: removes everything that the agent wrote, unless another version replaces this one.
 *
 * @throws AgentExit(1) with the reason, so that the installation is rolled back. It never contains a secret.
 */
export const runSetup = ([command, ...values]: readonly string[], env: Environment, create = systemDeps): boolean => {
  const stateDir = defaultStateDir(env)
  const [upgradeCode = ''] = values
  if (command === 'configure' || command === 'reconfigure') {
    const deps = create()
    const run = command === 'configure' ? configure : reconfigure
    reported(deps, () => run(parseSettings(values), stateDir, deps))
  } else if (command === 'roll-back' || command === 'purge') {
    const deps = create()
    // Windows Installer registers a new version before it removes the old one.
    const remaining = deps.relatedProducts(upgradeCode).length - (command === 'purge' ? 1 : 0)
    if (remaining > 0) return true
    removeAll(stateDir, deps)
  } else return false
  return true
}
