import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { PollResult, WorkerLeaseRequest } from '#features/contract.ts'

interface TestRow {
  test_id: string
  fence: number
  created_by: string
  step: string
  steps: unknown
  result: unknown
}

export const createTestsStore = () => ({
  insert: async (tx: Tx, id: string, poll: Buffer, now: Date, by: string): Promise<void> => {
    await tx.execute(
      sql`insert into connection_tests (test_id, poll, created_at, created_by) values (${id}::uuid, ${poll}, ${now}, ${by})`,
    )
  },

  /** Makes concurrent counts wait until the transaction ends. */
  lock: async (tx: Tx): Promise<void> => {
    await tx.execute(sql`lock table connection_tests in share row exclusive mode`)
  },

  open: async (tx: Tx): Promise<number> =>
    (await tx.query<{ n: number }>(sql`select count(*)::int as n from connection_tests t where t.result is null`))[0]
      ?.n ?? 0,

  any: async (q: Queryable, since: Date): Promise<boolean> =>
    (await q.query(sql`select t.test_id from connection_tests t where t.created_at > ${since} limit 1`)).length > 0,

  one: async (q: Queryable, id: string, since: Date): Promise<TestRow | undefined> =>
    (
      await q.query<TestRow>(sql`
        select t.test_id, t.fence, t.created_by, t.step, t.steps, t.result from connection_tests t where t.test_id = ${id}::uuid and t.created_at > ${since}`)
    )[0],

  lease: (
    tx: Tx,
    now: Date,
    until: Date,
    since: Date,
    pollerId: string,
    limit: number,
  ): Promise<{ test_id: string; fence: number; poll: Buffer }[]> =>
    tx.query(sql`
      update connection_tests t set fence = t.fence + 1, lease_until = ${until}, poller_id = ${pollerId}::uuid, step = 'resolve', steps = '[]'
      where t.test_id in (
        select w.test_id from connection_tests w
        where w.result is null and w.created_at > ${since} and (w.lease_until is null or w.lease_until <= ${now})
        order by w.created_at limit ${limit}::int for update skip locked)
      returning t.test_id, t.fence, t.poll`),

  keep: async (tx: Tx, until: Date, pollerId: string, running: WorkerLeaseRequest['running']): Promise<string[]> =>
    (
      await tx.query<{ test_id: string }>(sql`
        update connection_tests t set lease_until = ${until}, step = u.step, steps = u.steps from ${unnestOf([
          [running.map((one) => one.id), 'uuid[]'],
          [running.map((one) => one.fence), 'int[]'],
          [running.map((one) => one.step), 'text[]'],
          [running.map((one) => JSON.stringify(one.done ?? [])), 'jsonb[]'],
        ])} u(id, fence, step, steps) where t.test_id = u.id and t.fence = u.fence and t.result is null and t.poller_id = ${pollerId}::uuid returning t.test_id`)
    ).map((row) => row.test_id),

  finish: async (tx: Tx, pollerId: string, results: readonly PollResult[]): Promise<string[]> =>
    (
      await tx.query<{ test_id: string }>(sql`
        update connection_tests t set result = u.result from ${unnestOf([
          [results.map((one) => one.id), 'uuid[]'],
          [results.map((one) => one.fence), 'int[]'],
          [results.map((one) => JSON.stringify(one)), 'jsonb[]'],
        ])} u(id, fence, result) where t.test_id = u.id and t.fence = u.fence and t.result is null and t.lease_until is not null
          and t.poller_id = ${pollerId}::uuid returning t.test_id`)
    ).map((row) => row.test_id),

  forget: (tx: Tx, before: Date): Promise<number> =>
    tx.execute(sql`delete from connection_tests t where t.created_at <= ${before}`),
})
