import { spawn } from 'node:child_process'
import { createBackoff } from '../../backoff.ts'
import { messageOf } from '../../exit.ts'
import type { Monitor, MonitorDeps } from '../platform.ts'

export interface UdevMonitorDeps extends MonitorDeps {
  /** Program and arguments, run without a shell. */
  command: readonly string[]
  backoff?: { minMs: number; maxMs: number }
}

/**
 * Returns whether a line of `udevadm monitor` is an event of the `usb` or `hid` subsystem:
 * `KERNEL[12.3] add /devices/… (usb)`. HID drivers bind on their own bus.
 */
export const isUsbEvent = (line: string): boolean =>
  /^(?:KERNEL|UDEV) *\[[0-9.]+\] +[a-z]+ .*\((?:usb|hid)\)\s*$/.test(line)

/** Maximum length of an incomplete line; kernel paths are far shorter. */
const MAX_LINE = 8192

/** Runs the kernel event monitor as a child process and restarts it. Events only trigger scans; they are never evidence. */
export const createUdevMonitor = ({
  command,
  log,
  onEvent,
  onState,
  backoff = { minMs: 1000, maxMs: 300_000 },
}: UdevMonitorDeps): Monitor => {
  const [program, ...args] = command
  const wait = createBackoff(backoff)
  let child: ReturnType<typeof spawn> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  /** Whether the log already contains a warning that the monitor ended. */
  let isLogged = false

  function start(): void {
    if (isStopped || program === undefined) return
    let rest = ''
    let hasOutput = false
    let hasEnded = false
    function ended(reason: string): void {
      if (hasEnded) return
      hasEnded = true
      child = undefined
      if (isStopped) return
      onState(false)
      const delay = wait.next()
      const level = isLogged ? 'debug' : 'warn'
      isLogged = true
      log[level]('monitor_ended', {
        reason,
        retryInMs: Math.round(delay),
        message: 'The agent polls for devices instead, which is enough. It starts the monitor again later.',
      })
      timer = setTimeout(start, delay)
    }
    const current = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    child = current
    current.on('error', (error) => ended(messageOf(error)))
    current.on('exit', (code, signal) => ended(`exit ${code ?? signal}`))
    current.stdout?.on('data', (chunk: Buffer) => {
      if (!hasOutput) {
        // udevadm prints its banner after it has bound the netlink socket. From then on it misses no event.
        hasOutput = true
        onState(true)
        onEvent()
      }
      const lines = (rest + chunk.toString('latin1')).split('\n')
      rest = (lines.pop() ?? '').slice(0, MAX_LINE)
      if (lines.some(isUsbEvent)) {
        isLogged = false
        wait.reset()
        onEvent()
      }
    })
  }

  return {
    start,
    stop(): void {
      isStopped = true
      clearTimeout(timer)
      child?.kill('SIGTERM')
    },
  }
}
