import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface TotpRow {
  sealed: Buffer
  confirmed_at: Date | null
  last_step: number
}

export interface PasskeyRow {
  credential_id: string
  account_id: string
  public_key: Buffer
  counter: number
  transports: string[]
  name: string
  created_at: Date
  last_used_at: Date | null
}

export interface ChallengeRow {
  account_id: string
  token_version: number
  challenge: string | null
  attempts: number
}

export const createMfaStore = () => ({
  totp: async (q: Queryable, accountId: string): Promise<TotpRow | undefined> =>
    (
      await q.query<TotpRow>(
        sql`select t.sealed, t.confirmed_at, t.last_step from account_totp t where t.account_id = ${accountId}::uuid`,
      )
    )[0],

  /** Returns the secret and locks it, so that each code works only once. */
  lockTotp: async (tx: Tx, accountId: string): Promise<TotpRow | undefined> =>
    (
      await tx.query<TotpRow>(
        sql`select t.sealed, t.confirmed_at, t.last_step from account_totp t where t.account_id = ${accountId}::uuid for update`,
      )
    )[0],

  writeTotp: async (tx: Tx, accountId: string, sealed: Buffer): Promise<void> => {
    await tx.execute(sql`
      insert into account_totp (account_id, sealed) values (${accountId}::uuid, ${sealed})
      on conflict (account_id) do update set sealed = excluded.sealed, confirmed_at = null, last_step = 0`)
  },

  useTotp: async (tx: Tx, accountId: string, now: Date, step: number): Promise<void> => {
    await tx.execute(sql`
      update account_totp t set confirmed_at = coalesce(t.confirmed_at, ${now}), last_step = ${step} where t.account_id = ${accountId}::uuid`)
  },

  removeTotp: (tx: Tx, accountId: string): Promise<number> =>
    tx.execute(sql`delete from account_totp t where t.account_id = ${accountId}::uuid`),

  passkeyHolders: async (q: Queryable): Promise<number> =>
    (await q.query<{ n: number }>(sql`select count(distinct p.account_id)::int as n from account_passkeys p`))[0]?.n ??
    0,

  passkeys: (q: Queryable, accountId: string): Promise<PasskeyRow[]> =>
    q.query<PasskeyRow>(
      sql`select p.* from account_passkeys p where p.account_id = ${accountId}::uuid order by p.created_at, p.credential_id`,
    ),

  insertPasskey: (tx: Tx, p: Omit<PasskeyRow, 'last_used_at'>): Promise<number> =>
    tx.execute(sql`
      insert into account_passkeys (credential_id, account_id, public_key, counter, transports, name, created_at)
      values (${p.credential_id}, ${p.account_id}::uuid, ${p.public_key}, ${p.counter}::bigint, ${p.transports}::text[], ${p.name}, ${p.created_at})
      on conflict (credential_id) do nothing`),

  usePasskey: async (tx: Tx, credentialId: string, counter: number, now: Date): Promise<void> => {
    await tx.execute(sql`
      update account_passkeys p set counter = ${counter}::bigint, last_used_at = ${now} where p.credential_id = ${credentialId}`)
  },

  removePasskey: (tx: Tx, accountId: string, credentialId: string): Promise<number> =>
    tx.execute(
      sql`delete from account_passkeys p where p.account_id = ${accountId}::uuid and p.credential_id = ${credentialId}`,
    ),

  removeAll: async (tx: Tx, accountId: string): Promise<number> => {
    const totp = await tx.execute(sql`delete from account_totp t where t.account_id = ${accountId}::uuid`)
    const passkeys = await tx.execute(sql`delete from account_passkeys p where p.account_id = ${accountId}::uuid`)
    await tx.execute(sql`delete from account_recovery_codes r where r.account_id = ${accountId}::uuid`)
    return totp + passkeys
  },

  recoveryLeft: async (q: Queryable, accountId: string): Promise<number> =>
    (
      await q.query<{ n: number }>(
        sql`select count(*)::int as n from account_recovery_codes r where r.account_id = ${accountId}::uuid`,
      )
    )[0]?.n ?? 0,

  replaceRecovery: async (tx: Tx, accountId: string, hashes: readonly Buffer[]): Promise<void> => {
    await tx.execute(sql`delete from account_recovery_codes r where r.account_id = ${accountId}::uuid`)
    for (const hash of hashes)
      await tx.execute(
        sql`insert into account_recovery_codes (code_hash, account_id) values (${hash}, ${accountId}::uuid)`,
      )
  },

  /** Deletes a recovery code. If two requests use it at the same time, only one gets true. */
  useRecovery: async (tx: Tx, accountId: string, hash: Buffer): Promise<boolean> =>
    (await tx.execute(
      sql`delete from account_recovery_codes r where r.account_id = ${accountId}::uuid and r.code_hash = ${hash}`,
    )) === 1,

  insertChallenge: async (
    tx: Queryable,
    c: {
      hash: Buffer
      accountId: string
      version: number
      kind: 'signin' | 'register' | 'reauthenticate'
      challenge: string | null
      expiresAt: Date
      /** Session whose owner confirms their identity. */
      sessionId?: string
    },
  ): Promise<void> => {
    await tx.execute(sql`
      insert into mfa_challenges (token_hash, account_id, token_version, kind, challenge, expires_at, session_id)
      values (${c.hash}, ${c.accountId}::uuid, ${c.version}, ${c.kind}, ${c.challenge}, ${c.expiresAt},
              ${c.sessionId ?? null}::uuid)`)
  },

  /** Returns the account of a sign-in that waits for its second factor. */
  signInOf: async (q: Queryable, hash: Buffer, now: Date): Promise<string | undefined> =>
    (
      await q.query<{ account_id: string }>(sql`
        select c.account_id from mfa_challenges c where c.token_hash = ${hash} and c.kind = 'signin' and c.expires_at > ${now}`)
    )[0]?.account_id,

  /** Returns a sign-in that waits for its second factor, and locks it. */
  lockSignIn: async (tx: Tx, hash: Buffer, now: Date): Promise<ChallengeRow | undefined> =>
    (
      await tx.query<ChallengeRow>(sql`
        select c.account_id, c.token_version, c.challenge, c.attempts from mfa_challenges c
        where c.token_hash = ${hash} and c.kind = 'signin' and c.expires_at > ${now} for update`)
    )[0],

  setChallenge: async (tx: Tx, hash: Buffer, challenge: string): Promise<void> => {
    await tx.execute(sql`update mfa_challenges c set challenge = ${challenge} where c.token_hash = ${hash}`)
  },

  /** Counts an attempt, whatever its result. */
  countAttempt: async (q: Queryable, hash: Buffer): Promise<void> => {
    await q.execute(sql`update mfa_challenges c set attempts = c.attempts + 1 where c.token_hash = ${hash}`)
  },

  endChallenge: async (tx: Queryable, hash: Buffer): Promise<void> => {
    await tx.execute(sql`delete from mfa_challenges c where c.token_hash = ${hash}`)
  },

  /** Deletes and returns the challenge of a passkey registration. It works once. */
  takeRegistration: async (tx: Tx, accountId: string, now: Date): Promise<string | undefined> =>
    (
      await tx.query<{ challenge: string }>(sql`
        delete from mfa_challenges c where c.account_id = ${accountId}::uuid and c.kind = 'register' and c.expires_at > ${now}
        returning c.challenge`)
    ).at(-1)?.challenge,

  forgetRegistrations: async (tx: Tx, accountId: string): Promise<void> => {
    await tx.execute(sql`delete from mfa_challenges c where c.account_id = ${accountId}::uuid and c.kind = 'register'`)
  },

  /** Deletes the passkey challenges of a session and returns the newest. It works once. */
  takeReauthentication: async (tx: Tx, sessionId: string, now: Date): Promise<string | undefined> =>
    (
      await tx.query<{ challenge: string; expires_at: Date }>(sql`
        delete from mfa_challenges c where c.session_id = ${sessionId}::uuid and c.kind = 'reauthenticate'
        returning c.challenge, c.expires_at`)
    ).filter((row) => row.expires_at > now)[0]?.challenge,

  forget: (q: Queryable, now: Date): Promise<number> =>
    q.execute(sql`delete from mfa_challenges c where c.expires_at <= ${now}`),

  /** Updates whether the account has a factor. */
  mark: async (tx: Tx, accountId: string): Promise<void> => {
    await tx.execute(sql`
      update accounts a set mfa_enabled =
        exists (select from account_totp t where t.account_id = a.account_id and t.confirmed_at is not null)
        or exists (select from account_passkeys p where p.account_id = a.account_id)
      where a.account_id = ${accountId}::uuid`)
    // Without factors, the recovery codes go too. The next factor then shows new ones.
    await tx.execute(sql`
      delete from account_recovery_codes r using accounts a
      where r.account_id = ${accountId}::uuid and a.account_id = r.account_id and not a.mfa_enabled`)
  },
})
