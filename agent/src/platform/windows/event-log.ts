/** Writes the important lines of the local log to the Application event log of Windows. */
import { cleanText } from '@portcullis/domain'
import type { Koffi } from './koffi.ts'
import { type Registry, type RegistryKey, type RegistryValue, VALUE_TYPES } from './registry.ts'

const EVENT_SOURCE = 'Portcullis Agent'
const SOURCE_KEY =
  `HKLM\\SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application\\${EVENT_SOURCE}` satisfies RegistryKey

/** EVENTLOG_ERROR_TYPE, EVENTLOG_WARNING_TYPE and EVENTLOG_INFORMATION_TYPE. */
const TYPES = { error: 1, warning: 2, information: 4 } as const
/** Longest text of an event. Windows allows 31,839 characters. */
const MAX_TEXT = 3000
const MAX_FIELDS = 16
const MAX_FIELD = 300

type Level = keyof typeof TYPES

/**
 * Log events that are sent to Windows: number, level and text. Numbers never change, because rules of collectors use
 * them.
 */
const EVENTS: Readonly<Record<string, readonly [id: number, level: Level, text: string]>> = {
  agent_starting: [1, 'information', 'The agent started.'],
  agent_stopped: [2, 'information', 'The agent stopped.'],
  enrolled: [10, 'information', 'The host was enrolled.'],
  enrolling_again: [11, 'warning', 'The server does not know this host. The host enrols again.'],
  machine_changed: [12, 'warning', 'This host is a copy of another host. It must enrol again.'],
  enrolment_failed: [13, 'warning', 'The host is not enrolled yet. The agent tries again.'],
  not_enrolled: [14, 'error', 'The host is not enrolled.'],
  not_moved: [15, 'warning', 'The host cannot move to another server. It stays with its server.'],
  host_armed: [20, 'information', 'The host was armed.'],
  host_freed: [21, 'warning', 'The host was freed.'],
  device_blocked: [22, 'warning', 'A device was blocked.'],
  user_notified: [23, 'warning', 'Devices are blocked. Give the case number to your contact.'],
  update_swapped: [30, 'information', 'A new version was installed.'],
  update_confirmed: [31, 'information', 'The new version works.'],
  update_rolled_back: [32, 'error', 'The new version was rolled back.'],
}
/** Errors that the agent reports to the server, and refusals of the server. */
const OTHER_ERROR = [90, 'error', 'The agent reported an error.'] as const

/** Writes one event; false if Windows refused. */
export type ReportEvent = (type: number, id: number, text: string) => boolean

/** Returns one line per member, cleaned and bounded, because devices choose their names. */
const textOf = (title: string, fields: Readonly<Record<string, unknown>>): string =>
  [
    title,
    ...Object.entries(fields)
      .slice(0, MAX_FIELDS)
      .map(([name, value]) => `${cleanText(name, 60)}: ${cleanText(String(value), MAX_FIELD)}`),
  ]
    .join('\r\n')
    // The event viewer would expand %1 and %%1 (documentation of ReportEvent).
    .replace(/%(?=[\d%])/g, '% ')
    .slice(0, MAX_TEXT)

/** Returns a function that writes the important lines of the local log to the event log. Never throws. */
export const createEventLog = (report: ReportEvent) => {
  let lastFailure: unknown
  return (line: string): void => {
    try {
      const { time: _, level, event, ...fields } = JSON.parse(line) as Record<string, unknown>
      const known = typeof event === 'string' && Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined
      if (known === undefined && level !== 'error') return
      // The agent retries until it is enrolled, and the reason is usually the same.
      if (event === 'enrolment_failed' && fields.reason === lastFailure) return
      lastFailure = event === 'enrolment_failed' ? fields.reason : undefined
      const [id, type, title] = known ?? OTHER_ERROR
      report(TYPES[type], id, textOf(title, known === undefined ? { event, ...fields } : fields))
    } catch {
      // The local log contains the line.
    }
  }
}

/** Writes to the event log through advapi32.dll. */
export const createReportEvent = (koffi: Koffi): ReportEvent => {
  const library = koffi.load('advapi32.dll')
  const register = library.func('void* RegisterEventSourceW(void* server, str16 source)')
  const report = library.func(
    'bool ReportEventW(void* log, uint16 type, uint16 category, uint32 id, void* user, uint16 strings, uint32 size, str16* texts, void* data)',
  )
  let log: unknown = null
  return (type, id, text) => {
    log ??= register(null, EVENT_SOURCE)
    return log !== null && report(log, type, 0, id, null, 1, 0, [text], null) === true
  }
}

const expandable = (text: string): RegistryValue => ({
  type: VALUE_TYPES.expandable,
  data: Buffer.from(`${text}\0`, 'utf16le'),
})

/**
 * Registers the source, so that the event viewer shows only the text. Uses eventcreate.exe of Windows, whose messages 1
 * to 1000 contain only their text.
 *
 * @throws RegistryFault
 */
export const registerEventSource = (registry: Registry): void => {
  registry.write(SOURCE_KEY, 'EventMessageFile', expandable('%SystemRoot%\\System32\\EventCreate.exe'))
  registry.writeDword(SOURCE_KEY, 'TypesSupported', TYPES.error | TYPES.warning | TYPES.information)
}

/** Removes the source. The events stay, but the event viewer adds a note to them. */
export const removeEventSource = (registry: Registry): void => registry.removeTree(SOURCE_KEY)
