import { type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { expect } from 'vitest'
import type { TestApp } from './app.ts'

/**
 * Starts `work` while a transaction holds the rows that `lock` locks. Runs `change` and commits when `n` statements
 * wait for these rows. This makes a race happen every time.
 */
export const whileLocked = async <T>(
  { db }: Pick<TestApp, 'db'>,
  { lock, n, change }: { lock: SqlFragment; n: number; change?: SqlFragment },
  work: () => Promise<T>,
): Promise<T> => {
  const { done } = await db.transaction(async (tx) => {
    await tx.query(lock)
    const begun = work()
    const waiting = async (): Promise<number> =>
      (
        await db.query(
          sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).length
    await expect.poll(waiting, { timeout: 20_000 }).toBe(n)
    if (change !== undefined) await tx.execute(change)
    return { done: begun }
  })
  return done
}
