import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { nameKey } from './accounts.rules.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'
import type { Mfa } from './mfa.service.ts'
import { createSessionsStore } from './sessions.store.ts'

const requirements = ['SECURITY_FACTOR_ADMINISTRATORS', 'SECURITY_FACTOR_MANAGERS', 'SECURITY_FACTOR_USERS'] as const

/** Guards the requirement of a second factor, and recovers accounts on the server. */
export const createSecondFactor = (context: AccountsContext, mfa: Mfa) => {
  const { db, clock, audit, credentials } = context

  async function onServer<T>(
    userName: string,
    write: (tx: Tx, row: AccountRow) => Promise<T>,
  ): Promise<{ userName: string } & T> {
    const key = nameKey(userName)
    return db.transaction(async (tx) => {
      const found = (await createAccountsStore(tx).lockForChange([key], null)).find(
        (account) => account.name_key === key,
      )
      if (found === undefined || found.auth_source !== 'Local')
        throw notFound(`The local account ${userName} does not exist.`)
      const result = await write(tx, found)
      await credentials.announce(tx, [found.account_id])
      return { userName: found.user_name, ...result }
    })
  }

  return {
    /** Checks a change of the requirement before it is stored. */
    validate: async (actor: Actor, next: ReadonlyMap<string, string>): Promise<void> => {
      assertFresh(actor, clock.now())
      const isRequired = requirements.some((name) => next.get(name) === 'true')
      const account = actor.accountId === null ? undefined : await createAccountsStore(db).byId(actor.accountId)
      // Otherwise one click could lock out the last Administrator.
      if (isRequired && account?.auth_source === 'Local' && !account.mfa_enabled)
        throw new AppError('conflict', {
          detail: 'Set up a second factor for your own account before you require one.',
        })
    },

    /** Removes the factors of an account and ends its sessions, on the command line of the server. */
    resetOnServer: (userName: string): Promise<{ userName: string; reset: boolean }> =>
      onServer(userName, async (tx, row) => {
        const reset = await mfa.removeAll(tx, row.account_id)
        if (!reset) return { reset }
        await createAccountsStore(tx).update({ ...row, token_version: row.token_version + 1 })
        await createSessionsStore(tx).deleteAll(row.account_id, null)
        await audit.write(tx, systemActor('command line'), {
          action: 'mfa.reset',
          entity: row.user_name,
          details: 'reset-second-factor on the server',
          severity: 4,
        })
        return { reset }
      }),

    /** Exempts one account from the requirement for a limited time, on the command line of the server. */
    exemptOnServer: (userName: string, hours: number): Promise<{ userName: string; until: Date }> =>
      onServer(userName, async (tx, row) => {
        const until = new Date(clock.now() + hours * 3_600_000)
        await createAccountsStore(tx).exemptFactor(row.account_id, until)
        await audit.write(tx, systemActor('command line'), {
          action: 'mfa.exempted',
          entity: row.user_name,
          details: `exempt-second-factor on the server; until: ${until.toISOString()}`,
          severity: 4,
        })
        return { until }
      }),
  }
}
