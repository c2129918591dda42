import { fstatSync } from 'node:fs'
import { systemClock } from '../../clock.ts'
import { type Environment, type FactsDeps, noInterfaces, noWatchdog, type Platform, type System } from '../platform.ts'
import { createArrivals, listenToWindow } from './arrivals.ts'
import { windowsBoot } from './boot.ts'
import { createDpapi } from './dpapi.ts'
import { createDeviceApi } from './enforcement/device-api.ts'
import type { DeviceCalls } from './enforcement/device-calls.ts'
import { createWindowsEnforcement } from './enforcement/enforcement.ts'
import { createSystemDisks } from './enforcement/system-disks.ts'
import { createEventLog, createReportEvent } from './event-log.ts'
import { createWindowsFacts } from './facts.ts'
import { createFirmware } from './firmware.ts'
import { runsUnderWine } from './folder-security.ts'
import { createHubReader } from './hub.ts'
import { windowsScan } from './inventory.ts'
import { type Koffi, loadKoffi } from './koffi.ts'
import { updatedScript } from './launcher.ts'
import { createMessage } from './message.ts'
import { createPrepareStateDir } from './prepare-state-dir.ts'
import { createProcesses } from './processes.ts'
import { createRegistry } from './registry.ts'
import { createRegistryApi } from './registry-api.ts'
import { createSecrets } from './secrets.ts'
import { checkService } from './service-check.ts'
import { SERVICE_NAME } from './setup.ts'
import { createSetupApi, NEEDED_ENUMERATORS } from './setup-api.ts'
import { defaultStateDir } from './state-dir.ts'
import { answerVerification } from './verify.ts'

/** Interval at which a running agent looks for requests in its state directory. Windows has no signals. */
const REQUEST_MS = 1000

/** Architecture of builds for Windows, which are scripts for the Node of the package. */
export const ARCHITECTURE = `windows-${process.arch}`

const createPlatform = (koffi: Koffi, env: Environment, calls: DeviceCalls | undefined): Platform => {
  const registry = createRegistry(createRegistryApi(koffi))
  const setup = createSetupApi(koffi)
  const readHub = createHubReader(koffi)
  const firmware = createFirmware(koffi)
  const { gate, needs, inventory } = createWindowsEnforcement({
    registry,
    calls,
    clock: systemClock,
    nodes: setup.nodes,
    neededNodes: () => setup.nodes(NEEDED_ENUMERATORS),
    readHub,
    stamp: setup.stamp,
    systemDisks: createSystemDisks(koffi, registry, env.SystemRoot ?? 'C:\\Windows'),
  })
  const facts = (deps: FactsDeps) => createWindowsFacts({ ...deps, registry, firmware })
  const prepareStateDir = createPrepareStateDir(koffi)

  return {
    inventory,
    monitor: ({ onEvent, onState }) => {
      let arrivals: ReturnType<typeof createArrivals> | undefined
      return {
        start() {
          arrivals = createArrivals({ stamp: setup.stamp, onEvent, listen: (heard) => listenToWindow(koffi, heard) })
          onState(true)
        },
        stop: () => arrivals?.stop(),
      }
    },
    facts,
    boot: windowsBoot(registry),
    gate,
    interfaces: noInterfaces,
    needs,
    // The restrictions stay in force while the agent does not run.
    watchdog: () => noWatchdog,
    record: createEventLog(createReportEvent(koffi)),
    showMessage: createMessage(koffi),
    publicDir: undefined,
    secrets: createSecrets(createDpapi(koffi)),
    prepareStateDir,
    architecture: ARCHITECTURE,
    installation: (stateDir) => ({
      executable: updatedScript(stateDir),
      running: process.argv[1] ?? '',
      interpreter: process.execPath,
    }),
    answerRequest: ({ stateDir, version, signer }) =>
      answerVerification({
        ...{ stateDir, signer, agentVersion: version, now: systemClock.now },
        facts: facts({ agentVersion: version, localAddress: () => '', enforcement: gate.grade, releaseKey: () => '' })
          .collect,
        unsupported: () => gate.grade().reason || undefined,
        serviceFindings: () => checkService(registry, SERVICE_NAME, process.execPath),
        checkStateDir: () => prepareStateDir(stateDir),
        devices: () => [...windowsScan(setup.nodes(), readHub).devices.values()],
      }),
  }
}

/** Wine ends the process on most of these calls. */
const deviceCalls = (koffi: Koffi): DeviceCalls | undefined =>
  runsUnderWine(koffi) ? undefined : createDeviceApi(koffi)

/**
 * Returns the system for an environment, which contains the folder for program data.
 *
 * @param calls creates the calls that change devices; undefined if the host can only be monitored
 */
export const createWindows = (env: Environment, koffi: () => Koffi = loadKoffi, calls = deviceCalls): System => ({
  stateDir: defaultStateDir(env),
  commands: `\
  portcullis-agent verify [FILE]      verify this host for the enforcement of its Windows build
  portcullis-agent service-check      compare the installed service with what the agent needs
`,
  settings: [],
  // The ACL of the state directory protects its files.
  isPrivate: (fd) => fstatSync(fd).isFile(),
  processes: createProcesses(koffi),
  onRequest(handler) {
    const timer = setInterval(handler, REQUEST_MS)
    return () => clearInterval(timer)
  },
  request: () => undefined,
  restart: () => undefined,
  isAfterEnd: () => false,
  create: () => createPlatform(koffi(), env, calls(koffi())),
})
