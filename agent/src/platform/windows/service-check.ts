/** Checks how the service is installed, because other programs and people may change it. */
import {
  dwordOf,
  type Registry,
  RegistryFault,
  type RegistryKey,
  type RegistryValue,
  textOf,
  VALUE_TYPES,
} from './registry.ts'

const SERVICES = 'HKLM\\SYSTEM\\CurrentControlSet\\Services'
const OWN_PROCESS = 0x10
const AUTOMATIC = 2
/** SC_ACTION_RESTART. */
const RESTART = 1
const MAX_ACTIONS = 16

export interface ServiceFinding {
  code:
    | 'service_missing'
    | 'service_unreadable'
    | 'image_path_unquoted'
    | 'image_path_foreign'
    | 'service_account'
    | 'service_start'
    | 'service_type'
    | 'recovery_missing'
    | 'recovery_only_after_crash'
  /** Cause and cure, for the operator. */
  message: string
}

/**
 * Returns the types of the recovery actions (SC_ACTION_TYPE). The value is a SERVICE_FAILURE_ACTIONS of 32 bits: five
 * numbers, then pairs of type and delay. The fourth number is the count. Undefined if it is malformed.
 */
const actionsOf = ({ type, data }: RegistryValue): number[] | undefined => {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (type !== VALUE_TYPES.binary || bytes.length < 20) return undefined
  const count = bytes.readUInt32LE(12)
  if (count > MAX_ACTIONS || bytes.length < 20 + 8 * count) return undefined
  return Array.from({ length: count }, (_, index) => bytes.readUInt32LE(20 + 8 * index))
}

/** Returns the program of a command line as Windows starts it, and whether it is quoted. */
const programOf = (imagePath: string): { path: string; isQuoted: boolean } => {
  const quoted = /^"([^"]*)"/.exec(imagePath)?.[1]
  return quoted === undefined
    ? { path: imagePath.split(' ', 1)[0] ?? '', isQuoted: false }
    : { path: quoted, isQuoted: true }
}

/**
 * Compares the installed service with what the agent needs. Returns an empty list if nothing differs.
 *
 * @param program path of the program that the service must start
 */
export const checkService = (registry: Registry, name: string, program: string): ServiceFinding[] => {
  const key = `${SERVICES}\\${name}` satisfies RegistryKey
  const findings: ServiceFinding[] = []
  const find = (code: ServiceFinding['code'], message: string): void => void findings.push({ code, message })

  let values: Map<string, RegistryValue>
  try {
    values = new Map(registry.list(key).map((value) => [value.name.toLowerCase(), value]))
  } catch (error) {
    if (!(error instanceof RegistryFault)) throw error
    find('service_unreadable', `Cannot read the service ${name}: ${error.message}`)
    return findings
  }
  if (values.size === 0) {
    find('service_missing', `The service ${name} does not exist. Install the agent again.`)
    return findings
  }
  const text = (of: string): string | undefined => {
    const value = values.get(of)
    return value && textOf(value)
  }
  const number = (of: string): number | undefined => {
    const value = values.get(of)
    return value && dwordOf(value)
  }

  const { path, isQuoted } = programOf(text('imagepath') ?? '')
  if (!isQuoted)
    find(
      'image_path_unquoted',
      `The ImagePath of ${name} is not in quotation marks, so Windows may start another program. Put the path of the program in quotation marks.`,
    )
  else if (path.toLowerCase() !== program.toLowerCase())
    find(
      'image_path_foreign',
      `The service ${name} starts ${JSON.stringify(path.slice(0, 260))} instead of ${program}. Install the agent again.`,
    )
  if (text('objectname')?.toLowerCase() !== 'localsystem')
    find('service_account', `The service ${name} does not run as LocalSystem. Set the account to LocalSystem.`)
  if (number('start') !== AUTOMATIC)
    find('service_start', `The service ${name} does not start automatically. Set its start type to automatic.`)
  if (number('type') !== OWN_PROCESS)
    find('service_type', `The service ${name} shares its process with other services. Install the agent again.`)

  const actions = values.get('failureactions')
  const [first, ...more] = (actions && actionsOf(actions)) ?? []
  if (first !== RESTART || more.some((type) => type !== RESTART))
    find(
      'recovery_missing',
      `Windows does not restart the service ${name} after each failure. Run: sc failure ${name} reset= 86400 actions= restart/1000/restart/5000/restart/60000`,
    )
  else if (number('failureactionsonnoncrashfailures') !== 1)
    find(
      'recovery_only_after_crash',
      `Windows restarts the service ${name} only after a crash, not after an error. Run: sc failureflag ${name} 1`,
    )
  return findings
}
