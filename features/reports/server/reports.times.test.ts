// Invariant: Each scheduled time of a report creates one run, whichever server is down.

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createFakeClock, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { reportsBase, reportsOf, scheduleInput } from '@portcullis/server/test/reports.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReportCadence, ReportRun } from '#features/contract.ts'

const hour = 3_600_000
const day = 24 * hour
let t: TestApp
let reports: ReturnType<typeof reportsOf>

beforeAll(async () => {
  t = await startTestApp()
  reports = reportsOf(t)
  await insertFleet(t, 50)
})
afterAll(() => t.close())

const dues = (runs: readonly ReportRun[]): string[] => runs.map(({ dueAt }) => dueAt.slice(0, 16)).toReversed()

describe('a schedule', () => {
  it('runs once at its time, and is then due at the next', async () => {
    const made = await reports.add()
    expect(made.nextRunAt).toBe('2031-05-05T04:00:00.000Z')
    await reports.serve()
    expect(await reports.runs(made.id)).toEqual([])
    t.clock.advance(Date.parse('2031-05-05T04:00:00Z') - t.clock.now())
    await reports.serve()
    await reports.serve()
    expect(await reports.runs(made.id)).toMatchObject([
      {
        state: 'completed',
        reason: 'schedule',
        by: 'system',
        dueAt: '2031-05-05T04:00:00.000Z',
        rows: 50,
        missed: 0,
        note: '',
      },
    ])
    expect((await reports.schedule(made.id)).nextRunAt).toBe('2031-05-06T04:00:00.000Z')
  })

  it('appears in the health of the server if no server runs it', async () => {
    const made = await reports.add()
    expect((await t.server.reports.health()).status).toBe('OK')
    t.clock.advance(Date.parse(made.nextRunAt as string) - t.clock.now() + 6 * 60_000)
    expect(await t.server.reports.health()).toMatchObject({
      status: 'Error',
      description: expect.stringMatching(/no server ran it/),
    })
    await reports.serve()
    expect((await t.server.reports.health()).status).toBe('OK')
  })

  it('runs only manually while it is disabled', async () => {
    const made = await reports.add({ isEnabled: false })
    expect(made.nextRunAt).toBeNull()
    t.clock.advance(2 * day)
    await reports.serve()
    expect(await reports.runs(made.id)).toEqual([])
    expect(await reports.runNow(made.id)).toMatchObject({ state: 'completed', reason: 'manual' })
  })

  it('runs once and notes the delay when no server was running', async () => {
    const made = await reports.add()
    const first = Date.parse(made.nextRunAt as string)
    t.clock.advance(first - t.clock.now() + 3 * day + 2 * hour)
    await reports.serve()
    await reports.serve()
    const newest = new Date(first + 3 * day).toISOString()
    expect(await reports.runs(made.id)).toMatchObject([
      {
        dueAt: newest,
        missed: 3,
        note: expect.stringMatching(
          /^Late: it was due .* UTC, but no server was running\. 3 earlier times were missed\.$/,
        ),
      },
    ])
    expect((await reports.schedule(made.id)).nextRunAt).toBe(new Date(first + 4 * day).toISOString())
  })

  it('for the time since the previous run leaves no gap after failed or manual runs', async () => {
    const made = await reports.add({ range: 'previous', list: 'events' })
    const first = Date.parse(made.nextRunAt as string)
    const at = (n: number): string => new Date(first + n * day).toISOString()
    const until = async (n: number) => {
      t.clock.advance(first + n * day - t.clock.now())
      await reports.serve()
    }
    await until(0)
    await reports.runNow(made.id)
    await t.server.db.execute(sql`update accounts set is_enabled = false where name_key = 'admin'`)
    await until(1)
    await t.server.db.execute(sql`update accounts set is_enabled = true where name_key = 'admin'`)
    await until(2)
    const scheduled = (await reports.runs(made.id)).filter(({ reason }) => reason === 'schedule').toReversed()
    expect(scheduled.map(({ state, rangeFrom, rangeTo }) => [state, rangeFrom, rangeTo])).toEqual([
      ['completed', at(-1), at(0)],
      ['failed', at(0), at(1)],
      ['completed', at(0), at(2)],
    ])
  })
})

