import { profiles, type UserProfile } from '@portcullis/contract'
import type { Actor } from '#platform/http/actor.ts'
import { assertFresh } from '#platform/http/fresh.ts'
import type { AccountRow } from './accounts.store.ts'

/** Whether this profile can move the fleet. Anyone who controls such an account can sign in with it and do so. */
const movesTheFleet = (profile: UserProfile): boolean => profile < profiles.user

/** The members that decide who can sign in with an account, and with which profile. The e-mail address receives its links. */
const isTakeover = (before: AccountRow, after: AccountRow): boolean =>
  before.user_profile !== after.user_profile ||
  before.password_hash !== after.password_hash ||
  before.is_enabled !== after.is_enabled ||
  before.must_change_password !== after.must_change_password ||
  before.email !== after.email

/** Refuses to create, change or delete accounts above profile User without fresh authentication. */
export const assertFreshForAccount = (
  actor: Actor,
  now: number,
  change: { made: UserProfile } | { deleted: AccountRow } | { before: AccountRow; after: AccountRow },
): void => {
  const isSensitive =
    'made' in change
      ? movesTheFleet(change.made)
      : 'deleted' in change
        ? movesTheFleet(change.deleted.user_profile)
        : isTakeover(change.before, change.after) &&
          (movesTheFleet(change.before.user_profile) || movesTheFleet(change.after.user_profile))
  if (isSensitive) assertFresh(actor, now)
}
