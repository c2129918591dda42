import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from './clock.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** Members of a log line. They never contain a token, a key or a proof. */
export type LogFields = Record<string, string | number | boolean | null | undefined>

export interface LogDeps {
  clock: Clock
  level: LogLevel
  /** Writes a line to stderr, which systemd sends to the journal. */
  write: (line: string) => void
  /** Directory of the ring. If undefined, only `write` is used. */
  dir?: string
  /** Size in bytes at which the ring file is renamed to `.1`. */
  ringBytes?: number
}

/**
 * Creates a log that writes one JSON object per line to stderr and to a ring of two files in the state directory.
 * JSON escapes control characters, so a string from a device cannot forge a line or control a terminal.
 */
export const createLog = ({ clock, level, write, dir, ringBytes = 512 * 1024 }: LogDeps) => {
  const threshold = logLevels.indexOf(level)
  const path = dir === undefined ? undefined : join(dir, 'agent.log')
  let size = path === undefined ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0)

  function toRing(line: string): void {
    if (path === undefined) return
    try {
      if (size + line.length > ringBytes) {
        renameSync(path, `${path}.1`)
        size = 0
      }
      appendFileSync(path, line, { mode: 0o600 })
      size += Buffer.byteLength(line)
    } catch {
      // A full disk must not end the agent; the journal still has the line. `size` restarts at 0, so that the next line
      // appends instead of renaming a file that may be missing.
      size = 0
    }
  }

  function emit(lineLevel: LogLevel, event: string, fields: LogFields = {}): void {
    if (logLevels.indexOf(lineLevel) < threshold) return
    const line = `${JSON.stringify({ time: new Date(clock.now()).toISOString(), level: lineLevel, event, ...fields })}\n`
    write(line)
    toRing(line)
  }

  return {
    debug: (event: string, fields?: LogFields) => emit('debug', event, fields),
    info: (event: string, fields?: LogFields) => emit('info', event, fields),
    warn: (event: string, fields?: LogFields) => emit('warn', event, fields),
    error: (event: string, fields?: LogFields) => emit('error', event, fields),
  }
}
export type Log = ReturnType<typeof createLog>
