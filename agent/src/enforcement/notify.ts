import { spawn } from 'node:child_process'
import { cleanText } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'
import type { BlockedDevice } from './memory.ts'

export interface NotifyDeps {
  /** Program and arguments that show the text on standard input to the user. If undefined, no user is notified. */
  command: readonly string[] | undefined
  clock: Clock
  log: Log
  /** Interval of messages, so that a flapping device does not fill every terminal. */
  everyMs?: number
}

const EVERY_MS = 10_000
const MAX_LINES = 8
/** Time limit for the program, because a blocked terminal could stop it forever. */
const LIMIT_MS = 10_000

type Notice = Pick<BlockedDevice, 'portPath' | 'caseNumber' | 'name' | 'reason'> & { contact: string }

const textOf = (blocked: readonly Notice[]): string => {
  const lines = blocked
    .slice(0, MAX_LINES)
    .map((b) => `  ${b.caseNumber}  ${cleanText(b.name, 80)} at port ${b.portPath}: ${cleanText(b.reason, 200)}`)
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
export const createNotify = ({ command, clock, log, everyMs = EVERY_MS }: NotifyDeps) => {
  let waiting: Notice[] = []
  let timer: NodeJS.Timeout | undefined
  let lastAt = Number.NEGATIVE_INFINITY

  function flush(): void {
    timer = undefined
    const [program, ...args] = command ?? []
    if (program === undefined || waiting.length === 0) return
    const text = textOf(waiting)
    waiting = []
    lastAt = clock.monotonic()
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    })
    child.on('error', (error) => log.warn('notify_failed', { message: messageOf(error) }))
    // The program may end without reading the text.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(text)
  }

  return {
    /** Adds a blocked device to the next message. */
    add(blocked: Notice): void {
      if (command === undefined) return
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
