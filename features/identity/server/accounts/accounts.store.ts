import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface AccountRow {
  account_id: string
  user_name: string
  name_key: string
  password_hash: string | null
  user_profile: 10 | 20 | 30
  first_name: string
  last_name: string
  email: string
  phone: string | null
  image: string
  auth_source: 'Local' | 'LDAP' | 'OIDC'
  is_enabled: boolean
  must_change_password: boolean
  /** Whether the account has a second factor. The store of factors updates it. */
  mfa_enabled: boolean
  token_version: number
  last_sign_in: Date | null
  created_at: Date
  /** Issuer of the identity provider. Null for other accounts. */
  external_issuer: string | null
  /** Subject at the provider, or permanent id of the directory entry. */
  external_id: string | null
  /** When the directory disabled the account. Null if nobody or an Administrator did. */
  withdrawn_at: Date | null
  confirmed_at: Date | null
  /** Its credentials are refused until this time; null if it was never suspended or the suspension was lifted. */
  suspended_until: Date | null
  suspended_by: string | null
  /** Until this time, sign-in does not require a second factor. Set only on the command line of the server. */
  factor_exempt_until: Date | null
}

/** Columns that only accounts of a directory or provider use. */
type ExternalMember = 'external_issuer' | 'external_id' | 'withdrawn_at' | 'confirmed_at'
/** Columns that are empty in a new account. */
type LaterMember = 'suspended_until' | 'suspended_by' | 'factor_exempt_until'

export const createAccountsStore = (db: Queryable) => ({
  all: (): Promise<AccountRow[]> => db.query<AccountRow>(sql`select * from accounts a order by a.name_key`),

  byId: async (accountId: string): Promise<AccountRow | undefined> =>
    (await db.prepared<AccountRow>(sql`select * from accounts a where a.account_id = ${accountId}`))[0],

  /** Inserts an account. Throws 23505 on accounts_name_unique if the name is taken. */
  insert: (
    row: Omit<AccountRow, 'mfa_enabled' | 'token_version' | 'last_sign_in' | ExternalMember | LaterMember>,
  ): Promise<number> =>
    db.execute(sql`
      insert into accounts (account_id, user_name, name_key, password_hash, user_profile, first_name, last_name, email,
                            phone, image, auth_source, is_enabled, must_change_password, created_at)
      values (${row.account_id}, ${row.user_name}, ${row.name_key}, ${row.password_hash}, ${row.user_profile},
              ${row.first_name}, ${row.last_name}, ${row.email}, ${row.phone}, ${row.image}, ${row.auth_source},
              ${row.is_enabled}, ${row.must_change_password}, ${row.created_at})`),

  /** Writes every changeable member. The caller must hold the row's lock. */
  update: (row: AccountRow): Promise<number> =>
    db.execute(sql`
      update accounts set password_hash = ${row.password_hash}, user_profile = ${row.user_profile},
        first_name = ${row.first_name}, last_name = ${row.last_name}, email = ${row.email}, phone = ${row.phone},
        image = ${row.image}, is_enabled = ${row.is_enabled}, must_change_password = ${row.must_change_password},
        token_version = ${row.token_version}
      where account_id = ${row.account_id}`),

  /** Suspends an account, or lifts its suspension (null). */
  suspend: (accountId: string, until: Date | null, by: string | null): Promise<number> =>
    db.execute(sql`
      update accounts set suspended_until = ${until}, suspended_by = ${by}, token_version = token_version + 1
      where account_id = ${accountId}`),

  /** Lets an account sign in without a required second factor until the given time. */
  exemptFactor: (accountId: string, until: Date): Promise<number> =>
    db.execute(sql`update accounts set factor_exempt_until = ${until} where account_id = ${accountId}`),

  delete: (accountIds: readonly string[]): Promise<number> =>
    db.execute(sql`delete from accounts where account_id = any(${accountIds}::uuid[])`),

  lock: async (accountId: string): Promise<AccountRow | undefined> =>
    (await db.query<AccountRow>(sql`select * from accounts a where a.account_id = ${accountId} for update`))[0],

  /**
   * Locks the named accounts, the caller's and every Administrator, always in the same order. If two Administrators
   * delete each other, the second waits and then sees the result of the first.
   */
  lockForChange: (nameKeys: readonly string[], actorId: string | null): Promise<AccountRow[]> =>
    db.query<AccountRow>(sql`
      select * from accounts a
      where a.name_key = any(${nameKeys}::text[]) or a.user_profile = 10 or a.account_id = ${actorId}::uuid
      order by a.account_id for update`),

  isEmpty: async (): Promise<boolean> => (await db.query(sql`select 1 from accounts a limit 1`)).length === 0,

  /** Keeps two replicas from creating the first account at the same time. Released at COMMIT. */
  lockAll: (): Promise<number> => db.execute(sql`lock table accounts in share row exclusive mode`),

  insertLink: (row: { tokenHash: Buffer; accountId: string; expiresAt: Date }): Promise<number> =>
    db.execute(sql`
      insert into password_links (token_hash, account_id, expires_at)
      values (${row.tokenHash}, ${row.accountId}, ${row.expiresAt})`),

  linkOwner: async (tokenHash: Buffer, now: Date): Promise<AccountRow | undefined> =>
    (
      await db.query<AccountRow>(sql`
        select a.* from password_links l join accounts a using (account_id)
        where l.token_hash = ${tokenHash} and l.expires_at > ${now} and a.is_enabled`)
    )[0],

  /** Deletes and returns a link. If two requests use it at the same time, only one gets it. */
  takeLink: async (tokenHash: Buffer, now: Date): Promise<{ is_mailed: boolean } | undefined> =>
    (
      await db.query<{ is_mailed: boolean }>(sql`
        delete from password_links l where l.token_hash = ${tokenHash} and l.expires_at > ${now} returning l.is_mailed`)
    )[0],

  /** Records that the open link of an account was sent by mail. */
  markLinkMailed: (accountId: string): Promise<number> =>
    db.execute(sql`update password_links set is_mailed = true where account_id = ${accountId}`),

  /** Keeps an account from approving requests until a time. An existing later time stays. */
  holdApprovals: (accountId: string, until: Date): Promise<number> =>
    db.execute(sql`
      update accounts set approves_from = greatest(approves_from, ${until}::timestamptz) where account_id = ${accountId}`),

  deleteLinks: (accountId: string): Promise<number> =>
    db.execute(sql`delete from password_links where account_id = ${accountId}`),

  deleteEndedLinks: (now: Date): Promise<number> =>
    db.execute(sql`delete from password_links where expires_at <= ${now}`),
})
