import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import type { Problem } from '../../contract/problem.ts'
import { AppError, invalid } from '../app-error.ts'
import { isUnavailable } from '../db/db.ts'
import { unsupportedMediaType } from './media-type.ts'

/** Messages of the form parser for a truncated form or a missing boundary; these errors have no code. */
const brokenForm = /^Unexpected end of multipart data$|^Multipart: | terminated early due to unexpected end of /
/** Codes for a form with more than the one file. */
const overfullForm = new Set(['FST_PARTS_LIMIT', 'FST_FILES_LIMIT', 'FST_FIELDS_LIMIT'])

/** Converts any failure to an AppError. Foreign errors reveal nothing internal. */
export const toAppError = (error: unknown, bodyLimit?: number): AppError => {
  if (error instanceof AppError) return error
  const e = error as { code?: unknown; statusCode?: unknown } | null
  const code = typeof e?.code === 'string' ? e.code : ''
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || code === 'FST_REQ_FILE_TOO_LARGE')
    return new AppError('payload_too_large', { limit: bodyLimit ?? 'the documented number of' })
  if (code === 'FST_INVALID_MULTIPART_CONTENT_TYPE') return unsupportedMediaType('upload')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType('json')
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_ASYNC_CONSTRAINT' || code.startsWith('FST_ERR_CTP'))
    return new AppError('validation_failed', { detail: 'The request is malformed.' })
  if (overfullForm.has(code) || (code === '' && brokenForm.test((error as Error | null)?.message ?? '')))
    return invalid('body', 'is not a form with one file: it ends early, has another boundary or too many parts')
  // Longer than any existing name.
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new AppError('not_found', { detail: 'This path does not exist.' })
  // The client disconnected while it sent the body: nobody reads the response, and the server did not fail.
  if (code === 'ECONNRESET' && (error as Error).message === 'aborted')
    return new AppError('validation_failed', { detail: 'The request ended before its body did.' })
  if (isUnavailable(error)) return new AppError('unavailable', {}, { headers: { 'retry-after': '2' }, cause: error })
  if (e?.statusCode === 400) return new AppError('validation_failed', { detail: 'The request is malformed.' })
  return new AppError('internal_error', {}, { cause: error })
}

/** Returns the RFC 9457 body of a failure. */
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
    ...error.extensions,
  }
}
