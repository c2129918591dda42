import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import type { FieldError, Problem } from '../../contract/problem.ts'
import { isLoadFailure } from './code.ts'
import { strings } from './strings.ts'

/** The code of a failed call: the server's problem code, or a failure without a response. */
export type FailureCode = ErrorCode | 'network' | 'unreadable' | 'not_confirmed'

/** A failed call. Screens depend on `code`, never on text. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure'
  readonly code: FailureCode
  readonly status: number
  readonly fields: readonly FieldError[]
  readonly traceId: string | null
  /** Seconds to wait, if the server gave them. */
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

/** A refusal by the console itself, with a text for the person. Texts of browsers and libraries are never shown. */
export class ConsoleRefusal extends Error {
  override readonly name = 'ConsoleRefusal'
}

/** Messages of browsers for a request or a response that broke off. */
const isBrokenConnection = (failure: unknown): boolean =>
  failure instanceof Error &&
  (['NetworkError', 'TimeoutError'].includes(failure.name) ||
    /failed to fetch|networkerror|network error|load failed|network connection was lost|error in input stream/i.test(
      failure.message,
    ))

/** Returns what a failed request or a broken response means. Everything else stays as it is. */
export const asCallFailure = (failure: unknown): unknown =>
  isBrokenConnection(failure) && !isLoadFailure(failure) ? new CallFailure('network', strings.noResponse) : failure

/** Returns whether the server, or a proxy before it, could not respond at all. */
export const isOutage = (failure: unknown): boolean =>
  isLoadFailure(failure) ||
  isBrokenConnection(failure) ||
  (failure instanceof CallFailure &&
    (failure.code === 'network' || failure.code === 'unavailable' || [502, 504].includes(failure.status)))

/** Seconds that the server wants to wait before another try. */
export const retryAfterOf = (failure: unknown): number =>
  failure instanceof CallFailure ? (failure.retryAfter ?? 0) : 0

/** The message for a person: what happened, the cause, and the remedy. */
export interface Message {
  title: string
  detail: string
  cure: string
}

/** Returns a message without the names of request parts, such as `query.`, which operators do not know. */
const withoutParts = (message: string): string => message.replace(/(?<=^|\s)(?:body|query)\.(?=\w)/g, '')

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

/** Returns the message for anything that a call throws. */
export const messageOf = (failure: unknown): Message => {
  if (isLoadFailure(failure)) {
    return {
      title: strings.cantReachServer,
      detail: strings.partFailed,
      cure: strings.reloadCure,
    }
  }
  if (isBrokenConnection(failure)) {
    return {
      title: strings.cantReachServer,
      detail: strings.noResponse,
      cure: strings.networkCure,
    }
  }
  if (failure instanceof ConsoleRefusal) return { title: strings.notDone, detail: failure.message, cure: '' }
  if (!(failure instanceof CallFailure)) {
    return {
      title: strings.consoleError,
      detail: strings.consoleErrorDetail,
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
    detail: failure.code === 'validation_failed' ? withoutParts(failure.message) : failure.message,
    cure:
      failure.traceId !== null && failure.status >= 500
        ? strings.cureWithTrace({ cure: entry.cure, traceId: failure.traceId })
        : entry.cure,
  }
}

/** Returns the message for a problem code in an address, including unknown codes. */
export const problemText = (code: string): string => {
  if (!isCode(code)) return strings.signInFailed
  const { title, cure } = errorTable[code]
  return `${title}. ${cure}`
}

/** Returns the message for a field of a form (`body.userName`, ignoring case), or undefined. */
export const fieldMessage = (failure: unknown, field: string): string | undefined => {
  if (!(failure instanceof CallFailure)) return undefined
  const wanted = `body.${field}`.toLowerCase()
  return failure.fields.find((fault) => fault.field.toLowerCase() === wanted)?.message
}

/** Reads the failure from a response. */
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

/**
 * Returns whether the server stored the change as a request for a second approver. Sending it again would store another
 * one.
 */
export const isStoredRequest = (failure: unknown): boolean =>
  failure instanceof CallFailure && failure.code === 'second_person_required'