describe('at a clock change', () => {
  it.each([
    [
      'Europe/Berlin',
      '2031-03-29T12:00:00Z',
      { every: 'day', time: '02:30', timeZone: 'Europe/Berlin' },
      ['2031-03-30T01:00', '2031-03-31T00:30', '2031-04-01T00:30'],
    ],
    [
      'America/New_York',
      '2031-11-01T12:00:00Z',
      { every: 'day', time: '01:30', timeZone: 'America/New_York' },
      ['2031-11-02T05:30', '2031-11-03T06:30', '2031-11-04T06:30'],
    ],
    [
      'the end of February',
      '2031-02-27T12:00:00Z',
      { every: 'month', day: 31, time: '12:00', timeZone: 'Europe/Berlin' },
      ['2031-02-28T11:00'],
    ],
  ] as const)(
    'each day in %s has its run',
    async (_name, start, cadence, expected) => {
      const clock = createFakeClock(Date.parse(start))
      const other = await startTestApp({ clock })
      try {
        const those = reportsOf(other)
        const made = await those.add({ cadence: cadence as ReportCadence })
        const preview = await (await other.admin()).post(`${reportsBase}/preview`, {
          list: 'agents',
          format: 'csv',
          range: 'all',
          cadence,
        })
        expect(
          preview
            .json()
            .nextRuns.slice(0, expected.length)
            .map((at: string) => at.slice(0, 16)),
        ).toEqual(expected)
        for (let half = 0; half < 3 * 48; half++) {
          clock.advance(hour / 2)
          await other.server.reports.tick()
        }
        expect(dues(await those.runs(made.id))).toEqual(expected)
      } finally {
        await other.close()
      }
    },
    60_000,
  )
})

/** Creates a run whose job no server takes until the test has changed it; else a server takes it at once. */
const untaken = async (scheduleId: string): Promise<{ runId: string; jobId: string }> => {
  const { db } = t.server
  await db.execute(sql`
    create function hold() returns trigger language plpgsql as $$ begin new.lease_until = 'infinity'; return new; end $$`)
  await db.execute(sql`create trigger hold before insert on jobs for each row execute function hold()`)
  try {
    return (await (await t.admin()).post(`${reportsBase}/schedules/${scheduleId}/run`)).json()
  } finally {
    await db.execute(sql`drop trigger hold on jobs`)
    await db.execute(sql`drop function hold()`)
  }
}

describe('with several servers, and after crashes', () => {
  it('two replicas create one run per scheduled time', async () => {
    const second = await startTestApp({ database: t.database, clock: t.clock, keyDir: t.keyDir })
    try {
      const made = await Promise.all(Array.from({ length: 6 }, () => reports.add({ folder: 'replicas' })))
      t.clock.advance(Date.parse(made[0]?.nextRunAt as string) - t.clock.now())
      await Promise.all([t, second].flatMap((app) => [app.server.reports.tick(), app.server.reports.tick()]))
      await Promise.all([t, second].map((app) => app.server.jobs.drain()))
      for (const { id } of made)
        expect((await reports.runs(id)).map(({ state, rows }) => [state, rows])).toEqual([['completed', 50]])
      expect(readdirSync(join(t.keyDir, 'reports', 'replicas'))).toHaveLength(6)
    } finally {
      await second.close()
    }
  })

  it('a time that repeats after a clock was set back does not delay other schedules', async () => {
    const [first, other] = [await reports.add(), await reports.add()]
    t.clock.advance(Date.parse(first.nextRunAt as string) - t.clock.now())
    await t.server.reports.tick()
    await t.server.db.execute(sql`
      update report_schedules set next_run_at = ${new Date(first.nextRunAt as string)} where schedule_id = ${first.id}::uuid`)
    t.clock.advance(86_400_000)
    await t.server.reports.tick()
    await t.server.jobs.drain()
    expect((await reports.runs(other.id)).length).toBe(2)
    expect((await reports.runs(first.id)).length).toBeGreaterThanOrEqual(1)
  })

  it('a run interrupted by a crash is made again completely by another server', async () => {
    const made = await reports.add()
    const { runId, jobId } = await untaken(made.id)
    // The state after a crash with one chunk stored.
    await t.server.db.execute(sql`
      update jobs set lease_id = ${randomUUID()}::uuid, lease_until = ${new Date(t.clock.now() + 60_000)}, attempts = 1, done = 7,
        cursor = '{"phase":"make","rows":7}' where job_id = ${jobId}::uuid`)
    await t.server.db.execute(sql`update report_runs set state = 'running' where run_id = ${runId}::uuid`)
    await t.server.db.execute(
      sql`insert into report_chunks (run_id, n, bytes) values (${runId}::uuid, 0, 'half a file')`,
    )
    await reports.serve()
    expect((await reports.runs(made.id))[0]).toMatchObject({ state: 'running', hasFile: false })
    t.clock.advance(61_000)
    await reports.serve()
    const [run] = await reports.runs(made.id)
    expect(run).toMatchObject({ state: 'completed', rows: 50 })
    const bytes = (await reports.file(run as ReportRun)).rawPayload
    expect(bytes.length).toBe(run?.bytes)
    expect(bytes.toString('utf8')).not.toContain('half a file')
    const job = await (await t.admin()).get(`/prime/webui/jobs/${jobId}`)
    expect(job.json()).toMatchObject({ state: 'completed', done: 50, total: 50 })
  })

  it('a run interrupted during delivery continues there, with one file made once', async () => {
    const made = await reports.add({ folder: 'again' })
    // The database fails in the transaction that ends the run.
    await t.server.db.execute(sql`
      create function away() returns trigger language plpgsql as $$ begin raise exception 'gone' using errcode = '57P01'; end $$`)
    await t.server.db.execute(sql`
      create trigger away before update on report_runs for each row when (new.state = 'completed') execute function away()`)
    const half = await reports.runNow(made.id)
    expect(half).toMatchObject({ state: 'running', rows: 50, hasFile: true, deliveries: [] })
    expect(readdirSync(join(t.keyDir, 'reports', 'again'))).toHaveLength(1)
    await t.server.db.execute(sql`drop trigger away on report_runs`)
    await insertFleet(t, 1)
    t.clock.advance(6_000)
    await reports.serve()
    const [run] = await reports.runs(made.id)
    expect(run).toMatchObject({
      id: half.id,
      state: 'completed',
      rows: 50,
      deliveries: [{ kind: 'folder', state: 'done' }],
    })
    const [name = '', ...others] = readdirSync(join(t.keyDir, 'reports', 'again'))
    expect([name, others]).toEqual([run?.fileName, []])
    expect(readFileSync(join(t.keyDir, 'reports', 'again', name)).length).toBe(run?.bytes)
  })

  it('a server that stops releases its run, and the next one makes it', async () => {
    const second = await startTestApp({ database: t.database, clock: t.clock, keyDir: t.keyDir })
    const made = await Promise.all((['pdf', 'csv', 'pdf'] as const).map((format) => reports.add({ format })))
    for (const { id } of made) await (await second.admin()).post(`${reportsBase}/schedules/${id}/run`)
    const draining = second.server.jobs.drain()
    await expect
      .poll(async () => (await reports.runs((made[0] as { id: string }).id))[0]?.state, { interval: 5 })
      .toBe('running')
    await second.close()
    await draining
    t.clock.advance(61_000)
    await reports.serve()
    for (const { id } of made)
      expect((await reports.runs(id)).map(({ state, rows, error }) => [state, rows > 0, error])).toEqual([
        ['completed', true, ''],
      ])
  }, 60_000)

  it('a job that is given up or cancelled ends its run with the reason', async () => {
    const made = await reports.add()
    const first = await untaken(made.id)
    await t.server.db.execute(sql`
      update jobs set state = 'failed', is_due = false, message = 'It failed.', ended_at = now() where job_id = ${first.jobId}::uuid`)
    await t.server.reports.tick()
    expect((await reports.runs(made.id))[0]).toMatchObject({ state: 'failed', error: 'It failed.', hasFile: false })
    t.clock.advance(1)
    const second = await untaken(made.id)
    expect((await (await t.admin()).post(`/prime/webui/jobs/${second.jobId}/cancel`)).statusCode).toBe(200)
    await reports.serve()
    expect((await reports.runs(made.id))[0]).toMatchObject({
      state: 'cancelled',
      error: 'Cancelled.',
      hasFile: false,
    })
  })
})

