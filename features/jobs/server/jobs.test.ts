import { sql } from '@portcullis/platform/server/db/sql.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Job } from '#features/contract.ts'
import type { JobHandler } from './index.ts'

let t: TestApp
let next = 0

beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

/** Registers a handler under a new kind, so that tests do not share jobs. */
const kindOf = (handler: JobHandler, on: TestApp = t): string => {
  const kind = `test-${next++}`
  on.jobs.handle(kind, handler)
  return kind
}
const enqueue = (kind: string, total = 0, data: unknown = null): Promise<string> =>
  t.db.transaction((tx) =>
    t.jobs.enqueue(tx, systemActor('tester'), { kind, title: `Job ${kind}`, total, data, canCancel: true }),
  )
const read = async (id: string): Promise<Job> => (await (await t.admin()).get(`/prime/webui/jobs/${id}`)).json()
const cancel = async (id: string) => (await t.admin()).post(`/prime/webui/jobs/${id}/cancel`)

/** Adds 1 to 5, one part per step, from its cursor on. */
const adder = (seen: number[], before: (n: number) => Promise<void> = async () => {}): JobHandler => ({
  run: async (job) => {
    for (let n = (job.cursor as number | null) ?? 0; n < 5; n++) {
      await before(n)
      await t.db.transaction(async (tx) => {
        await job.save(tx, { done: 1, cursor: n + 1 })
        seen.push(n)
      })
    }
    return 'done'
  },
})

