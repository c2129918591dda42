import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLender, type LentPool } from './gradual-pool.ts'

/** A pool that opens connections at once, and lends idle ones first. */
class FakePool extends EventEmitter {
  totalCount = 0
  idleCount = 0
  async connect(): Promise<pg.PoolClient> {
    if (this.idleCount > 0) this.idleCount -= 1
    else this.totalCount += 1
    return {
      release: () => {
        this.emit('release')
        this.idleCount += 1
      },
    } as never
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const setUp = () => {
  const pool = new FakePool()
  const lender = createLender(pool as unknown as LentPool, 12)
  return { pool, lender }
}

it('serves a burst of short statements with four connections', async () => {
  const { pool, lender } = setUp()
  await Promise.all(
    Array.from({ length: 30 }, async () => {
      const client = await lender.connect()
      await setImmediate()
      client.release()
    }),
  )
  expect(pool).toMatchObject({ totalCount: 4, idleCount: 4 })
  expect(lender.waiting()).toBe(0)
})

it('opens one more connection every 50 ms while all are in use, up to the limit', async () => {
  const { pool, lender } = setUp()
  const lent = Promise.all(Array.from({ length: 12 }, () => lender.connect()))
  await setImmediate()
  expect([pool.totalCount, lender.waiting()]).toEqual([4, 8])
  await vi.advanceTimersByTimeAsync(100)
  expect(pool.totalCount).toBe(6)
  await vi.advanceTimersByTimeAsync(300)
  await lent
  expect(pool.totalCount).toBe(12)
})

it('lets callers wait for the pool once its limit is reached', async () => {
  const { pool, lender } = setUp()
  pool.totalCount = 12
  await lender.connect()
  expect(lender.waiting()).toBe(0)
})
