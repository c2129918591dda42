import { type ErrorCode, errorTable, type FieldError, type Problem } from '@portcullis/contract'
import { isLoadFailure } from './code.ts'
import { strings } from './strings.ts'

/** What a failed call is, for code: the server's problem code, or a failure before there was an answer. */
export type FailureCode = ErrorCode | 'network' | 'unreadable' | 'not_confirmed'

/** A call that did not succeed. Screens switch on `code`, never on text. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure'
  readonly code: FailureCode
  readonly status: number
  readonly fields: readonly FieldError[]
  readonly traceId: string | null
  /** Seconds the server asked to wait, when it said so. */
  readonly retryAfter: number | null

  constructor(
    code: FailureCode,
    detail: string,
    rest: { status?: number; fields?: readonly FieldError[]; traceId?: string | null; retryAfter?: number | null } = {},
  ) {
    super(detail)
    this.code = code
    this.status = rest.status ?? 0
    this.fields = rest.fields ?? []
    this.traceId = rest.traceId ?? null
    this.retryAfter = rest.retryAfter ?? null
  }
}

/** What a person is told: what happened, the cause in this case, and the cure. */
export interface Message {
  title: string
  detail: string
  cure: string
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

/** Turns anything thrown by a call into words. */
export const messageOf = (failure: unknown): Message => {
  if (isLoadFailure(failure)) {
    return {
      title: strings.cantReachServer,
      detail: strings.partFailed,
      cure: strings.reloadCure,
    }
  }
  if (!(failure instanceof CallFailure)) {
    return {
      title: strings.consoleError,
      detail: failure instanceof Error ? failure.message : String(failure),
      cure: strings.consoleErrorCure,
    }
  }
  if (failure.code === 'network') {
    return {
      title: strings.cantReachServer,
      detail: failure.message,
      cure: strings.networkCure,
    }
  }
  if (failure.code === 'unreadable') {
    return {
      title: strings.unreadable,
      detail: failure.message,
      cure: strings.unreadableCure,
    }
  }
  if (failure.code === 'not_confirmed') {
    return {
      title: strings.identityNotConfirmed,
      detail: failure.message,
      cure: strings.confirmCure,
    }
  }
  const entry = errorTable[failure.code]
  return {
    title: entry.title,
    detail: failure.message,
    cure:
      failure.traceId !== null && failure.status >= 500
        ? strings.cureWithTrace({ cure: entry.cure, traceId: failure.traceId })
        : entry.cure,
  }
}

/** What happened and its cure, by a problem code that came with an address; words for an unknown one too. */
export const problemText = (code: string): string => {
  if (!isCode(code)) return strings.signInFailed
  const { title, cure } = errorTable[code]
  return `${title}. ${cure}`
}

/** The message for one field of a form (`body.userName`, ignoring case), or undefined. */
export const fieldMessage = (failure: unknown, field: string): string | undefined => {
  if (!(failure instanceof CallFailure)) return undefined
  const wanted = `body.${field}`.toLowerCase()
  return failure.fields.find((fault) => fault.field.toLowerCase() === wanted)?.message
}

/** Reads the failure out of an answer that is not a success. */
export const failureOf = async (response: Response): Promise<CallFailure> => {
  const retryHeader = Number(response.headers.get('retry-after'))
  const retryAfter = Number.isFinite(retryHeader) && retryHeader > 0 ? retryHeader : null
  const problem = (await response.json().catch(() => null)) as Partial<Problem> | null
  if (problem === null || typeof problem.code !== 'string' || !isCode(problem.code)) {
    return new CallFailure('unreadable', strings.noProblemDetails({ status: response.status }), {
      status: response.status,
      retryAfter,
    })
  }
  return new CallFailure(problem.code, problem.detail ?? problem.title ?? '', {
    status: response.status,
    fields: problem.errors ?? [],
    traceId: problem.traceId ?? null,
    retryAfter,
  })
}

/** Returns true if the server stored the change as a request for a second approver. Sending it again would store another one. */
export const isStoredRequest = (failure: unknown): boolean =>
  failure instanceof CallFailure && failure.code === 'second_person_required'
