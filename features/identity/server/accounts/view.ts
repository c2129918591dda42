import type { AccountView, LicenseSummary, LocalLoginAnswer, SignInAnswer } from '#features/contract.ts'
import type { AccountRow } from './accounts.store.ts'
import type { Opened } from './sessions.service.ts'

/** The console's first page. From there, the permissions of the account decide. */
export const navigation = { startPage: '/' } as const

export const accountView = (row: AccountRow): AccountView => ({
  userName: row.user_name,
  password: null,
  userProfile: row.user_profile,
  firstName: row.first_name,
  lastName: row.last_name,
  email: row.email,
  phone: row.phone,
  image: row.image,
  authSource: row.auth_source,
  isEnabled: row.is_enabled,
  mfaEnabled: row.mfa_enabled,
  mustChangePassword: row.must_change_password,
  lastSignIn: row.last_sign_in?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  suspendedUntil: row.suspended_until?.toISOString() ?? null,
  suspendedBy: row.suspended_by,
})

export const loginAnswer = (opened: Opened, account: AccountRow, license: LicenseSummary): LocalLoginAnswer => ({
  token: opened.accessToken,
  // Always three fraction digits: clients parse the time with a fixed format.
  expiresAt: new Date(opened.expiresAt).toISOString(),
  refreshToken: opened.refreshToken,
  user: accountView(account),
  license,
})

export const signInAnswer = (opened: Opened, account: AccountRow, license: LicenseSummary): SignInAnswer => ({
  token: opened.accessToken,
  user: accountView(account),
  navigation,
  license,
})
