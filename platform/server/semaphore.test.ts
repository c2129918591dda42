import { describe, expect, it } from 'vitest'
import { createSemaphore } from './semaphore.ts'

const comeBack = { after: 20, spread: 20 }

const outcome = (work: Promise<void>) =>
  work.then(
    () => 'in',
    (error: { code: string; headers: Record<string, string> }) =>
      `${error.code} ${Number(error.headers['retry-after']) >= 20}`,
  )

describe('semaphore', () => {
  it('admits callers up to the limit, the next ones in order, and refuses the rest with a retry time', async () => {
    const semaphore = createSemaphore({ atOnce: 2, waiting: 2, waitMs: 60_000, comeBack })
    const order: number[] = []
    const enter = async (n: number) => {
      await semaphore.enter()
      order.push(n)
    }
    await enter(1)
    await enter(2)
    const waiting = [enter(3), enter(4)]
    expect(await outcome(semaphore.enter())).toBe('unavailable true')
    semaphore.leave()
    await waiting[0]
    expect(order).toEqual([1, 2, 3])
    semaphore.leave()
    await waiting[1]
    for (let i = 0; i < 2; i++) semaphore.leave()
    await enter(5)
    await enter(6)
    expect(order).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('gives up waiting without using a slot', async () => {
    const semaphore = createSemaphore({ atOnce: 1, waiting: 5, waitMs: 1, comeBack })
    await semaphore.enter()
    expect(await outcome(semaphore.enter())).toBe('unavailable true')
    semaphore.leave()
    expect(await outcome(semaphore.enter())).toBe('in')
    expect(await outcome(semaphore.enter())).toBe('unavailable true')
  })
})
