import { expect, it, vi } from 'vitest'
import { createBatcher } from './batcher.ts'

it('refuses the items that waited behind a hanging batch, and runs newer ones', async () => {
  let now = 0
  const runs: { items: string[]; end(error: Error | null): void }[] = []
  const batcher = createBatcher<string, string>({
    maxWaitMs: 4_500,
    now: () => now,
    size: 10,
    delayMs: 0,
    concurrency: 1,
    capacity: 100,
    key: (item) => item,
    run: (items) =>
      new Promise((resolve, reject) => {
        runs.push({ items, end: (error) => (error === null ? resolve(items) : reject(error)) })
      }),
    overflow: () => new Error('full'),
    isConflict: () => false,
    isHopeless: () => true,
  })
  const outcome = (item: string) =>
    batcher.add(item).then(
      () => 'taken',
      () => 'later',
    )
  const first = outcome('first')
  await expect.poll(() => runs.length).toBe(1)
  const behind = outcome('behind')
  now = 4_400
  const fresh = outcome('fresh')
  now = 4_500
  runs[0]?.end(new Error('Query read timeout'))
  expect(await Promise.all([first, behind])).toEqual(['later', 'later'])
  await expect.poll(() => runs.map(({ items }) => items)).toEqual([['first'], ['fresh']])
  runs[1]?.end(null)
  expect(await fresh).toBe('taken')
})

it('refuses items that wait too long, in a run and behind it, and lets the run continue', async () => {
  vi.useFakeTimers({ now: 0 })
  try {
    let end: (items: string[]) => void = () => {}
    const batcher = createBatcher<string, string>({
      maxWaitMs: 4_500,
      now: () => Date.now(),
      size: 1,
      delayMs: 0,
      concurrency: 1,
      capacity: 100,
      key: (item) => item,
      run: () =>
        new Promise((resolve) => {
          end = resolve
        }),
      overflow: () => new Error('later'),
      isConflict: () => false,
      isHopeless: () => true,
    })
    const outcomes: string[] = []
    const add = (item: string): void =>
      void batcher.add(item).then(
        () => outcomes.push(`${item} taken`),
        (error: Error) => outcomes.push(`${item} ${error.message}`),
      )
    add('in a run')
    add('behind')
    await vi.advanceTimersByTimeAsync(1_000)
    add('fresh')
    await vi.advanceTimersByTimeAsync(3_400)
    expect(outcomes).toEqual([])
    await vi.advanceTimersByTimeAsync(500)
    expect(outcomes).toEqual(['in a run later', 'behind later'])
    let isDrained = false
    const drained = batcher.drain().then(() => {
      isDrained = true
    })
    end(['in a run'])
    await vi.advanceTimersByTimeAsync(10)
    expect(isDrained).toBe(false)
    end(['fresh'])
    await drained
    expect(outcomes).toEqual(['in a run later', 'behind later', 'fresh taken'])
  } finally {
    vi.useRealTimers()
  }
})

it('accepts items up to its capacity, refuses the next one, and accepts more when capacity is free', async () => {
  let end: (items: string[]) => void = () => {}
  const runs: string[][] = []
  const batcher = createBatcher<string, string>({
    maxWaitMs: 4_500,
    now: () => 0,
    size: 2,
    delayMs: 0,
    concurrency: 1,
    capacity: 3,
    key: (item) => item,
    run: (items) => {
      runs.push(items)
      return new Promise((resolve) => {
        end = resolve
      })
    },
    overflow: () => new Error('full'),
    isConflict: () => false,
    isHopeless: () => true,
  })
  const outcome = (item: string) =>
    batcher.add(item).then(
      () => 'taken',
      (error: Error) => error.message,
    )
  const running = [outcome('a'), outcome('b')]
  await expect.poll(() => runs).toEqual([['a', 'b']])
  // Running items use no capacity.
  const waiting = [outcome('c'), outcome('d'), outcome('e')]
  expect(batcher.depth()).toBe(3)
  const refused = [outcome('f'), outcome('g')]
  expect(batcher.depth()).toBe(3)
  expect(await Promise.all(refused)).toEqual(['full', 'full'])
  end(['a', 'b'])
  expect(await Promise.all(running)).toEqual(['taken', 'taken'])
  await expect.poll(() => runs.length).toBe(2)
  expect(runs[1]).toEqual(['c', 'd'])
  const late = outcome('h')
  end(['c', 'd'])
  await expect.poll(() => runs.length).toBe(3)
  end(['e', 'h'])
  expect(await Promise.all([...waiting, late])).toEqual(['taken', 'taken', 'taken', 'taken'])
})

const batcherOf = (run: (items: string[]) => Promise<string[]>) =>
  createBatcher<string, string>({
    maxWaitMs: 4_500,
    now: () => 0,
    size: 10,
    delayMs: 0,
    concurrency: 1,
    capacity: 100,
    key: (item) => item[0] ?? '',
    run,
    overflow: () => new Error('full'),
    isConflict: (error) => (error as Error).message === 'conflict',
    isHopeless: () => false,
  })

it('puts two items with the same key into separate batches, in order', async () => {
  const runs: string[][] = []
  const batcher = batcherOf(async (items) => {
    runs.push(items)
    return items
  })
  expect(await Promise.all(['a1', 'b1', 'a2', 'a3'].map((item) => batcher.add(item)))).toEqual(['a1', 'b1', 'a2', 'a3'])
  expect(runs).toEqual([['a1', 'b1'], ['a2'], ['a3']])
})

it('runs a batch again after a conflict, and refuses only a bad item', async () => {
  let conflicts = 2
  const batcher = batcherOf(async (items) => {
    if (conflicts-- > 0) throw new Error('conflict')
    if (items.includes('bad')) throw new Error('is bad')
    return items
  })
  const outcome = (item: string) => batcher.add(item).catch((error: Error) => error.message)
  expect(await Promise.all(['a', 'c'].map(outcome))).toEqual(['a', 'c'])
  expect(await Promise.all(['a', 'bad', 'c'].map(outcome))).toEqual(['a', 'is bad', 'c'])
  conflicts = 3
  expect(await outcome('a')).toBe('conflict')
})

it('is not drained while a batch runs', async () => {
  let end: (items: string[]) => void = () => {}
  const batcher = batcherOf(
    () =>
      new Promise((resolve) => {
        end = resolve
      }),
  )
  const added = batcher.add('a')
  await expect.poll(() => batcher.depth()).toBe(0)
  let isDrained = false
  const drained = batcher.drain().then(() => {
    isDrained = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isDrained).toBe(false)
  end(['a'])
  await Promise.all([added, drained])
})
