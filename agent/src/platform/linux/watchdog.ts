import { type ChildProcess, spawn } from 'node:child_process'
import { messageOf } from '../../exit.ts'
import type { Log } from '../../log.ts'
import type { Watchdog } from '../platform.ts'

export interface LinuxWatchdogDeps {
  /** Program and arguments that restore the kernel's defaults. If undefined, no watchdog is started. */
  restore: readonly string[] | undefined
  log: Log
}

/**
 * Reads one line. A line means an orderly stop; the end of the pipe without a line means that the agent died. The script
 * ignores signals that a service manager sends to the process group, because it must outlive the agent.
 */
const SCRIPT = 'trap "" TERM INT HUP; read -r line || exec "$0" "$@"'
const RESTART_MS = 1000

/** Creates a child process on a pipe that only the agent holds. It acts when the agent dies, even by kill -9. */
export const createWatchdog = ({ restore, log }: LinuxWatchdogDeps): Watchdog => {
  let child: ChildProcess | undefined
  let isWanted = false
  let timer: NodeJS.Timeout | undefined

  function launch(): void {
    if (restore === undefined || !isWanted || child !== undefined) return
    // A separate session, so that Ctrl-C in the terminal reaches only the agent.
    const started = spawn('/bin/sh', ['-c', SCRIPT, ...restore], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
    })
    child = started
    function ended(reason: string): void {
      if (child !== started) return
      child = undefined
      if (!isWanted) return
      log.warn('watchdog_ended', { reason })
      timer = setTimeout(launch, RESTART_MS)
    }
    started.on('error', (error) => ended(messageOf(error)))
    started.on('exit', (code, signal) => ended(`exit ${code ?? signal}`))
    started.stdin?.on('error', () => undefined)
    started.unref()
  }

  return {
    start(): void {
      isWanted = true
      launch()
    },
    end(): void {
      isWanted = false
      clearTimeout(timer)
      child?.stdin?.end('done\n')
      child = undefined
    },
  }
}
