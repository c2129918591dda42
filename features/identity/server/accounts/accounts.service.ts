import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { isPgError, type Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, assertPermission } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { signedInSource } from '@portcullis/platform/server/limiters/fair-queue.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import {
  type AccountChange,
  type AccountView,
  type BulkResult,
  type NewAccount,
  permissionsOf,
  permissionTable,
  profileNames,
  profiles,
  type UserProfile,
} from '#features/contract.ts'
import type { NewEvent } from '#features/events/server/index.ts'
import { assertImage, assertPassword, assertUserName, nameKey } from './accounts.rules.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import {
  type AccountDeletion,
  type AccountUpdate,
  deletionLines,
  deletionTitle,
  gatedParts,
  mayChangeAlone,
  noteInfluences,
  updateLines,
  updateTitle,
} from './approval.ts'
import { changedFacts, differences } from './changes.ts'
import type { AccountsContext } from './context.ts'
import { assertFreshForAccount } from './fresh.ts'
import type { PasswordLinks } from './password-links.service.ts'
import { createSessionsStore } from './sessions.store.ts'
import { isSuspended } from './suspension.rules.ts'
import { assertWithPassword, revokeApiTokens } from './token-revocation.ts'
import { accountView } from './view.ts'

export type NewAccountAnswer = AccountView & {
  setPasswordUrl: string | null
  setPasswordExpiresAt: string | null
  isMailed: boolean
}

export interface AccountMail {
  subject: string
  heading: string
  paragraphs: readonly string[]
  link: { text: string; url: string; isOneTime: true }
}

export type AccountsService = ReturnType<typeof createAccountsService>

/** Checks the change of an account: Managers change only Users, and nobody grants more than they have. */
const assertMayChange = (actor: Actor, present: UserProfile, wanted: UserProfile): void => {
  // A token that creates an account or sets its password can act as it, so it must have all of its permissions.
  for (const permission of [...permissionsOf(wanted), ...permissionsOf(present)])
    if (actor.profile <= permissionTable[permission]) assertPermission(actor, permission)
  if (actor.profile === profiles.administrator) return
  if (present !== profiles.user || wanted !== profiles.user)
    throw new AppError('forbidden_object', {
      detail: `A ${profileNames[actor.profile]} can change only accounts with profile User. Ask an Administrator.`,
    })
}

/** Returns whether someone could sign in with the account and administer the server. */
const isUsableAdministrator = (row: AccountRow): boolean =>
  row.user_profile === profiles.administrator &&
  row.is_enabled &&
  row.auth_source === 'Local' &&
  row.password_hash !== null

/** Returns the account with the given members of a change applied. */
export const withPersonal = (
  row: AccountRow,
  change: Partial<Pick<AccountChange, 'firstName' | 'lastName' | 'email' | 'phone' | 'image'>>,
): AccountRow => ({
  ...row,
  first_name: change.firstName === undefined ? row.first_name : (change.firstName ?? ''),
  last_name: change.lastName === undefined ? row.last_name : (change.lastName ?? ''),
  email: change.email === undefined ? row.email : (change.email ?? ''),
  phone: change.phone === undefined ? row.phone : change.phone,
  image: change.image === undefined ? row.image : (change.image ?? ''),
})

/** Returns the event of an account that another person disabled, demoted or deleted. */
const withdrawal = (actor: Actor, { user_name, user_profile }: AccountRow, what: string): NewEvent => ({
  kind: 'accountDisabled',
  agentId: null,
  entity: user_name,
  hashtags: '',
  details: `${actor.userName} ${what}; its profile was ${profileNames[user_profile]}.`,
})

const welcome = (row: AccountRow, { url, expiresAt }: { url: string; expiresAt: Date }): AccountMail => ({
  subject: 'Your Portcullis account',
  heading: `Your account ${row.user_name}`,
  paragraphs: [
    'A Portcullis account was created for you. Use the link to choose a password. The link works once.',
    `The link expires at ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. If you did not expect this message, ask your administrator.`,
  ],
  link: { text: 'Choose a password', url, isOneTime: true },
})

