import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { type AccountView, profileNames, profiles } from '#features/contract.ts'
import { nameKey } from './accounts.rules.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'
import { createSessionsStore } from './sessions.store.ts'
import { atText, isSuspended, suspensionMs } from './suspension.rules.ts'
import { accountView } from './view.ts'

export type SuspensionService = ReturnType<typeof createSuspensionService>

/**
 * Suspends the credentials of an account for a day. The account keeps its profile, so the approval gate stays in force.
 */
export const createSuspensionService = (context: AccountsContext) => {
  const { db, clock, audit, events, credentials } = context

  async function change(
    actor: Actor,
    userName: string,
    write: (tx: Tx, before: AccountRow) => Promise<AccountRow>,
  ): Promise<AccountView> {
    const key = nameKey(userName)
    return db.transaction(async (tx) => {
      const rows = await createAccountsStore(tx).lockForChange([key], actor.accountId)
      // If two Administrators suspend each other, the second one is suspended by now.
      const own = rows.find((row) => row.account_id === actor.accountId)
      const mayAct =
        own?.is_enabled === true && own.user_profile === profiles.administrator && !isSuspended(own, clock.now())
      if (actor.kind !== 'system' && !mayAct) throw new AppError('unauthorized')
      const before = rows.find((row) => row.name_key === key)
      if (before === undefined) throw notFound(`The account ${userName} does not exist.`)
      if (before.account_id === actor.accountId)
        throw new AppError('forbidden_object', { detail: 'You cannot suspend your own account.' })
      const next = await write(tx, before)
      await credentials.announce(tx, [before.account_id])
      return accountView(next)
    })
  }

  const lift = (actor: Actor, userName: string): Promise<AccountView> =>
    change(actor, userName, async (tx, before) => {
      if (!isSuspended(before, clock.now())) return { ...before, suspended_until: null, suspended_by: null }
      await createAccountsStore(tx).suspend(before.account_id, null, null)
      await audit.write(tx, actor, {
        action: 'account.suspensionLifted',
        entity: before.user_name,
        details: `original end: ${atText(before.suspended_until as Date)}`,
        severity: 4,
      })
      return { ...before, suspended_until: null, suspended_by: null }
    })

  return {
    suspend: (actor: Actor, userName: string): Promise<AccountView> =>
      change(actor, userName, async (tx, before) => {
        const until = new Date(clock.now() + suspensionMs)
        await createAccountsStore(tx).suspend(before.account_id, until, actor.userName)
        await createSessionsStore(tx).deleteAll(before.account_id, null)
        await events.append(tx, [
          {
            kind: 'accountSuspended',
            agentId: null,
            entity: before.user_name,
            hashtags: '',
            details: `${actor.userName} suspended the sessions, API tokens and approvals of ${before.user_name} (${profileNames[before.user_profile]}) until ${atText(until)}.`,
          },
        ])
        await audit.write(tx, actor, {
          action: 'account.suspended',
          entity: before.user_name,
          details: `until: ${until.toISOString()}`,
          severity: 3,
        })
        return { ...before, suspended_until: until, suspended_by: actor.userName }
      }),

    lift,

    /** Lifts a suspension on the command line of the server. */
    liftOnServer: (userName: string): Promise<AccountView> => lift(systemActor('command line'), userName),
  }
}
