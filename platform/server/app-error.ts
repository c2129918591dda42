import { type ErrorCode, errorTable } from '../contract/errors.ts'
import { type FieldError, type Problem, problemDetail } from '../contract/problem.ts'

export interface AppErrorOptions {
  /** Faults by field, for `errors[]`. */
  errors?: readonly FieldError[]
  /** Response headers, such as Retry-After. */
  headers?: Readonly<Record<string, string>>
  /** Further members of the problem (RFC 9457, 3.2). */
  extensions?: Pick<Problem, 'revocation' | 'commandKeys' | 'requestId' | 'nonce'>
  cause?: unknown
}

/** The error that capabilities throw on purpose. Its code selects status and texts from the contract's table. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>
  readonly extensions: NonNullable<AppErrorOptions['extensions']>

  constructor(code: ErrorCode, params: Readonly<Record<string, string | number>> = {}, options: AppErrorOptions = {}) {
    // Nobody reads the stack of a refusal, and capturing it took a tenth of the cost of 5,000 bad tokens a second.
    const frames = Error.stackTraceLimit
    if (errorTable[code].status < 500) Error.stackTraceLimit = 0
    super(problemDetail(code, params), options.cause === undefined ? {} : { cause: options.cause })
    Error.stackTraceLimit = frames
    this.name = 'AppError'
    this.code = code
    this.errors = options.errors ?? []
    this.headers = options.headers ?? {}
    this.extensions = options.extensions ?? {}
  }

  get status(): number {
    return errorTable[this.code].status
  }
}

/** Returns a 400 for one field of the request. */
export const invalid = (field: string, message: string): AppError =>
  new AppError('validation_failed', { detail: `${field}: ${message}` }, { errors: [{ field, message }] })

/** Returns a 404 for one object. */
export const notFound = (what: string): AppError => new AppError('not_found', { detail: what })
