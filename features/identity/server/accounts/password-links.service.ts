import { approverHoldMs } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { signedInSource } from '@portcullis/platform/server/limiters/fair-queue.ts'
import type { BodyOf, ResponseOf, setPassword } from '#features/contract.ts'
import { linkBase } from '#features/settings/server/index.ts'
import { createAccountsRead } from './accounts.read.ts'
import { assertPassword } from './accounts.rules.ts'
import { createAccountsStore } from './accounts.store.ts'
import { createApiTokensStore } from './api-tokens.store.ts'
import type { AccountsContext } from './context.ts'
import { createSessionsStore } from './sessions.store.ts'
import { revokeApiTokens } from './token-revocation.ts'

/** Two days. A mailed link should not still work weeks later. */
const linkMs = 48 * 3_600_000

export type PasswordLinks = ReturnType<typeof createPasswordLinks>

export const createPasswordLinks = (context: AccountsContext) => {
  const { db, clock, audit, passwords, opaqueTokens, credentials, changeRequests, reach } = context
  return {
    /** Creates the only link of an account. Ignores the request's Host header, which the caller controls. */
    create: async (tx: Tx, accountId: string): Promise<{ url: string; expiresAt: Date }> => {
      const token = opaqueTokens.make('pl')
      const expiresAt = new Date(clock.now() + linkMs)
      await createAccountsStore(tx).deleteLinks(accountId)
      await createAccountsStore(tx).insertLink({ tokenHash: token.hash, accountId, expiresAt })
      const held = await changeRequests.linkHold(tx)
      if (held !== null) await createAccountsStore(tx).holdApprovals(accountId, held)
      const domainName = (await createAccountsRead(tx).configItems(['SERVER_DOMAIN_NAME'])).get('SERVER_DOMAIN_NAME')
      // Browsers never send the fragment to a server or in a Referer header.
      return { url: `${linkBase(domainName ?? '', reach().url)}/set-password#token=${token.text}`, expiresAt }
    },

    /** Records that the link of an account is sent by mail. The operator of the mail server can read it. */
    mailed: (tx: Tx, accountId: string): Promise<unknown> => createAccountsStore(tx).markLinkMailed(accountId),

    /** Sets a password with a link, and ends all links and sessions. After a mailed link, approvals wait for a day. */
    consume: async (
      { token, newPassword, revokeApiTokens: isRevoking = false }: BodyOf<typeof setPassword>,
      ip: string,
    ): Promise<ResponseOf<typeof setPassword>> => {
      const hash = opaqueTokens.hashOf('pl', token)
      const owner = hash === null ? undefined : await createAccountsStore(db).linkOwner(hash, new Date(clock.now()))
      if (hash === null || owner === undefined) throw new AppError('link_invalid')
      assertPassword(newPassword, owner.user_name)
      const passwordHash = await passwords.turn(signedInSource(owner.account_id), (work) => work.hash(newPassword))
      const accountId = owner.account_id
      await db.transaction(async (tx) => {
        const row = await createAccountsStore(tx).lock(accountId)
        const taken =
          row?.is_enabled === true ? await createAccountsStore(tx).takeLink(hash, new Date(clock.now())) : undefined
        if (row === undefined || taken === undefined) throw new AppError('link_invalid')
        if (taken.is_mailed)
          await createAccountsStore(tx).holdApprovals(accountId, new Date(clock.now() + approverHoldMs))
        await createAccountsStore(tx).update({
          ...row,
          password_hash: passwordHash,
          must_change_password: false,
          token_version: row.token_version + 1,
        })
        await createAccountsStore(tx).deleteLinks(accountId)
        await createSessionsStore(tx).deleteAll(accountId, null)
        await credentials.announce(tx, [accountId])
        const actor: Actor = { ...systemActor(''), kind: 'session', userName: row.user_name, accountId, ip }
        await audit.write(tx, actor, {
          action: 'account.passwordChanged',
          entity: row.user_name,
          details: 'with a set-password link',
        })
        if (isRevoking) await revokeApiTokens(audit, tx, actor, row)
      })
      const apiTokensLeft = await createApiTokensStore(db).count(accountId, new Date(clock.now()))
      return { userName: owner.user_name, apiTokensLeft }
    },

    maintain: (): Promise<unknown> => createAccountsStore(db).deleteEndedLinks(new Date(clock.now())),
  }
}
