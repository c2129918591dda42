import { type ErrorCode, errorTable, type Problem } from '@portcullis/contract'
import { AppError } from '../app-error.ts'
import { isUnavailable } from '../db/db.ts'

/** Any failure as an AppError: what is not ours tells nothing of the inside. */
export const toAppError = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  const e = error as { code?: unknown; statusCode?: unknown } | null
  const code = typeof e?.code === 'string' ? e.code : ''
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || code === 'FST_REQ_FILE_TOO_LARGE')
    return new AppError('payload_too_large', { limit: 'the documented number of' })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || code === 'FST_INVALID_MULTIPART_CONTENT_TYPE')
    return new AppError('unsupported_media_type')
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_ASYNC_CONSTRAINT' || code.startsWith('FST_ERR_CTP'))
    return new AppError('validation_failed', { detail: 'The request can not be read.' })
  // The client hung up while it sent its body: nobody reads the answer, and it is no failure of the server to log.
  if (code === 'ECONNRESET' && (error as Error).message === 'aborted')
    return new AppError('validation_failed', { detail: 'The request ended before its body did.' })
  if (isUnavailable(error)) return new AppError('unavailable', {}, { headers: { 'retry-after': '2' }, cause: error })
  if (e?.statusCode === 400) return new AppError('validation_failed', { detail: 'The request can not be read.' })
  return new AppError('internal_error', {}, { cause: error })
}

/** The RFC 9457 body of a failure. */
export const problemOf = (error: AppError, instance: string, traceId: string): Problem => {
  const code: ErrorCode = error.code
  return {
    type: `/docs/errors#${code}`,
    title: errorTable[code].title,
    status: error.status,
    detail: error.message,
    instance,
    code,
    errors: [...error.errors],
    traceId,
  }
}
