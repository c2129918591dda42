import type { AppError } from '../app-error.ts'
import type { Log } from '../log.ts'

/** Identifies the request by its route, never by its path, which clients choose. */
interface Where {
  traceId: string
  route: string
}

/** Logs a server failure. A 503 is a refusal under load or during an outage, so its stack trace would not help. */
export const logFailure = (log: Pick<Log, 'warn' | 'error'>, failure: AppError, where: Where): void => {
  if (failure.status < 500) return
  if (failure.status !== 503) {
    log.error({ ...where, err: failure.cause ?? failure }, 'request failed')
    return
  }
  const { code, message } = (failure.cause ?? {}) as { code?: unknown; message?: unknown }
  const reason = message === undefined ? {} : { reason: String(message).slice(0, 300) }
  log.warn({ ...where, err: { code: String(code ?? failure.code), ...reason } }, 'request refused')
}
