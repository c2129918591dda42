import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { Audit } from '#features/audit/server/index.ts'
import { createApiTokensStore } from './api-tokens.store.ts'

const namesShown = 20

/** Throws if a change revokes API tokens but sets no password. Tokens are revoked one by one without one. */
export const assertWithPassword = (revokeApiTokens: boolean | null | undefined, hasPassword: boolean): void => {
  if (revokeApiTokens === true && !hasPassword)
    throw invalid('body.revokeApiTokens', 'is allowed only with a new password')
}

/** Revokes all API tokens of an account. The caller announces the change to the other replicas. */
export const revokeApiTokens = async (
  audit: Audit,
  tx: Tx,
  actor: Actor,
  account: { account_id: string; user_name: string },
): Promise<number> => {
  const names = await createApiTokensStore(tx).deleteAll(account.account_id)
  if (names.length === 0) return 0
  const others = names.length - namesShown
  await audit.write(tx, actor, {
    action: 'account.tokensRevoked',
    entity: account.user_name,
    details: `with the password: ${names.toSorted().slice(0, namesShown).join(', ')}${others > 0 ? ` and ${others} more` : ''}`,
    count: names.length,
  })
  return names.length
}
