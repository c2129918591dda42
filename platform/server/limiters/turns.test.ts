import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createTurns } from './turns.ts'

const options = { atOnce: 2, perAccount: 1, waiting: 2, waitMs: 60_000, retryAfter: 5 }

/** Enters and records it; `leave` ends the turn. */
const enterer = (queue: ReturnType<typeof createTurns>) => {
  const entered: string[] = []
  const leaves = new Map<string, () => void>()
  const enter = async (name: string, connection = new EventEmitter()): Promise<void> => {
    const leave = await queue.enter(name[0] as string, connection)
    entered.push(name)
    leaves.set(name, leave)
  }
  /** Enters and keeps waiting after the test, so the later refusal is ignored. */
  const ask = (name: string): void => void enter(name).catch(() => {})
  return { entered, enter, ask, leave: (name: string) => leaves.get(name)?.() }
}
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('turns', () => {
  it('lets accounts take turns, however many calls each has', async () => {
    const { entered, enter, leave } = enterer(createTurns({ ...options, atOnce: 1 }))
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => enter(name))
    await settled()
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) {
      leave(name)
      await settled()
    }
    await Promise.all(all)
    expect(entered).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  })

  it('limits an account to its share and starts another one at once', async () => {
    const { entered, ask } = enterer(createTurns(options))
    ask('a1')
    ask('a2')
    ask('b1')
    await settled()
    expect(entered).toEqual(['a1', 'b1'])
  })

  it('refuses callers only beyond the limit of their account, and ends a turn once', async () => {
    const { entered, enter, leave, ask } = enterer(createTurns({ ...options, atOnce: 1 }))
    for (const name of ['a1', 'a2', 'a3']) ask(name)
    await expect(enter('a4')).rejects.toMatchObject({ code: 'too_many_requests', headers: { 'retry-after': '5' } })
    ask('b1')
    await settled()
    leave('a1')
    leave('a1')
    await settled()
    expect(entered).toEqual(['a1', 'a2'])
  })

  it('drops a caller whose connection closes', async () => {
    const { entered, enter, leave, ask } = enterer(createTurns(options))
    const connection = new EventEmitter()
    ask('a1')
    const gone = enter('a2', connection)
    ask('a3')
    connection.emit('close')
    await expect(gone).rejects.toMatchObject({ code: 'too_many_requests' })
    leave('a1')
    await settled()
    expect(entered).toEqual(['a1', 'a3'])
  })

  it('blames the account for a long wait only if it uses its share', async () => {
    const { enter, ask } = enterer(createTurns({ ...options, atOnce: 1, waitMs: 1 }))
    ask('a1')
    await expect(enter('a2')).rejects.toMatchObject({ code: 'too_many_requests' })
    await expect(enter('b1')).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('admits callers without an account in order, and refuses the rest with a spread retry time', async () => {
    const turns = createTurns({ atOnce: 2, waiting: 2, waitMs: 60_000, retryAfter: 20, spread: 20 })
    const leaves = await Promise.all([turns.enter(), turns.enter()])
    const order: number[] = []
    const waiting = [3, 4].map((n) => turns.run(async () => void order.push(n)))
    await expect(turns.enter()).rejects.toMatchObject({
      code: 'unavailable',
      headers: { 'retry-after': expect.stringMatching(/^[23]\d$/) },
    })
    leaves[0]?.()
    await Promise.all(waiting)
    expect(order).toEqual([3, 4])
    await expect(turns.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    await turns.enter()
    await expect(Promise.race([turns.enter(), settled()])).resolves.toBeUndefined()
  })

  it('gives up waiting without using a turn', async () => {
    const turns = createTurns({ atOnce: 1, waiting: 5, waitMs: 1, retryAfter: 20 })
    const leave = await turns.enter()
    await expect(turns.enter()).rejects.toMatchObject({ code: 'unavailable' })
    leave()
    await turns.enter()
    await expect(turns.enter()).rejects.toMatchObject({ code: 'unavailable' })
  })
})
