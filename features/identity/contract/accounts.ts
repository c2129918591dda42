/** Shapes of an account, for sign-in and administration. */

import { closed, nullable, utcTime } from '@portcullis/platform/contract/operation.ts'
import { profiles } from '@portcullis/platform/contract/permissions.ts'
import { type Static, Type } from 'typebox'
import { licenseStatuses } from '#features/agents/contract/agent-list.ts'

/** Limits of a user name, in characters. */
export const userNameLimits = { min: 1, max: 254 } as const
/** Limits of a password, in characters (code points of its NFC form). */
export const passwordLimits = {
  min: 12,
  max: 128,
  description: '12 to 128 characters. Must not be a common password or the user name.',
} as const
/** Maximum length of a profile picture, in characters of its data URI. */
export const imageLimit = 256 * 1024

/** The licence as sign-in returns it. */
export const LicenseSummary = closed({
  primeAccountName: Type.String({ description: 'Account name in the licence. `Community` if there is no licence.' }),
  licenseStatus: Type.Enum([...licenseStatuses], {
    description: 'State of the licence. `Activated` even without a licence; nothing is limited then.',
  }),
})
export type LicenseSummary = Static<typeof LicenseSummary>

export const ProfileNumber = Type.Enum([profiles.administrator, profiles.manager, profiles.user], {
  description: '10 Administrator, 20 Manager, 30 User.',
})

/** AccountViewResource as the server returns it. */
export const AccountView = closed({
  userName: Type.String({ description: 'User name. Identifies the account; unique regardless of case.' }),
  password: Type.Null({ description: 'Write-only. Always `null` in responses.' }),
  userProfile: ProfileNumber,
  firstName: Type.String({ description: 'Empty if unknown.' }),
  lastName: Type.String({ description: 'Empty if unknown.' }),
  email: Type.String({ description: 'Empty if unknown.' }),
  phone: nullable(Type.String(), { description: '`null` if unknown.' }),
  image: Type.String({
    description: 'Picture as a data URI (PNG, JPEG or WebP), at most 256 KiB. Empty if there is no picture.',
  }),
  authSource: Type.Enum(['Local', 'LDAP', 'OIDC'], { description: 'System that checks the password.' }),
  isEnabled: Type.Boolean({ description: 'False: the account has no sessions, and its tokens are refused.' }),
  mfaEnabled: Type.Boolean({ description: 'True if a second factor is set up.' }),
  mustChangePassword: Type.Boolean({
    description: 'True: the account can reach only its own profile until it changes its password.',
  }),
  lastSignIn: nullable(utcTime('Last successful sign-in.'), {
    description: 'Last successful sign-in. `null`: never.',
  }),
  createdAt: utcTime('Time at which the account was created.'),
  suspendedUntil: nullable(utcTime('End of the suspension.'), {
    description:
      'Until this time, the account cannot sign in or approve, and its API tokens are refused. `null`: not suspended.',
  }),
  suspendedBy: nullable(Type.String(), { description: 'Account that suspended it. `null`: not suspended.' }),
})
export type AccountView = Static<typeof AccountView>
