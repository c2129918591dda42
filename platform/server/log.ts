import pino from 'pino'
import { createFolding } from './log-folding.ts'

export type Log = pino.Logger

/** Interval in which repeated lines become one. */
const foldingMs = 30_000

/** Returns the log level when none is configured. People at a terminal see only warnings and errors. */
export const defaultLogLevel = (isTerminal: boolean): string => (isTerminal ? 'warn' : 'info')

/** Level of the log file, whatever standard output shows. */
const fileLevel = 'info'

/** Functions that write the lines which the logs of this process still aggregate. */
const flushes: (() => void)[] = []

const flushAll = (): void => {
  for (const flush of flushes) flush()
}

/**
 * Creates the structured log to stdout, with repeated lines aggregated. JSON escapes control characters, and secrets have a
 * type that cannot be written. `file`: gets the same lines at level info or above.
 */
export const createLog = (level: string, file: { write(line: string): void } | null = null): Log => {
  const { logMethod, flush } = createFolding()
  if (level !== 'silent') {
    if (flushes.push(flush) === 1) {
      setInterval(flushAll, foldingMs).unref()
      process.once('exit', flushAll)
    }
  }
  const isToFile = file !== null && level !== 'silent'
  const isQuieter = (pino.levels.values[level] ?? 0) > (pino.levels.values[fileLevel] ?? 0)
  const options: pino.LoggerOptions = {
    level: isToFile && isQuieter ? fileLevel : level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { logMethod },
    redact: {
      paths: ['req.headers.authorization', 'req.headers.cookie', '*.password', '*.token', '*.refreshToken'],
      censor: '[secret]',
    },
  }
  if (!isToFile) return pino(options)
  return pino(
    options,
    pino.multistream([
      { level: level as pino.Level, stream: pino.destination(1) },
      { level: fileLevel, stream: file },
    ]),
  )
}
