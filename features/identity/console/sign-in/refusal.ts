import { CallFailure, messageOf } from '@portcullis/platform/console/lib/problem.ts'
import { strings } from './strings.ts'

/** Returns the message for a refused sign-in. It never reveals whether an account exists. */
export const refusalText = (failure: unknown): string => {
  if (failure instanceof CallFailure && failure.code === 'credentials_wrong') {
    return strings.credentialsWrong
  }
  if (failure instanceof CallFailure && failure.code === 'too_many_requests') {
    if (failure.retryAfter === null) return strings.tooManyAttemptsSoon
    return strings.tooManyAttempts({ minutes: Math.ceil(failure.retryAfter / 60) })
  }
  const { title, cure } = messageOf(failure)
  return `${title}. ${cure}`
}

/** Returns the message for a suspended account, or null for other failures. */
export const suspensionText = (failure: unknown): string | null =>
  failure instanceof CallFailure && failure.code === 'account_suspended'
    ? strings.suspended({ detail: messageOf(failure).detail })
    : null

/** Returns whether the sign-in must start again because the second step expired or failed too often. */
export const isOver = (failure: unknown): boolean => failure instanceof CallFailure && failure.code === 'session_ended'
