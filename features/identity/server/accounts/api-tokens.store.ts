import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { Permission } from '#features/contract.ts'

export interface ApiTokenRow {
  token_id: string
  account_id: string
  name: string
  user_name: string
  user_profile: 10 | 20 | 30
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
  last_used_ip: string | null
  created_by: string | null
  /** Null: the token was created before tokens had scopes. */
  scopes: Permission[] | null
  /** Suspension of the token's account. */
  suspended_until: Date | null
}

/** A token whose owner is notified of its expiry. */
export interface ExpiringToken {
  token_id: string
  account_id: string
  name: string
  user_name: string
  expires_at: Date
  step: 1 | 2 | 3
}

export const createApiTokensStore = (db: Queryable) => ({
  /** Returns the tokens of one account, or of all if `accountId` is null. Newest first. */
  list: (accountId: string | null): Promise<ApiTokenRow[]> =>
    db.query<ApiTokenRow>(sql`
      select t.token_id, t.account_id, t.name, a.user_name, t.user_profile, t.created_at, t.expires_at, t.last_used_at,
             t.last_used_ip, t.created_by, t.scopes, a.suspended_until
      from api_tokens t join accounts a using (account_id)
      where ${accountId}::uuid is null or t.account_id = ${accountId}
      order by t.created_at desc, t.token_id desc`),

  insert: (row: ApiTokenRow, tokenHash: Buffer, step: number): Promise<number> =>
    db.execute(sql`
      insert into api_tokens (token_id, token_hash, account_id, name, user_profile, created_at, expires_at, created_by,
                              scopes, expiry_step)
      values (${row.token_id}, ${tokenHash}, ${row.account_id}, ${row.name}, ${row.user_profile}, ${row.created_at},
              ${row.expires_at}, ${row.created_by}, ${row.scopes}::text[], ${step}::smallint)`),

  /**
   * Advances tokens to the expiry step that applies at `now`: 1 from `first`, 2 from `second`, 3 when expired. If two
   * replicas run it at the same time, only one gets each row.
   */
  advanceExpiry: (now: Date, first: Date, second: Date, limit: number): Promise<ExpiringToken[]> =>
    db.query<ExpiringToken>(sql`
      with due as (
        select t.token_id, case when t.expires_at <= ${now} then 3 when t.expires_at <= ${second} then 2 else 1 end as step
        from api_tokens t
        where t.expiry_step < 3 and t.expires_at <= ${first}
          and t.expiry_step < case when t.expires_at <= ${now} then 3 when t.expires_at <= ${second} then 2 else 1 end
        order by t.expires_at, t.token_id limit ${limit}::int for update skip locked)
      update api_tokens t set expiry_step = d.step::smallint from due d, accounts a
      where t.token_id = d.token_id and a.account_id = t.account_id
      returning t.token_id, t.account_id, t.name, a.user_name, t.expires_at, d.step`),

  /** Sets the expiry date of tokens created before scopes, once for each token. A date before `latest` stays. */
  limitLegacy: (
    now: Date,
    latest: Date,
  ): Promise<{ account_id: string; name: string; user_name: string; user_profile: 10 | 20 | 30; expires_at: Date }[]> =>
    db.query(sql`
      update api_tokens t set expires_at = least(coalesce(t.expires_at, ${latest}), ${latest}), limited_at = ${now}
      from accounts a
      where a.account_id = t.account_id and t.scopes is null and t.limited_at is null
      returning t.account_id, t.name, a.user_name, t.user_profile, t.expires_at`),

  /** Returns the number of tokens of an account that have not expired. */
  count: async (accountId: string, now: Date): Promise<number> =>
    (
      await db.query<{ n: number }>(sql`
        select count(*)::int as n from api_tokens t
        where t.account_id = ${accountId} and (t.expires_at is null or t.expires_at > ${now})`)
    )[0]?.n ?? 0,

  /** Deletes all tokens of an account. Returns their names. */
  deleteAll: async (accountId: string): Promise<string[]> =>
    (
      await db.query<{ name: string }>(sql`delete from api_tokens t where t.account_id = ${accountId} returning t.name`)
    ).map(({ name }) => name),

  /** Deletes a token of one account, or of any account if `accountId` is null. Returns the deleted row. */
  delete: async (
    tokenId: string,
    accountId: string | null,
  ): Promise<{ name: string; account_id: string; owner_profile: 10 | 20 | 30 } | undefined> =>
    (
      await db.query<{ name: string; account_id: string; owner_profile: 10 | 20 | 30 }>(sql`
        delete from api_tokens t using accounts a
        where t.token_id = ${tokenId} and a.account_id = t.account_id
          and (${accountId}::uuid is null or t.account_id = ${accountId})
        returning t.name, t.account_id, a.user_profile as owner_profile`)
    )[0],
})
