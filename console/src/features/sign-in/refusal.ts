import { CallFailure, messageOf } from '../../lib/problem.ts'
import { strings } from './strings.ts'

/** Words for a refused sign-in. They never tell whether an account of that name exists. */
export const refusalText = (failure: unknown): string => {
  if (failure instanceof CallFailure && failure.code === 'credentials_wrong') {
    return strings.userNameOrPasswordIsWrong
  }
  if (failure instanceof CallFailure && failure.code === 'too_many_requests') {
    const wait =
      failure.retryAfter === null ? 'a few minutes' : strings.mathMin({ Math: Math.ceil(failure.retryAfter / 60) })
    return strings.tooManyFailedAttemptsTryAgain({ wait })
  }
  const { title, cure } = messageOf(failure)
  return `${title}. ${cure}`
}

/** The account is suspended: a message with the end of it; null for other failures. */
export const suspensionText = (failure: unknown): string | null =>
  failure instanceof CallFailure && failure.code === 'account_suspended'
    ? strings.detailAskAnotherAdministratorToLift({ detail: messageOf(failure).detail })
    : null

/** The password has to be given again: the second step took too long, or failed too often. */
export const isOver = (failure: unknown): boolean => failure instanceof CallFailure && failure.code === 'session_ended'
