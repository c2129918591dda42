import { freshSeconds } from '../../contract/operation.ts'
import { AppError } from '../app-error.ts'
import type { Actor } from './actor.ts'

/** Replicas share a database, not a clock: a time this far in the future is still accepted. */
const clockSkewMs = 60_000

/** The challenge of RFC 9470, as clients compare it. */
export const freshChallenge = `Bearer error="insufficient_user_authentication", max_age=${freshSeconds}`

/** Returns whether the person behind a session entered a password or second factor within the last five minutes. */
export const isFresh = ({ kind, authenticatedAt }: Actor, now: number): boolean => {
  if (kind !== 'session' || authenticatedAt === null) return false
  const age = now - authenticatedAt
  return age <= freshSeconds * 1000 && age >= -clockSkewMs
}

/** Rejects API tokens: only a person who signed in can prove their identity again. */
export const assertSession = ({ kind }: Actor): void => {
  if (kind === 'apiToken') throw new AppError('session_required')
}

/**
 * Rejects callers without fresh authentication: API tokens with `session_required`, stale sessions with
 * `reauthentication_required` (RFC 9470). The system itself passes, because it has no credential to steal.
 */
export const assertFresh = (actor: Actor, now: number): void => {
  assertSession(actor)
  if (actor.kind === 'session' && !isFresh(actor, now))
    throw new AppError('reauthentication_required', {}, { headers: { 'www-authenticate': freshChallenge } })
}