describe('retention', () => {
  it('keeps the newest files of a schedule for 30 days and the history for a year', async () => {
    const made = await reports.add({ keepFiles: 2, folder: 'kept', isEnabled: false })
    const names: string[] = []
    for (let n = 0; n < 4; n++) {
      t.clock.advance(60_000)
      names.unshift((await reports.runNow(made.id)).fileName)
    }
    const kept = async () => (await reports.runs(made.id)).map(({ hasFile }) => hasFile)
    expect(await kept()).toEqual([true, true, false, false])
    expect(readdirSync(join(t.keyDir, 'reports', 'kept')).toSorted()).toEqual(names.slice(0, 2).toSorted())
    t.clock.advance(31 * day)
    await t.server.reports.maintain()
    expect(await kept()).toEqual([false, false, false, false])
    const [run] = await reports.runs(made.id)
    expect((await reports.file(run as ReportRun)).statusCode).toBe(404)
    expect(readdirSync(join(t.keyDir, 'reports', 'kept'))).toHaveLength(2)
    t.clock.advance(335 * day)
    await t.server.reports.maintain()
    // These two runs are needed to find the next files to delete.
    expect(await kept()).toEqual([false, false])
  })

  it('keeps files of a deleted schedule as long as before', async () => {
    const made = await reports.add()
    const run = await reports.runNow(made.id)
    expect((await (await t.admin()).delete(`${reportsBase}/schedules/${made.id}`)).json()).toEqual({ deleted: true })
    await t.server.reports.maintain()
    expect((await reports.file(run)).statusCode).toBe(200)
    expect((await (await t.admin()).put(`${reportsBase}/schedules/${made.id}`, scheduleInput())).statusCode).toBe(404)
    expect((await (await t.admin()).post(`${reportsBase}/schedules/${made.id}/run`)).statusCode).toBe(404)
    t.clock.advance(31 * day)
    await t.server.reports.maintain()
    expect((await reports.file(run)).statusCode).toBe(404)
  })
})