describe('a job', () => {
  it('runs in steps and shows its progress', async () => {
    const seen: number[] = []
    const during: number[] = []
    let id = ''
    const kind = kindOf(
      adder(seen, async (n) => {
        if (n === 3) during.push((await read(id)).done)
      }),
    )
    id = await enqueue(kind, 5)
    await t.jobs.drain()
    expect([seen, during]).toEqual([[0, 1, 2, 3, 4], [3]])
    expect(await read(id)).toMatchObject({
      kind,
      state: 'completed',
      total: 5,
      done: 5,
      failed: 0,
      createdBy: 'tester',
      createdAt: '2031-05-04T10:11:12.000Z',
      endedAt: '2031-05-04T10:11:12.000Z',
      canCancel: false,
    })
    const listed = (await (await t.admin()).get('/prime/webui/jobs')).json().data as Job[]
    expect(listed.map((job) => job.id)).toContain(id)
  })

  it('does not exist if the enqueuing transaction rolls back', async () => {
    const seen: number[] = []
    const kind = kindOf(adder(seen))
    await expect(
      t.db.transaction(async (tx) => {
        await t.jobs.enqueue(tx, systemActor('tester'), { kind, title: 'never' })
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await t.jobs.drain()
    expect(seen).toEqual([])
  })

  it('resumes from its cursor when its replica is gone', async () => {
    const seen: number[] = []
    let isAway = true
    const kind = kindOf(
      adder(seen, async (n) => {
        // The database state of a killed replica: the lease remains, and nobody releases the job.
        if (n === 2 && isAway) {
          isAway = false
          await t.db.execute(sql`update jobs set lease_id = gen_random_uuid() where kind = ${kind}`)
        }
      }),
    )
    const id = await enqueue(kind, 5)
    await t.jobs.drain()
    // The interrupted step found another lease and was rolled back.
    expect([seen, (await read(id)).state]).toEqual([[0, 1], 'running'])
    await t.jobs.drain()
    expect(seen).toEqual([0, 1])
    t.clock.advance(61_000)
    await t.jobs.drain()
    expect([seen, await read(id)]).toMatchObject([[0, 1, 2, 3, 4], { state: 'completed', done: 5 }])
  })

  it('runs on one replica only', async () => {
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    try {
      const seen: number[] = []
      const kind = kindOf(adder(seen))
      other.jobs.handle(kind, adder(seen))
      const id = await enqueue(kind, 5)
      await Promise.all([t.jobs.drain(), other.jobs.drain()])
      await Promise.all([t.jobs.drain(), other.jobs.drain()])
      expect([seen, (await read(id)).done]).toEqual([[0, 1, 2, 3, 4], 5])
    } finally {
      await other.close()
    }
  })

  it('stops when it is cancelled: finished steps stay, and its handler cleans up', async () => {
    const seen: number[] = []
    const cleaned: string[] = []
    let id = ''
    const kind = kindOf({
      ...adder(seen, async (n) => {
        if (n === 2) expect((await cancel(id)).json()).toMatchObject({ state: 'cancelled', done: 2 })
      }),
      cancelled: async (job) => {
        cleaned.push(job.id)
      },
    })
    id = await enqueue(kind, 5)
    await t.jobs.drain()
    expect([seen, cleaned]).toEqual([[0, 1], [id]])
    expect(await read(id)).toMatchObject({
      state: 'cancelled',
      done: 2,
      message: 'Cancelled by admin.',
      canCancel: false,
    })
    expect((await cancel(id)).statusCode).toBe(409)
    await t.jobs.drain()
    expect(cleaned).toEqual([id])
  })

  it('completes with the last of its parts that end elsewhere', async () => {
    const kind = kindOf({
      run: async (job) => {
        await t.db.transaction((tx) => job.save(tx, { total: 3, failed: 1 }))
        return 'waits'
      },
    })
    const id = await enqueue(kind)
    await t.jobs.drain()
    const count = (done: number, failed: number) =>
      t.db.transaction((tx) => t.jobs.count(tx, [{ jobId: id, done, failed }]))
    expect(await read(id)).toMatchObject({ state: 'running', total: 3, done: 0, failed: 1 })
    await count(1, 0)
    expect((await read(id)).state).toBe('running')
    await count(1, 0)
    expect(await read(id)).toMatchObject({ state: 'completed', done: 2, failed: 1 })
    // A confirmation after a cancellation was already counted as failed.
    await count(1, -1)
    expect(await read(id)).toMatchObject({ state: 'completed', done: 3, failed: 0 })
  })

  it('does not wait for a job of another kind', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = await enqueue(
      kindOf({
        run: async () => {
          await held
          return 'done'
        },
      }),
    )
    const seen: number[] = []
    const quick = await enqueue(kindOf(adder(seen)), 5)
    const drained = t.jobs.drain()
    await vi.waitFor(async () => expect((await read(quick)).state).toBe('completed'))
    expect((await read(slow)).state).toBe('running')
    release()
    await drained
    expect((await read(slow)).state).toBe('completed')
  })

  it('fails if its handler throws, without revealing the error', async () => {
    const kind = kindOf({
      run: async () => {
        throw new Error('secret of the server')
      },
    })
    const id = await enqueue(kind)
    await t.jobs.drain()
    expect(await read(id)).toMatchObject({ state: 'failed', message: 'The server failed. See its log for details.' })
  })

  it('cleans up before it is recorded as failed, and again if that fails', async () => {
    const states: string[] = []
    let id = ''
    const kind = kindOf({
      run: async () => {
        throw new Error('a defect')
      },
      failed: async () => {
        states.push((await read(id)).state)
        if (states.length === 1) throw new Error('the database is away')
      },
    })
    id = await enqueue(kind)
    await t.jobs.drain()
    expect([states, (await read(id)).state]).toEqual([['running'], 'running'])
    t.clock.advance(5_000)
    await t.jobs.drain()
    expect([states, (await read(id)).state]).toEqual([['running', 'running'], 'failed'])
  })

  it('requires a signed-in reader, and a Manager to cancel it', async () => {
    const id = await enqueue(kindOf({ run: async () => 'done' }))
    const user = await person(t, { profile: 30 })
    expect((await user.api.get(`/prime/webui/jobs/${id}`)).statusCode).toBe(200)
    expect((await user.api.post(`/prime/webui/jobs/${id}/cancel`)).statusCode).toBe(403)
    expect((await t.as(undefined).get('/prime/webui/jobs')).statusCode).toBe(401)
    expect((await (await t.admin()).get('/prime/webui/jobs/nothing')).statusCode).toBe(404)
  })
})
