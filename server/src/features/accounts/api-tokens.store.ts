import type { Queryable } from '#platform/db/db.ts'
import { sql } from '#platform/db/sql.ts'

export interface ApiTokenRow {
  token_id: string
  account_id: string
  name: string
  user_name: string
  user_profile: 10 | 20 | 30
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
}

export type ApiTokensStore = ReturnType<typeof createApiTokensStore>

export const createApiTokensStore = (db: Queryable) => ({
  /** Tokens of one account, or of all when `accountId` is null; newest first. */
  list: (accountId: string | null): Promise<ApiTokenRow[]> =>
    db.query<ApiTokenRow>(sql`
      select t.token_id, t.account_id, t.name, a.user_name, t.user_profile, t.created_at, t.expires_at, t.last_used_at
      from api_tokens t join accounts a using (account_id)
      where ${accountId}::uuid is null or t.account_id = ${accountId}
      order by t.created_at desc, t.token_id desc`),

  insert: (row: {
    tokenId: string
    tokenHash: Buffer
    accountId: string
    name: string
    profile: number
    createdAt: Date
    expiresAt: Date | null
  }): Promise<number> =>
    db.execute(sql`
      insert into api_tokens (token_id, token_hash, account_id, name, user_profile, created_at, expires_at)
      values (${row.tokenId}, ${row.tokenHash}, ${row.accountId}, ${row.name}, ${row.profile}, ${row.createdAt},
              ${row.expiresAt})`),

  /** Deletes a token of one account, or of any when `accountId` is null; the deleted row. */
  delete: async (
    tokenId: string,
    accountId: string | null,
  ): Promise<{ name: string; account_id: string } | undefined> =>
    (
      await db.query<{ name: string; account_id: string }>(sql`
        delete from api_tokens t
        where t.token_id = ${tokenId} and (${accountId}::uuid is null or t.account_id = ${accountId})
        returning t.name, t.account_id`)
    )[0],
})
