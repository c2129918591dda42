/** Completes the Windows service that the installer created: a quoted command line and recovery actions. */
import { cannotStart } from '../../exit.ts'
import type { Koffi } from './koffi.ts'
import type { Registry } from './registry.ts'
import { checkService } from './service-check.ts'

const ALL_ACCESS = 0xf003f
const NO_CHANGE = 0xffffffff
/** SERVICE_CONFIG_FAILURE_ACTIONS and SERVICE_CONFIG_FAILURE_ACTIONS_FLAG. */
const FAILURE_ACTIONS = 2
const FAILURE_ACTIONS_FLAG = 4
const RESTART = 1
/** Delays in ms before the first, the second and each later restart. */
const DELAYS = [1000, 5000, 60_000]
/** Time in seconds without a failure after which Windows resets the failure count. */
const RESET_SECONDS = 86_400

/** Returns the command line with its program in quotation marks. */
export const quoteProgram = (path: string): string =>
  path.startsWith('"') ? path : path.replace(/^.*?\.exe(?= |$)/i, (program) => `"${program}"`)

const createApi = (koffi: Koffi) => {
  koffi.struct('SC_ACTION', { type: 'uint32', delay: 'uint32' })
  koffi.struct('SERVICE_FAILURE_ACTIONSW', {
    reset: 'uint32',
    message: 'str16',
    command: 'str16',
    count: 'uint32',
    actions: 'SC_ACTION*',
  })
  const library = koffi.load('advapi32.dll')
  return {
    openManager: library.func('void* OpenSCManagerW(void* machine, void* database, uint32 access)'),
    open: library.func('void* OpenServiceW(void* manager, str16 name, uint32 access)'),
    close: library.func('bool CloseServiceHandle(void* handle)'),
    change: library.func(
      'bool ChangeServiceConfigW(void* service, uint32 type, uint32 start, uint32 error, str16 path, void* group, void* tag, void* dependencies, void* account, void* password, void* name)',
    ),
    setActions: library.func(
      'bool ChangeServiceConfig2W(void* service, uint32 level, SERVICE_FAILURE_ACTIONSW* value)',
    ),
    setFlag: library.func('bool ChangeServiceConfig2W(void* service, uint32 level, uint32* value)'),
  }
}

/** SERVICE_STOP, SERVICE_START and SERVICE_QUERY_STATUS. */
const CONTROL_ACCESS = 0x20 | 0x10 | 0x4
const CONTROL_STOP = 1
const STOPPED = 1
const START_PENDING = 2
/** Length of SERVICE_STATUS. The second number is the state. */
const STATUS_BYTES = 28
const CONTROL_LIMIT_MS = 30_000
const CONTROL_POLL_MS = 100

/** Stops and starts a service, and waits until Windows has done it. */
export const createServiceControl = (koffi: Koffi, name: string) => {
  function using(work: (state: () => number, call: { stop(): boolean; start(): boolean }) => void): void {
    const library = koffi.load('advapi32.dll')
    const close = library.func('bool CloseServiceHandle(void* handle)')
    const query = library.func('bool QueryServiceStatus(void* service, _Out_ uint8_t* status)')
    const stop = library.func('bool ControlService(void* service, uint32 control, _Out_ uint8_t* status)')
    const start = library.func('bool StartServiceW(void* service, uint32 count, void* arguments)')
    const manager = library.func('void* OpenSCManagerW(void* machine, void* database, uint32 access)')(null, null, 1)
    const service =
      manager === null
        ? null
        : library.func('void* OpenServiceW(void* manager, str16 name, uint32 access)')(manager, name, CONTROL_ACCESS)
    try {
      if (service === null)
        throw cannotStart(`Windows refused to control the service ${name}. Run the command as Administrator.`)
      const status = Buffer.alloc(STATUS_BYTES)
      const state = (): number => (query(service, status) === true ? status.readUInt32LE(4) : 0)
      work(state, {
        stop: () => stop(service, CONTROL_STOP, status) === true,
        start: () => start(service, 0, null) === true,
      })
    } finally {
      for (const handle of [service, manager]) if (handle !== null) close(handle)
    }
  }

  /** Waits without an event loop, because Windows Installer waits for this process. */
  function waitUntil(isDone: () => boolean, message: string): void {
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (let waited = 0; !isDone(); waited += CONTROL_POLL_MS) {
      if (waited >= CONTROL_LIMIT_MS) throw cannotStart(message)
      Atomics.wait(pause, 0, 0, CONTROL_POLL_MS)
    }
  }

  return {
    /** @throws AgentExit(1) if the service does not stop */
    stop: (): void =>
      using((state, call) => {
        if (state() === STOPPED) return
        call.stop()
        waitUntil(() => state() === STOPPED, `The service ${name} did not stop. Stop it and try again.`)
      }),
    /** A service that stops at once, for example because the server refuses the token, counts as started. */
    start: (): void =>
      using((state, call) => {
        if (state() !== STOPPED) return
        if (!call.start())
          throw cannotStart(`Windows refused to start the service ${name}. Start it and read its events.`)
        waitUntil(() => state() !== START_PENDING, `The service ${name} did not start. Start it and read its events.`)
      }),
  }
}

/**
 * Puts the program of a service in quotation marks and sets its recovery actions. Without quotation marks, Windows
 * could start `C:\Program.exe`. Then reads the service back.
 *
 * @param program path of the program that the service must start
 * @returns messages about recovery actions that Windows did not store
 * @throws AgentExit(1) if the service is missing or its program is not in quotation marks
 */
export const setUpService = (koffi: Koffi, registry: Registry, name: string, program: string): string[] => {
  const api = createApi(koffi)
  const key = `HKLM\\SYSTEM\\CurrentControlSet\\Services\\${name}` as const
  const manager = api.openManager(null, null, ALL_ACCESS)
  const service = manager === null ? null : api.open(manager, name, ALL_ACCESS)
  try {
    const path = quoteProgram(registry.readText(key, 'ImagePath') ?? '')
    const actions = DELAYS.map((delay) => ({ type: RESTART, delay }))
    const isChanged =
      service !== null && api.change(service, NO_CHANGE, NO_CHANGE, NO_CHANGE, path, null, null, null, null, null, null)
    if (!isChanged) throw cannotStart(`Windows refused to change the service ${name}.`)
    // If Windows does not store them, the caller only reports it, because the agent works without them.
    const reset = RESET_SECONDS
    api.setActions(service, FAILURE_ACTIONS, { reset, message: null, command: null, count: actions.length, actions })
    api.setFlag(service, FAILURE_ACTIONS_FLAG, [1])
  } finally {
    for (const handle of [service, manager]) if (handle !== null) api.close(handle)
  }
  const findings = checkService(registry, name, program)
  const wrong = findings.find(({ code }) => !code.startsWith('recovery_'))
  if (wrong !== undefined) throw cannotStart(wrong.message)
  return findings.map(({ message }) => message)
}

/**
 * Puts the program of the service in quotation marks if a repair of the package removed them. The service does this
 * itself: every user can start a repair, so the package must not run a program as LocalSystem there.
 *
 * @throws AgentExit(1) if Windows refuses
 */
export const completeRepair = (koffi: Koffi, registry: Registry, name: string, program: string): void => {
  const findings = checkService(registry, name, program)
  if (findings.some(({ code }) => code === 'image_path_unquoted')) setUpService(koffi, registry, name, program)
}
