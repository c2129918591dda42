import { type ChildProcess, spawn } from 'node:child_process'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'

export interface WatchdogDeps {
  /** Program and arguments that give the kernel its defaults back; undefined: there is no watchdog. */
  restore: readonly string[] | undefined
  log: Log
}

/**
 * Reads one line. The line means an orderly end; the end of the pipe without it means that the agent died. Signals that a
 * service manager sends to the whole group are ignored: this has to outlive the agent.
 */
const SCRIPT = 'trap "" TERM INT HUP; read -r line || exec "$0" "$@"'
const RESTART_MS = 1000

/** A tiny child on a pipe whose other end only the agent holds: when the agent dies, also by kill -9, it acts. */
export const createWatchdog = ({ restore, log }: WatchdogDeps) => {
  let child: ChildProcess | undefined
  let isWanted = false
  let timer: NodeJS.Timeout | undefined

  function launch(): void {
    if (restore === undefined || !isWanted || child !== undefined) return
    // A session of its own: the terminal's Ctrl-C is for the agent.
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
    /** Tells the child that all is well. */
    end(): void {
      isWanted = false
      clearTimeout(timer)
      child?.stdin?.end('done\n')
      child = undefined
    },
  }
}
export type Watchdog = ReturnType<typeof createWatchdog>
