import pino from 'pino'
import { createFolding } from './log-folding.ts'

export type Log = pino.Logger

/** Interval in which repeated lines become one. */
const foldingMs = 30_000

/** Returns the log level when none is configured. People at a terminal see only warnings and errors. */
export const defaultLogLevel = (isTerminal: boolean): string => (isTerminal ? 'warn' : 'info')

/**
 * Creates the structured log to stdout, with repeated lines aggregated. JSON escapes control characters, and secrets have a
 * type that cannot be written.
 */
export const createLog = (level: string): Log => {
  const { logMethod, flush } = createFolding()
  if (level !== 'silent') {
    setInterval(flush, foldingMs).unref()
    process.once('exit', flush)
  }
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { logMethod },
    redact: {
      paths: ['req.headers.authorization', 'req.headers.cookie', '*.password', '*.token', '*.refreshToken'],
      censor: '[secret]',
    },
  })
}
