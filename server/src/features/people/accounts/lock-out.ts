import type { Audit } from '#features/system/audit/index.ts'
import type { Db, Queryable, Tx } from '#platform/db/db.ts'
import { systemActor } from '#platform/http/actor.ts'
import { nameKey } from './accounts.rules.ts'
import type { AccountsStore } from './accounts.store.ts'
import type { PasswordLinks } from './password-links.service.ts'

export interface LockOutDeps {
  db: Db
  audit: Audit
  links: PasswordLinks
  store: (db: Queryable) => AccountsStore
  /** Takes its second factors away: who lost the password may have lost them with it. */
  removeFactors(tx: Tx, accountId: string): Promise<boolean>
}

/**
 * The way back in for whoever holds the machine: enables an account and makes its one-use link for a new password. The
 * link is a keyed hash, so it works only when it is made with the key file of the server. Null without such an account.
 */
export const createLockOutExit =
  ({ db, audit, links, store, removeFactors }: LockOutDeps) =>
  (userName: string): Promise<{ userName: string; url: string; expiresAt: Date } | null> =>
    db.transaction(async (tx) => {
      const key = nameKey(userName)
      const row = (await store(tx).lockForChange([key], null)).find((account) => account.name_key === key)
      if (row === undefined || row.auth_source !== 'Local') return null
      if (!row.is_enabled) await store(tx).update({ ...row, is_enabled: true })
      const wasSuspended = row.suspended_until !== null
      if (wasSuspended) await store(tx).suspend(row.account_id, null, null)
      const hadFactors = await removeFactors(tx, row.account_id)
      const { url, expiresAt } = await links.create(tx, row.account_id)
      await audit.write(tx, systemActor('command line'), {
        action: 'account.linkCreated',
        entity: row.user_name,
        details: `reset-password on the server${row.is_enabled ? '' : '; enabled again'}${hadFactors ? '; second factors removed' : ''}${wasSuspended ? '; suspension lifted' : ''}`,
      })
      return { userName: row.user_name, url, expiresAt }
    })
