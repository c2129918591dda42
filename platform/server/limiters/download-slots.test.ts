import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { AppError } from '../app-error.ts'
import { createDownloadSlots } from './download-slots.ts'

const setUp = () => {
  const at = { ms: 1 }
  const limits: string[] = []
  const slots = createDownloadSlots({ limited: (limit) => limits.push(limit), nowMs: () => at.ms })
  const start = (ip: string, asked = 0) =>
    slots(ip, async () => ({ stream: new Readable({ read() {} }), size: 1e9, asked: () => asked }))
  const startAll = (count: number, ipOf: (index: number) => string, asked?: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => start(ipOf(index), asked)))
  const codeOf = (given: Promise<unknown>) =>
    given.then(
      () => 'started',
      (error: AppError) => error.code,
    )
  return { at, limits, start, startAll, codeOf }
}

it('one address gets a share of the downloads, and all together have a limit', async () => {
  const { limits, start, startAll, codeOf } = setUp()
  const [first] = await startAll(32, () => '192.0.2.1')
  await startAll(96, (index) => `198.51.100.${index}`)
  expect(await codeOf(start('192.0.2.1'))).toBe('too_many_requests')
  expect(await codeOf(start('192.0.2.2'))).toBe('unavailable')
  expect(limits).toEqual(['download', 'downloads'])
  const closed = new Promise((resolve) => first?.stream.once('close', resolve))
  first?.stream.destroy()
  await closed
  expect(await codeOf(start('192.0.2.2'))).toBe('started')
})

it('requests that arrive together are counted before their file is open', async () => {
  const { start, codeOf } = setUp()
  const codes = await Promise.all(Array.from({ length: 40 }, () => codeOf(start('192.0.2.1'))))
  expect(codes.filter((code) => code === 'started')).toHaveLength(32)
})

it('a slow download gives way to a new one after its first seconds, and a fast one does not', async () => {
  const { at, start, startAll, codeOf } = setUp()
  const fast = await startAll(31, () => '192.0.2.1', 100e6)
  const slow = await start('192.0.2.1', 64_000)
  slow.stream.on('error', () => {})
  at.ms += 9_000
  expect(await codeOf(start('192.0.2.1'))).toBe('too_many_requests')
  at.ms += 2_000
  expect(await codeOf(start('192.0.2.1', 100e6))).toBe('started')
  expect([slow.stream.destroyed, fast.some(({ stream }) => stream.destroyed)]).toEqual([true, false])
  expect(await codeOf(start('192.0.2.1'))).toBe('too_many_requests')
})
