import { mustExist } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { profileNames } from '#features/contract.ts'
import { assertUserName, nameKey } from './accounts.rules.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import { changedFacts, differences } from './changes.ts'
import type { AccountsContext } from './context.ts'
import { createExternalStore } from './external.store.ts'
import { confirmedForMs, type ExternalPerson, type ExternalVerdict } from './external.ts'
import { createSessionsStore } from './sessions.store.ts'

/** Why a confirmed person of the directory or provider gets no account. */
export type NotAdmitted = 'nameTaken' | 'disabled' | 'unusableName'

/** Accounts per connection, which may take 12 s: up to 30 exchanges each, of 20 ms on a slow path. */
const sweepBatch = 20

export type ExternalService = ReturnType<typeof createExternalService>

const actorOf = (person: Pick<ExternalPerson, 'source'>): Actor =>
  systemActor(person.source === 'LDAP' ? 'directory' : 'identity provider')

const isUsable = (userName: string): boolean => {
  try {
    assertUserName(userName)
    return true
  } catch {
    return false
  }
}

/** Creates, updates and withdraws accounts whose passwords are checked elsewhere. */
export const createExternalService = (context: AccountsContext) => {
  const { db, clock, audit, credentials, directory } = context

  const personal = (person: ExternalPerson) => ({
    user_profile: person.profile,
    first_name: person.firstName,
    last_name: person.lastName,
    email: person.email,
    phone: person.phone,
    external_issuer: person.issuer,
    is_enabled: true,
    withdrawn_at: null,
    confirmed_at: new Date(clock.now()),
  })

  async function make(tx: Tx, person: ExternalPerson): Promise<AccountRow> {
    const row: AccountRow = {
      account_id: newId(clock.now()),
      user_name: person.userName,
      name_key: nameKey(person.userName),
      password_hash: null,
      image: '',
      auth_source: person.source,
      must_change_password: false,
      token_version: 1,
      mfa_enabled: false,
      suspended_until: null,
      suspended_by: null,
      factor_exempt_until: null,
      last_sign_in: null,
      created_at: new Date(clock.now()),
      external_id: person.id,
      ...personal(person),
    }
    await createAccountsStore(tx).insert(row)
    await createExternalStore(tx).update(row)
    await audit.write(tx, actorOf(person), {
      action: 'account.created',
      entity: row.user_name,
      details: `userProfile: ${profileNames[row.user_profile]}; authSource: ${person.source}`,
    })
    return row
  }

  /** Updates a locked row to the person's current data. */
  async function follow(tx: Tx, before: AccountRow, person: ExternalPerson): Promise<AccountRow> {
    const isAnother = before.external_id !== null && person.id !== null && before.external_id !== person.id
    const after: AccountRow = { ...before, ...personal(person), external_id: person.id ?? before.external_id }
    // Access tokens carry the version, so tokens with the old profile end.
    if (isAnother || before.user_profile !== after.user_profile) after.token_version++
    await createAccountsStore(tx).update(after)
    await createExternalStore(tx).update(after)
    if (isAnother) {
      await createSessionsStore(tx).deleteAll(after.account_id, null)
      await createExternalStore(tx).deleteTokens(after.account_id)
    }
    const details = [differences(before, after), isAnother ? 'another directory entry now has this name' : '']
      .filter((part) => part !== '')
      .join('; ')
    if (details === '') return after
    await credentials.announce(tx, [after.account_id])
    await audit.write(tx, actorOf(person), {
      action: 'account.changed',
      entity: after.user_name,
      details,
      facts: changedFacts(before, after),
    })
    return after
  }

  /** Withdraws an account: ends its sessions and refuses sign-ins. */
  async function withdraw(tx: Tx, accountId: string, why: string): Promise<void> {
    const before = await createAccountsStore(tx).lock(accountId)
    if (before === undefined || !before.is_enabled || before.auth_source === 'Local') return
    const after: AccountRow = {
      ...before,
      is_enabled: false,
      token_version: before.token_version + 1,
      withdrawn_at: new Date(clock.now()),
    }
    await createAccountsStore(tx).update(after)
    await createExternalStore(tx).update(after)
    await createSessionsStore(tx).deleteAll(accountId, null)
    await credentials.announce(tx, [accountId])
    await audit.write(tx, systemActor(before.auth_source === 'LDAP' ? 'directory' : 'identity provider'), {
      action: 'account.withdrawn',
      entity: before.user_name,
      details: why,
      severity: 4,
    })
  }

  /** Updates an account from the directory's answer, without a sign-in. */
  async function settle({ account_id: accountId }: AccountRow, verdict: ExternalVerdict): Promise<void> {
    const { person } = verdict
    if (person === null) {
      const why = verdict.lost?.why
      if (why !== undefined) await db.transaction((tx) => withdraw(tx, accountId, why))
      return
    }
    await db.transaction(async (tx) => {
      const before = await createAccountsStore(tx).lock(accountId)
      if (before?.is_enabled && before.auth_source === person.source) await follow(tx, before, person)
    })
  }

  return {
    /**
     * Returns the account of an authenticated person. Creates it at the first sign-in. Never takes over an account of
     * another source, and never enables an account that an Administrator disabled.
     */
    admit: async (tx: Tx, person: ExternalPerson): Promise<AccountRow | NotAdmitted> => {
      const byName = (): Promise<AccountRow | undefined> => createExternalStore(tx).lockByName(nameKey(person.userName))
      const row =
        person.issuer === null || person.id === null
          ? await byName()
          : await createExternalStore(tx).lockByExternalId(person.issuer, person.id)
      if (row === undefined) {
        if (!isUsable(person.userName)) return 'unusableName'
        return person.issuer !== null && (await byName()) !== undefined ? 'nameTaken' : make(tx, person)
      }
      if (row.auth_source !== person.source) return 'nameTaken'
      if (!row.is_enabled && row.withdrawn_at === null) return 'disabled'
      return follow(tx, row, person)
    },

    /** Withdraws the account of a provider's subject, if there is one. */
    withdrawSubject: (issuer: string, id: string, why: string): Promise<void> =>
      db.transaction(async (tx) => {
        const row = await createExternalStore(tx).lockByExternalId(issuer, id)
        if (row !== undefined) await withdraw(tx, row.account_id, why)
      }),

    withdraw: (accountId: string, why: string): Promise<void> => db.transaction((tx) => withdraw(tx, accountId, why)),

    /** Asks the directory about an account before its session continues, if that is due. */
    recheck: async (account: AccountRow): Promise<void> => {
      const isDue =
        account.auth_source === 'LDAP' &&
        account.is_enabled &&
        clock.now() - (account.confirmed_at?.getTime() ?? 0) >= confirmedForMs
      if (!isDue) return
      // While the directory is down, sessions continue until they expire. The next refresh asks it again.
      const [verdict] = await directory
        .standings([{ userName: account.user_name, id: account.external_id }])
        .catch((): ExternalVerdict[] => [])
      if (verdict !== undefined) await settle(account, verdict)
    },

    /** Asks the directory about accounts that are in use and were not confirmed for 15 minutes. */
    checkDirectoryAccounts: async (): Promise<void> => {
      for (let checked = sweepBatch; checked === sweepBatch; ) {
        const now = clock.now()
        const due = await createExternalStore(db).due(new Date(now - confirmedForMs), new Date(now), sweepBatch)
        const verdicts = await directory.standings(
          due.map(({ user_name, external_id }) => ({ userName: user_name, id: external_id })),
        )
        for (const [i, verdict] of verdicts.entries()) await settle(mustExist(due[i], 'the account'), verdict)
        checked = verdicts.length
      }
    },
  }
}
