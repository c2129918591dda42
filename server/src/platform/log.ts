import pino from 'pino'

export type Log = pino.Logger

/** Structured log to stdout; control characters are escaped by JSON, secrets have a type that refuses to be written. */
export const createLog = (level: string): Log =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['req.headers.authorization', 'req.headers.cookie', '*.password', '*.token', '*.refreshToken'],
      censor: '[secret]',
    },
  })
