import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { signedInSource } from '@portcullis/platform/server/limiters/fair-queue.ts'
import { type AccountView, type MyAccountUpdate, profiles } from '#features/contract.ts'
import { assertImage, assertPassword } from './accounts.rules.ts'
import { withPersonal } from './accounts.service.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import { changedFacts, differences } from './changes.ts'
import type { AccountsContext } from './context.ts'
import { createSessionsStore } from './sessions.store.ts'
import type { SigninService } from './signin.service.ts'
import { assertWithPassword, revokeApiTokens } from './token-revocation.ts'
import { accountView } from './view.ts'

export type OwnAccountService = ReturnType<typeof createOwnAccountService>

export const createOwnAccountService = (context: AccountsContext, signin: SigninService) => {
  const { db, clock, audit, passwords, credentials } = context

  async function newHash(account: AccountRow, given: MyAccountUpdate): Promise<string | null> {
    const { oldPassword, newPassword } = given
    if (newPassword === null || newPassword === undefined) return null
    if (oldPassword === null || oldPassword === undefined)
      throw invalid('body.oldPassword', 'is required to change the password')
    if (account.auth_source !== 'Local')
      throw new AppError('unprocessable', { detail: 'Change the password of a directory account in the directory.' })
    if (!(await signin.prove(account, oldPassword))) throw new AppError('old_password_wrong')
    assertPassword(newPassword, account.user_name)
    if (newPassword === oldPassword)
      throw new AppError('password_rejected', { detail: 'The new password is the same as the old one.' })
    return passwords.turn(signedInSource(account.account_id), ({ hash }) => hash(newPassword))
  }

  return {
    /**
     * Changes the caller's own account. A new password ends all access tokens and every other session. The session that
     * made the change continues with its refresh token.
     */
    update: async (actor: Actor, given: MyAccountUpdate): Promise<AccountView> => {
      if (given.image) assertImage(given.image)
      assertWithPassword(given.revokeApiTokens, typeof given.newPassword === 'string')
      const accountId = actor.accountId as string
      const seen = await createAccountsStore(db).byId(accountId)
      if (seen === undefined) throw new AppError('unauthorized')
      const hash = await newHash(seen, given)
      const after = await db.transaction(async (tx) => {
        const before = await createAccountsStore(tx).lock(accountId)
        if (before === undefined || !before.is_enabled) throw new AppError('unauthorized')
        if (hash !== null && before.password_hash !== seen.password_hash) throw new AppError('old_password_wrong')
        const next = withPersonal(before, given)
        if (hash !== null) {
          next.password_hash = hash
          next.must_change_password = false
          next.token_version++
        }
        if (before.email !== next.email && before.user_profile < profiles.user) assertFresh(actor, clock.now())
        const details = differences(before, next)
        if (details === '') return next
        await createAccountsStore(tx).update(next)
        if (hash !== null) {
          await createAccountsStore(tx).deleteLinks(accountId)
          await createSessionsStore(tx).deleteAll(accountId, actor.kind === 'session' ? actor.credentialId : null)
          if (given.revokeApiTokens === true) await revokeApiTokens(audit, tx, actor, next)
          await credentials.announce(tx, [accountId])
        }
        await audit.write(tx, actor, {
          action: hash === null ? 'account.changed' : 'account.passwordChanged',
          entity: next.user_name,
          details,
          facts: changedFacts(before, next),
        })
        return next
      })
      return accountView(after)
    },
  }
}
