import { createHash } from 'node:crypto'
import type { AccountChangeKind } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { type ChangeRequestsApi, memberLines } from '#features/change-requests/server/index.ts'
import { type AccountChange, profileNames, profiles } from '#features/contract.ts'
import type { AccountRow } from './accounts.store.ts'
import { accountLabels } from './changes.ts'

/** A change that waits for a second approver. It names the account by id, because another account can get the name. */
export interface AccountUpdate {
  accountId: string
  userName: string
  /** Without the password: its hash is the sealed secret of the request. */
  given: Omit<AccountChange, 'password'>
  title: string
}

export interface AccountDeletion {
  accounts: readonly { accountId: string; userName: string; isAdministrator: boolean }[]
}

export interface FactorReset {
  accountId: string
  userName: string
}

/** Returns the parts of a change that could take over or disable an account. */
export const gatedParts = (before: AccountRow, after: AccountRow): AccountChangeKind[] => [
  ...(before.is_enabled && !after.is_enabled ? (['disable'] as const) : []),
  ...(after.user_profile > before.user_profile ? (['demote'] as const) : []),
  ...(after.password_hash !== before.password_hash ? (['password'] as const) : []),
  ...(after.email !== before.email ? (['email'] as const) : []),
]

/** Describes everything that a change does to an Administrator, for the approver. */
export const updateTitle = (before: AccountRow, after: AccountRow): string => {
  const name = `Administrator ${before.user_name}`
  const parts: Record<AccountChangeKind, string> = {
    disable: `disable ${name}`,
    demote: `make ${name} a ${profileNames[after.user_profile]}`,
    password: `set the password of ${name}`,
    email: `change the email address of ${name} to ${JSON.stringify(after.email)}`,
    delete: '',
    factor: '',
  }
  const others = (['first_name', 'last_name', 'phone', 'image', 'must_change_password'] as const).some(
    (key) => before[key] !== after[key],
  )
  const enables = !before.is_enabled && after.is_enabled
  const all = [
    ...gatedParts(before, after).map((part) => parts[part]),
    ...(enables ? [`enable ${name}`] : []),
    ...(others ? [`change the name, phone, picture or password rule of ${name}`] : []),
  ].join(', ')
  return all.charAt(0).toUpperCase() + all.slice(1)
}

/** Lists everything that a change of an account writes. */
export const updateLines = ({
  accountId,
  userName,
  given: { image, userProfile, ...given },
}: AccountUpdate): string[] => [
  `Account ${userName} (${accountId})`,
  ...(userProfile == null ? [] : [`${accountLabels.userProfile}: ${profileNames[userProfile]}`]),
  ...memberLines(given, accountLabels),
  ...(image == null
    ? image === null
      ? ['Picture: none']
      : []
    : [`Picture: ${image.length} characters, SHA-256 ${createHash('sha256').update(image).digest('hex')}`]),
]

export const deletionLines = ({ accounts }: AccountDeletion): string[] =>
  accounts
    .toSorted((a, b) => Number(b.isAdministrator) - Number(a.isAdministrator))
    .map(
      ({ accountId, userName, isAdministrator }) =>
        `${isAdministrator ? 'Administrator' : 'Account'} ${userName} (${accountId})`,
    )

export const deletionTitle = ({ accounts }: AccountDeletion): string =>
  `Delete ${accounts.map((one) => `${one.isAdministrator ? 'Administrator ' : ''}${one.userName}`).join(', ')}`

/** Returns whether one person may make all of these changes to an account. */
export const mayChangeAlone = async (
  changeRequests: ChangeRequestsApi,
  tx: Tx,
  actor: Actor,
  account: AccountRow,
  changes: readonly AccountChangeKind[],
): Promise<boolean> => {
  for (const change of changes) {
    const proposed = {
      kind: 'account',
      change,
      isAdministrator: account.user_profile === profiles.administrator,
      isOwn: account.account_id === actor.accountId,
    } as const
    if (!(await changeRequests.mayAlone(actor, proposed, tx))) return false
  }
  return true
}

/** Records which people could act as an account from now on. */
export const noteInfluences = async (
  changeRequests: ChangeRequestsApi,
  tx: Tx,
  by: string | null,
  before: AccountRow | null,
  after: AccountRow,
  { wasLatched, isApproved }: { wasLatched: boolean; isApproved: boolean },
): Promise<void> => {
  if (by === null || by === after.account_id) return
  const isAdministrator = after.user_profile === profiles.administrator
  const hows = [
    ...(before === null ? (['created'] as const) : []),
    ...(before !== null && after.user_profile < before.user_profile ? (['promoted'] as const) : []),
    ...(before !== null && !before.is_enabled && after.is_enabled ? (['enabled'] as const) : []),
    ...(before !== null && after.password_hash !== before.password_hash ? (['password'] as const) : []),
    ...(before !== null && after.email !== before.email ? (['email'] as const) : []),
  ]
  for (const how of hows)
    await changeRequests.noteInfluence(tx, {
      accountId: after.account_id,
      by,
      how,
      isApproved,
      wasLatched,
      isAdministrator,
    })
}
