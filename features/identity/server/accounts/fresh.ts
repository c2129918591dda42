import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { profiles, type UserProfile } from '#features/contract.ts'
import type { AccountRow } from './accounts.store.ts'

/** Returns whether this profile can change hosts. Anyone who controls such an account can sign in and do so. */
const controlsHosts = (profile: UserProfile): boolean => profile < profiles.user

/** Compares the members that decide who can sign in, and with which profile. Sign-in links go to the e-mail address. */
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
      ? controlsHosts(change.made)
      : 'deleted' in change
        ? controlsHosts(change.deleted.user_profile)
        : isTakeover(change.before, change.after) &&
          (controlsHosts(change.before.user_profile) || controlsHosts(change.after.user_profile))
  if (isSensitive) assertFresh(actor, now)
}
