/** Shapes of an account, used by sign-in and by its administration. */
import { type Static, Type } from 'typebox'
import { licenseStatuses } from './agents.ts'
import { closed, nullable, utcTime } from './operation.ts'
import { profiles } from './permissions.ts'

/** Bounds of a user name, in characters. */
export const userNameLimits = { min: 1, max: 254 } as const
/** Bounds of a password, in characters (code points of its NFC form). */
export const passwordLimits = {
  min: 12,
  max: 128,
  description: '12 to 128 characters, not on the list of common passwords, not the user name.',
} as const
/** Largest picture of an account, as characters of its data URI. */
export const imageLimit = 256 * 1024

/** What a client is told about the licence when it signs in. */
export const LicenseSummary = closed({
  primeAccountName: Type.String({ description: 'Account of the licence; `Community` without one.' }),
  licenseStatus: Type.Enum([...licenseStatuses], { description: '`Activated` without a licence: nothing is limited.' }),
})
export type LicenseSummary = Static<typeof LicenseSummary>

export const ProfileNumber = Type.Enum([profiles.administrator, profiles.manager, profiles.user], {
  description: '10 Administrator, 20 Manager, 30 User.',
})

/** AccountViewResource as it is answered. */
export const AccountView = closed({
  userName: Type.String({ description: 'The key; unique whatever its case.' }),
  password: Type.Null({ description: 'Write-only: always `null` in answers.' }),
  userProfile: ProfileNumber,
  firstName: Type.String({ description: '`""` when not known.' }),
  lastName: Type.String({ description: '`""` when not known.' }),
  email: Type.String({ description: '`""` when not known.' }),
  phone: nullable(Type.String(), { description: '`null` when not known.' }),
  image: Type.String({ description: 'Picture as a data URI (png, jpeg, webp), at most 256 KiB; `""` = none.' }),
  authSource: Type.Enum(['Local', 'LDAP', 'OIDC'], { description: 'Where the password is checked.' }),
  isEnabled: Type.Boolean({ description: 'A disabled account has no sessions and its tokens are refused.' }),
  mfaEnabled: Type.Boolean({ description: 'Whether a second factor is set up.' }),
  mustChangePassword: Type.Boolean({ description: 'Until it is changed only the own profile is reachable.' }),
  lastSignIn: nullable(utcTime('Last successful sign-in.'), {
    description: 'Last successful sign-in; `null` = never.',
  }),
  createdAt: utcTime('When the account was made.'),
  suspendedUntil: nullable(utcTime('When its suspension ends.'), {
    description:
      'Until this time the account cannot sign in or approve, and its API tokens are refused. `null` = not suspended.',
  }),
  suspendedBy: nullable(Type.String(), { description: 'Who suspended it; `null` = not suspended.' }),
})
export type AccountView = Static<typeof AccountView>
