import { type ErrorCode, errorTable, type FieldError, type Problem, problemDetail } from '@portcullis/contract'

export interface AppErrorOptions {
  /** Faults by place, for `errors[]`. */
  errors?: readonly FieldError[]
  /** Headers of the answer, such as Retry-After. */
  headers?: Readonly<Record<string, string>>
  /** Further members of the problem (RFC 9457, 3.2). */
  extensions?: Pick<Problem, 'revocation' | 'commandKeys'>
  cause?: unknown
}

/** The only error that features throw on purpose; its code decides status and texts by the contract's table. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>
  readonly extensions: NonNullable<AppErrorOptions['extensions']>

  constructor(code: ErrorCode, params: Readonly<Record<string, string | number>> = {}, options: AppErrorOptions = {}) {
    // Nobody reads where a refusal came from, and to write it down took a tenth of what 5,000 bad tokens a second cost.
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

/** A 400 about one place in the request. */
export const invalid = (field: string, message: string): AppError =>
  new AppError('validation_failed', { detail: `${field}: ${message}` }, { errors: [{ field, message }] })

/** A 404 about one object. */
export const notFound = (what: string): AppError => new AppError('not_found', { detail: what })
