import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from './clock.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** Members of a log line. Never a token, a key or a proof. */
export type LogFields = Record<string, string | number | boolean | null | undefined>

export interface LogDeps {
  clock: Clock
  level: LogLevel
  /** Where lines go for the journal; stderr in the product. */
  write: (line: string) => void
  /** Directory of the ring; without one only `write` is used. */
  dir?: string
  /** Bytes after which the ring file is moved to `.1`. */
  ringBytes?: number
}

/**
 * One JSON object per line to stderr (systemd hands it to the journal) and to a ring of two files in the state directory.
 * JSON escapes control characters, so that a device's string cannot forge a line or drive a terminal.
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
      // A full disk must not end the agent over its own log; the journal still has the line. `size` starts over so that
      // the next line tries to append instead of renaming a file that may be gone.
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
