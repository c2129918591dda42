import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { AccountRow } from './accounts.store.ts'

/** Addresses kept per account. Beyond it, those unused for the longest time are deleted. */
const sourcesKept = 50

export const createSigninStore = (db: Queryable) => ({
  /** Finds an account, and whether it signed in from this address before. Known and unknown names cost the same. */
  find: async (nameKey: string, ip: string): Promise<(AccountRow & { is_known_source: boolean }) | undefined> =>
    (
      await db.prepared<AccountRow & { is_known_source: boolean }>(sql`
        select a.*, exists (select from signin_sources s where s.account_id = a.account_id and s.ip = ${ip})
          as is_known_source
        from accounts a where a.name_key = ${nameKey}`)
    )[0],

  /** Returns the addresses that accounts signed in from. Latest first. */
  sources: async (most: number): Promise<string[]> =>
    (
      await db.query<{ ip: string }>(sql`
        select s.ip from signin_sources s group by s.ip order by max(s.last_success_at) desc, s.ip limit ${most}`)
    ).map(({ ip }) => ip),

  /** Returns the names of the accounts that signed in from an address. */
  namesFrom: async (ip: string, most: number): Promise<string[]> =>
    (
      await db.query<{ name_key: string }>(sql`
        select a.name_key from signin_sources s join accounts a using (account_id) where s.ip = ${ip}
        order by s.last_success_at desc, a.name_key limit ${most}`)
    ).map(({ name_key }) => name_key),

  /** Counts one attempt. Returns false if the bucket is full. Times are in microseconds. */
  reserve: async (bucket: string, stamp: number, cutoff: number, limit: number): Promise<boolean> =>
    (
      await db.prepared(sql`
        insert into signin_buckets as b (bucket, failed_at) values (${bucket}, array[${stamp}::bigint])
        on conflict (bucket) do update
          set failed_at = array(select t from unnest(b.failed_at) t where t > ${cutoff}::bigint) || ${stamp}::bigint
          where (select count(*) from unnest(b.failed_at) t where t > ${cutoff}::bigint) < ${limit}::int
        returning 1 as booked`)
    ).length === 1,

  /** Removes a successful attempt from the count. Other attempts with the same timestamp stay counted. */
  release: (bucket: string, stamp: number): Promise<number> =>
    db.execute(sql`
      update signin_buckets
      set failed_at = failed_at[:array_position(failed_at, ${stamp}::bigint) - 1]
                   || failed_at[array_position(failed_at, ${stamp}::bigint) + 1:]
      where bucket = ${bucket} and ${stamp}::bigint = any (failed_at)`),

  /** Returns the time of the oldest counted attempt of a bucket. */
  oldest: async (bucket: string, cutoff: number): Promise<number | null> =>
    (
      await db.query<{ oldest: number | null }>(sql`
        select min(t) as oldest from signin_buckets b, unnest(b.failed_at) t
        where b.bucket = ${bucket} and t > ${cutoff}::bigint`)
    )[0]?.oldest ?? null,

  deleteEndedBuckets: (cutoff: number): Promise<number> =>
    db.execute(sql`
      delete from signin_buckets b where not exists (select from unnest(b.failed_at) t where t > ${cutoff}::bigint)`),

  /** Returns and locks the account, if it may still sign in and its credentials are unchanged. */
  lockUnchanged: async (accountId: string, tokenVersion: number): Promise<AccountRow | undefined> =>
    (
      await db.query<AccountRow>(sql`
        select * from accounts a
        where a.account_id = ${accountId} and a.token_version = ${tokenVersion} and a.is_enabled for update`)
    )[0],

  signedIn: async (accountId: string, ip: string, now: Date): Promise<void> => {
    await db.execute(sql`update accounts set last_sign_in = ${now} where account_id = ${accountId}`)
    await db.execute(sql`
      insert into signin_sources (account_id, ip, last_success_at) values (${accountId}, ${ip}, ${now})
      on conflict (account_id, ip) do update set last_success_at = excluded.last_success_at`)
    await db.execute(sql`
      delete from signin_sources where account_id = ${accountId} and ip in (
        select s.ip from signin_sources s where s.account_id = ${accountId}
        order by s.last_success_at desc, s.ip offset ${sourcesKept})`)
  },

  /** Adds failures to the open audit record. Returns its count, or null if that record is older than the window. */
  addFailures: async (subject: string, ip: string, now: Date, since: Date, count = 1): Promise<number | null> =>
    (
      await db.query<{ failures: number }>(sql`
        insert into signin_failure_folds as f (subject, ip, window_start, failures)
        values (${subject}, ${ip}, ${now}, ${count})
        on conflict (subject, ip) do update set failures = f.failures + excluded.failures where f.window_start > ${since}
        returning f.failures`)
    )[0]?.failures ?? null,

  /** Closes a record older than the window and returns its count. */
  closeRecord: async (subject: string, ip: string): Promise<number> =>
    (
      await db.query<{ failures: number }>(sql`
        delete from signin_failure_folds where subject = ${subject} and ip = ${ip} returning failures`)
    )[0]?.failures ?? 0,

  /** Closes up to 100 records older than the window. */
  closeRecords: (since: Date): Promise<{ subject: string; ip: string; failures: number }[]> =>
    db.query(sql`
      delete from signin_failure_folds f where (f.subject, f.ip) in (
        select o.subject, o.ip from signin_failure_folds o where o.window_start <= ${since}
        limit 100 for update skip locked)
      returning f.subject, f.ip, f.failures`),
})