export const createAccountsService = (context: AccountsContext, links: PasswordLinks) => {
  const { db, clock, audit, events, passwords, credentials, changeRequests, mail } = context

  /** Checks the caller against the locked rows: the account may have changed since the token was checked. */
  function assertStillAllowed(actor: Actor, rows: readonly AccountRow[]): void {
    const own = rows.find((row) => row.account_id === actor.accountId)
    if (
      actor.accountId !== null &&
      (own === undefined || !own.is_enabled || own.user_profile > actor.profile || isSuspended(own, clock.now()))
    )
      throw new AppError('unauthorized')
  }

  function assertAdministratorLeft(rows: readonly AccountRow[], changed: ReadonlyMap<string, AccountRow | null>): void {
    const usable = rows.filter(isUsableAdministrator)
    const left = usable.filter((row) => {
      const after = changed.get(row.account_id)
      return after === undefined || (after !== null && isUsableAdministrator(after))
    })
    if (usable.length > 0 && left.length === 0)
      throw new AppError('conflict', {
        detail: 'This is the last Administrator who can sign in. Create another one first.',
      })
  }

  async function hashOf(actor: Actor, password: string | null | undefined, userName: string): Promise<string | null> {
    if (password === null || password === undefined) return null
    assertPassword(password, userName)
    return passwords.turn(signedInSource(actor.accountId ?? ''), ({ hash }) => hash(password))
  }

  type Update = { after: AccountRow } | { waits: AccountRow; title: string }

  /** Changes an account. If the change needs a second approver, reports that and changes nothing. */
  async function change(
    tx: Tx,
    actor: Actor,
    given: Omit<AccountChange, 'password'>,
    hash: string | null,
    approved: { accountId: string; requestedByAccount: string } | null,
  ): Promise<Update> {
    const key = nameKey(given.userName)
    const rows = await createAccountsStore(tx).lockForChange([key], actor.accountId)
    assertStillAllowed(actor, rows)
    const before = rows.find((row) => row.name_key === key)
    if (before === undefined || (approved !== null && before.account_id !== approved.accountId))
      throw notFound(`The account ${given.userName} does not exist.`)
    const by = approved === null ? actor.accountId : approved.requestedByAccount
    const profile = given.userProfile ?? before.user_profile
    assertMayChange(actor, before.user_profile, profile)
    if (hash !== null && before.auth_source !== 'Local')
      throw new AppError('unprocessable', { detail: 'Change the password of a directory account in the directory.' })
    const enabled = given.isEnabled ?? before.is_enabled
    if (before.account_id === by && (!enabled || profile > before.user_profile))
      throw new AppError('conflict', {
        detail: 'You cannot disable or demote your own account. Ask another Administrator.',
      })
    const next: AccountRow = {
      ...withPersonal(before, given),
      password_hash: hash ?? before.password_hash,
      user_profile: profile,
      is_enabled: enabled,
      must_change_password: given.mustChangePassword ?? before.must_change_password,
      // An account disabled by a person stays disabled, even if the directory enables it later.
      withdrawn_at: given.isEnabled === false ? null : before.withdrawn_at,
    }
    assertFreshForAccount(actor, clock.now(), { before, after: next })
    assertAdministratorLeft(rows, new Map([[before.account_id, next]]))
    const details = differences(before, next)
    if (details === '') return { after: next }
    if (approved === null && !(await mayChangeAlone(changeRequests, tx, actor, before, gatedParts(before, next))))
      return { waits: before, title: updateTitle(before, next) }
    const wasLatched = await changeRequests.isLatched(tx)
    const isDisabled = before.is_enabled && !enabled
    // Access tokens carry the version, so a new version ends those with the old profile, password or state.
    if (hash !== null || profile !== before.user_profile || isDisabled) next.token_version++
    await createAccountsStore(tx).update(next)
    await noteInfluences(changeRequests, tx, by, before, next, { wasLatched, isApproved: approved !== null })
    if (hash !== null || isDisabled) await createSessionsStore(tx).deleteAll(next.account_id, null)
    if (hash !== null) await createAccountsStore(tx).deleteLinks(next.account_id)
    if (hash !== null && given.revokeApiTokens === true) await revokeApiTokens(audit, tx, actor, next)
    await credentials.announce(tx, [next.account_id])
    const losses = [
      ...(isDisabled ? ['disabled the account'] : []),
      ...(profile > before.user_profile ? [`lowered its profile to ${profileNames[profile]}`] : []),
    ]
    if (losses.length > 0) await events.append(tx, [withdrawal(actor, before, losses.join(' and '))])
    await audit.write(tx, actor, {
      action: 'account.changed',
      entity: next.user_name,
      details,
      facts: changedFacts(before, next),
    })
    return { after: next }
  }

  type Deletion = { deleted: AccountRow[] } | { waits: AccountRow[] }

  async function remove(
    tx: Tx,
    actor: Actor,
    keys: readonly string[],
    approved: { accountIds: ReadonlySet<string>; requestedByAccount: string } | null,
  ): Promise<Deletion> {
    const rows = await createAccountsStore(tx).lockForChange([...keys], actor.accountId)
    assertStillAllowed(actor, rows)
    const targets = rows.filter(
      (row) => keys.includes(row.name_key) && (approved === null || approved.accountIds.has(row.account_id)),
    )
    for (const row of targets) {
      assertMayChange(actor, row.user_profile, row.user_profile)
      assertFreshForAccount(actor, clock.now(), { deleted: row })
    }
    const by = approved === null ? actor.accountId : approved.requestedByAccount
    if (targets.some((row) => row.account_id === by))
      throw new AppError('conflict', { detail: 'You cannot delete your own account. Nothing was deleted.' })
    assertAdministratorLeft(rows, new Map(targets.map((row) => [row.account_id, null])))
    const ids = targets.map((row) => row.account_id)
    if (ids.length === 0) return { deleted: [] }
    if (approved === null)
      for (const row of targets)
        if (!(await mayChangeAlone(changeRequests, tx, actor, row, ['delete']))) return { waits: targets }
    await createAccountsStore(tx).delete(ids)
    await credentials.announce(tx, ids)
    await events.append(
      tx,
      targets.map((row) => withdrawal(actor, row, 'deleted the account')),
    )
    for (const row of targets) await audit.write(tx, actor, { action: 'account.deleted', entity: row.user_name })
    return { deleted: targets }
  }

  changeRequests.handle<AccountUpdate>('account', {
    action: 'account',
    title: ({ title }) => title,
    details: (_tx, change) => updateLines(change),
    carryOut: async (tx, actor, { given, accountId }, { requestedByAccount, secret }) => {
      await change(tx, actor, given, secret?.reveal() ?? null, { accountId, requestedByAccount })
      return undefined
    },
  })
  changeRequests.handle<AccountDeletion>('accountDeletion', {
    action: 'account',
    title: deletionTitle,
    details: (_tx, change) => deletionLines(change),
    carryOut: async (tx, actor, { accounts }, { requestedByAccount }) => {
      const accountIds = new Set(accounts.map((one) => one.accountId))
      const keys = accounts.map((one) => nameKey(one.userName))
      await remove(tx, actor, keys, { accountIds, requestedByAccount })
      return undefined
    },
  })

  return {
    all: async (): Promise<AccountView[]> => (await createAccountsStore(db).all()).map(accountView),

    own: async (actor: Actor): Promise<AccountRow> => {
      const row = await createAccountsStore(db).byId(actor.accountId as string)
      if (row === undefined) throw new AppError('unauthorized')
      return row
    },

    add: async (actor: Actor, given: NewAccount): Promise<NewAccountAnswer> => {
      assertUserName(given.userName)
      if (given.image) assertImage(given.image)
      if (given.password !== null && given.password !== undefined) assertPassword(given.password, given.userName)
      assertMayChange(actor, profiles.user, given.userProfile)
      assertFreshForAccount(actor, clock.now(), { made: given.userProfile })
      const hash = await hashOf(actor, given.password, given.userName)
      const row: AccountRow = withPersonal(
        {
          account_id: newId(clock.now()),
          user_name: given.userName,
          name_key: nameKey(given.userName),
          password_hash: hash,
          user_profile: given.userProfile,
          first_name: '',
          last_name: '',
          email: '',
          phone: null,
          image: '',
          auth_source: 'Local',
          is_enabled: given.isEnabled ?? true,
          must_change_password: given.mustChangePassword ?? false,
          mfa_enabled: false,
          token_version: 1,
          last_sign_in: null,
          created_at: new Date(clock.now()),
          external_issuer: null,
          external_id: null,
          withdrawn_at: null,
          confirmed_at: null,
          suspended_until: null,
          suspended_by: null,
          factor_exempt_until: null,
        },
        given,
      )
      try {
        return await db.transaction(async (tx) => {
          assertStillAllowed(actor, await createAccountsStore(tx).lockForChange([], actor.accountId))
          const wasLatched = await changeRequests.isLatched(tx)
          await createAccountsStore(tx).insert(row)
          await noteInfluences(changeRequests, tx, actor.accountId, null, row, { wasLatched, isApproved: false })
          const made = hash === null ? await links.create(tx, row.account_id) : null
          const isMailed = made !== null && row.email !== '' && (await mail.enqueue(tx, row.email, welcome(row, made)))
          if (isMailed) await links.mailed(tx, row.account_id)
          await audit.write(tx, actor, {
            action: 'account.created',
            entity: row.user_name,
            details: `userProfile: ${profileNames[row.user_profile]}${made === null ? '' : `; set-password link created${isMailed ? ' and mailed' : ''}`}`,
          })
          return {
            ...accountView(row),
            setPasswordUrl: made?.url ?? null,
            setPasswordExpiresAt: made?.expiresAt.toISOString() ?? null,
            isMailed,
          }
        })
      } catch (error) {
        if (isPgError(error, '23505', 'accounts_name_unique'))
          throw new AppError('conflict', { detail: `The account ${given.userName} already exists.` }, { cause: error })
        throw error
      }
    },

    update: async (actor: Actor, given: AccountChange): Promise<AccountView> => {
      if (given.image) assertImage(given.image)
      const { password, ...rest } = given
      assertWithPassword(given.revokeApiTokens, typeof password === 'string')
      const hash = await hashOf(actor, password, given.userName)
      const done = await db.transaction((tx) => change(tx, actor, rest, hash, null))
      if ('waits' in done)
        return changeRequests.require(actor, {
          kind: 'account',
          change: {
            accountId: done.waits.account_id,
            userName: done.waits.user_name,
            given: rest,
            title: done.title,
          },
          secret: hash === null ? null : new Secret(hash),
        })
      return accountView(done.after)
    },

    delete: async (actor: Actor, userNames: readonly string[]): Promise<BulkResult> => {
      const wanted = new Map(userNames.map((name) => [nameKey(name), name]))
      if (wanted.size === 0) return { accepted: [], notFound: [] }
      const done = await db.transaction((tx) => remove(tx, actor, [...wanted.keys()], null))
      if ('waits' in done)
        return changeRequests.require(actor, {
          kind: 'accountDeletion',
          change: {
            accounts: done.waits.map((row) => ({
              accountId: row.account_id,
              userName: row.user_name,
              isAdministrator: row.user_profile === profiles.administrator,
            })),
          },
        })
      const found = done.deleted
      const keys = new Set(found.map((row) => row.name_key))
      const result: BulkResult = { accepted: [], notFound: [] }
      for (const [key, name] of wanted) (keys.has(key) ? result.accepted : result.notFound).push(name)
      return result
    },
  }
}
