import { spawn } from 'node:child_process'
import { cleanText } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'
import type { BlockedDevice } from './memory.ts'

export interface NotifyDeps {
  /** Program and arguments that show the text on standard input to whoever sits there; undefined: nobody is told. */
  command: readonly string[] | undefined
  clock: Clock
  log: Log
  /** A device that comes and goes must not fill every terminal. */
  everyMs?: number
}

const EVERY_MS = 10_000
const MAX_LINES = 8
/** A terminal that does not take the text must not keep the program for good. */
const LIMIT_MS = 10_000

type Told = Pick<BlockedDevice, 'portPath' | 'caseNumber' | 'name' | 'reason'> & { contact: string }

const textOf = (blocked: readonly Told[]): string => {
  const lines = blocked
    .slice(0, MAX_LINES)
    .map((b) => `  ${b.caseNumber}  ${cleanText(b.name, 80)} at port ${b.portPath}: ${cleanText(b.reason, 200)}`)
  if (blocked.length > MAX_LINES) lines.push(`  and ${blocked.length - MAX_LINES} more: portcullis-agent status`)
  const contact = cleanText(blocked.at(-1)?.contact ?? '', 200)
  return [
    blocked.length === 1 ? 'Portcullis blocked a USB device.' : 'Portcullis blocked USB devices.',
    ...lines,
    contact === '' ? 'Ask your administrator and give the number.' : `Ask ${contact} and give the number.`,
    '',
  ].join('\n')
}

/** Tells the user of the host what was blocked, folded to one message per interval. The texts are cleaned here. */
export const createNotify = ({ command, clock, log, everyMs = EVERY_MS }: NotifyDeps) => {
  let waiting: Told[] = []
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
    // It may end without reading.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(text)
  }

  return {
    tell(blocked: Told): void {
      if (command === undefined) return
      waiting.push(blocked)
      // A whole dock arrives within some milliseconds: the first message waits for the end of the burst as well.
      timer ??= setTimeout(flush, Math.max(100, lastAt + everyMs - clock.monotonic()))
    },
    stop(): void {
      clearTimeout(timer)
    },
  }
}
export type Notify = ReturnType<typeof createNotify>
