import { cleanText } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Platform } from '../platform/platform.ts'
import type { BlockedDevice } from './memory.ts'

export interface NotifyDeps {
  /** Shows a text to the users of the host. If undefined, no user is notified. */
  show: Platform['showMessage']
  clock: Clock
  log: Log
  /** Interval of messages, so that a flapping device does not fill every terminal. */
  everyMs?: number
}

const EVERY_MS = 10_000
const MAX_LINES = 8

type Notice = Pick<BlockedDevice, 'portPath' | 'caseNumber' | 'name' | 'reason'> & { contact: string }

const lineOf = ({ name, portPath, reason }: Notice): string =>
  `${cleanText(name, 80)} at port ${portPath}: ${cleanText(reason, 200)}`

const textOf = (blocked: readonly Notice[]): string => {
  const lines = blocked.slice(0, MAX_LINES).map((b) => `  ${b.caseNumber}  ${lineOf(b)}`)
  if (blocked.length > MAX_LINES)
    lines.push(`  and ${blocked.length - MAX_LINES} more; run "portcullis-agent status" to list them`)
  const contact = cleanText(blocked.at(-1)?.contact ?? '', 200)
  return [
    blocked.length === 1 ? 'Portcullis blocked a USB device.' : 'Portcullis blocked USB devices.',
    ...lines,
    `Contact ${contact === '' ? 'your administrator' : contact} and give the case number.`,
    '',
  ].join('\n')
}

/** Notifies the user of blocked devices, with one message per interval. Cleans the texts of devices and rules. */
export const createNotify = ({ show, clock, log, everyMs = EVERY_MS }: NotifyDeps) => {
  let waiting: Notice[] = []
  let timer: NodeJS.Timeout | undefined
  let lastAt = Number.NEGATIVE_INFINITY

  function flush(): void {
    timer = undefined
    if (show === undefined || waiting.length === 0) return
    const text = textOf(waiting)
    // Windows closes the message after a while. Its event log keeps the case numbers.
    log.info('user_notified', Object.fromEntries(waiting.slice(0, MAX_LINES).map((b) => [b.caseNumber, lineOf(b)])))
    waiting = []
    lastAt = clock.monotonic()
    show(text, (message) => log.warn('notify_failed', { message }))
  }

  return {
    /** Adds a blocked device to the next message. */
    add(blocked: Notice): void {
      if (show === undefined) return
      waiting.push(blocked)
      // All devices of a dock attach within milliseconds, so the first message waits as well.
      timer ??= setTimeout(flush, Math.max(100, lastAt + everyMs - clock.monotonic()))
    },
    stop(): void {
      clearTimeout(timer)
    },
  }
}
export type Notify = ReturnType<typeof createNotify>
