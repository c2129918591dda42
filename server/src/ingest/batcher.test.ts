import { expect, it } from 'vitest'
import { createBatcher } from './batcher.ts'

it('gives up with a batch that the database let hang those that waited behind it, and tries the newer ones', async () => {
  let now = 0
  const runs: { items: string[]; end(error: Error | null): void }[] = []
  const batcher = createBatcher<string, string>({
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
