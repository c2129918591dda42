import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { nameKey } from './accounts.rules.ts'
import { createAccountsStore } from './accounts.store.ts'
import { createApiTokensStore } from './api-tokens.store.ts'
import type { AccountsContext } from './context.ts'
import type { Mfa } from './mfa.service.ts'
import type { PasswordLinks } from './password-links.service.ts'
import { revokeApiTokens } from './token-revocation.ts'

export interface RecoveredAccount {
  userName: string
  /** Link for a new password. */
  url: string
  expiresAt: Date
  /** Revoked API tokens, and those that still work. */
  apiTokens: { revoked: number; left: number }
}

/**
 * Recovers an account on the server's command line: enables it and creates a one-use link for a new password. Links
 * are keyed hashes, so this needs the server's key file. Returns null if the local account does not exist.
 */
export const createLockOutExit =
  ({ db, clock, audit }: AccountsContext, links: PasswordLinks, mfa: Mfa) =>
  (userName: string, isRevoking: boolean): Promise<RecoveredAccount | null> =>
    db.transaction(async (tx) => {
      const key = nameKey(userName)
      const row = (await createAccountsStore(tx).lockForChange([key], null)).find((account) => account.name_key === key)
      if (row === undefined || row.auth_source !== 'Local') return null
      if (!row.is_enabled) await createAccountsStore(tx).update({ ...row, is_enabled: true })
      const wasSuspended = row.suspended_until !== null
      if (wasSuspended) await createAccountsStore(tx).suspend(row.account_id, null, null)
      // A person who lost the password may have lost the second factors too.
      const hadFactors = await mfa.removeAll(tx, row.account_id)
      const { url, expiresAt } = await links.create(tx, row.account_id)
      await audit.write(tx, systemActor('command line'), {
        action: 'account.linkCreated',
        entity: row.user_name,
        details: `reset-password on the server${row.is_enabled ? '' : '; enabled again'}${hadFactors ? '; second factors removed' : ''}${wasSuspended ? '; suspension lifted' : ''}`,
      })
      const actor = systemActor('command line')
      const revoked = isRevoking ? await revokeApiTokens(audit, tx, actor, row) : 0
      const left = await createApiTokensStore(tx).count(row.account_id, new Date(clock.now()))
      return { userName: row.user_name, url, expiresAt, apiTokens: { revoked, left } }
    })
