import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { AccountRow } from './accounts.store.ts'

export const createExternalStore = (db: Queryable) => ({
  lockByName: async (nameKey: string): Promise<AccountRow | undefined> =>
    (await db.query<AccountRow>(sql`select * from accounts a where a.name_key = ${nameKey} for update`))[0],

  lockByExternalId: async (issuer: string, id: string): Promise<AccountRow | undefined> =>
    (
      await db.query<AccountRow>(sql`
        select * from accounts a where a.external_issuer = ${issuer} and a.external_id = ${id} for update`)
    )[0],

  /** Writes the directory's or provider's data. The caller must hold the row's lock. */
  update: (row: AccountRow): Promise<number> =>
    db.execute(sql`
      update accounts set external_issuer = ${row.external_issuer}, external_id = ${row.external_id},
        withdrawn_at = ${row.withdrawn_at}, confirmed_at = ${row.confirmed_at}
      where account_id = ${row.account_id}`),

  deleteTokens: (accountId: string): Promise<number> =>
    db.execute(sql`delete from api_tokens where account_id = ${accountId}`),

  /** Returns enabled directory accounts with a session or token that were not confirmed since a time. Oldest first. */
  due: (since: Date, now: Date, limit: number): Promise<AccountRow[]> =>
    db.query<AccountRow>(sql`
      select a.* from accounts a
      where a.auth_source = 'LDAP' and a.is_enabled and (a.confirmed_at is null or a.confirmed_at <= ${since})
        and (exists (select from sessions s where s.account_id = a.account_id and s.expires_at > ${now})
          or exists (select from api_tokens t where t.account_id = a.account_id
                       and (t.expires_at is null or t.expires_at > ${now})))
      order by a.confirmed_at nulls first, a.account_id limit ${limit}::int`),
})
