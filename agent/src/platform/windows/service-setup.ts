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
