import { type AuditFact, profileNames } from '#features/contract.ts'
import type { AccountRow } from './accounts.store.ts'

const shown: readonly (readonly [keyof AccountRow, string])[] = [
  ['user_profile', 'userProfile'],
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['email', 'email'],
  ['phone', 'phone'],
  ['is_enabled', 'isEnabled'],
  ['must_change_password', 'mustChangePassword'],
]

/** Labels of the members of a change, by their names in the contract. */
export const accountLabels: Readonly<Record<string, string>> = {
  userName: 'User name',
  userProfile: 'Profile',
  firstName: 'First name',
  lastName: 'Last name',
  email: 'Email',
  phone: 'Phone',
  isEnabled: 'Enabled',
  mustChangePassword: 'Must change password',
  revokeApiTokens: 'Revoke API tokens',
}

/** Returns the value of a member as a person reads it. */
const valueText = (key: keyof AccountRow, value: unknown): string =>
  key === 'user_profile'
    ? profileNames[value as keyof typeof profileNames]
    : typeof value === 'boolean'
      ? value
        ? 'yes'
        : 'no'
      : String(value ?? '')

/** Describes the changes in readable form. */
export const changedFacts = (before: AccountRow, after: AccountRow): AuditFact[] => [
  ...shown
    .filter(([key]) => before[key] !== after[key])
    .map(([key, name]) => ({
      name: accountLabels[name] ?? name,
      before: valueText(key, before[key]),
      after: valueText(key, after[key]),
    })),
  ...(before.image === after.image ? [] : [{ name: 'Picture', before: '', after: 'changed' }]),
  ...(before.password_hash === after.password_hash ? [] : [{ name: 'Password', before: '', after: 'changed' }]),
]

/** Lists the changed members for the audit trail. Empty if nothing changed. */
export const differences = (before: AccountRow, after: AccountRow): string => {
  const parts = shown
    .filter(([key]) => before[key] !== after[key])
    .map(([key, name]) => `${name}: ${JSON.stringify(before[key])} → ${JSON.stringify(after[key])}`)
  if (before.image !== after.image) parts.push('image: changed')
  if (before.password_hash !== after.password_hash) parts.push('password: changed')
  return parts.join('; ')
}
