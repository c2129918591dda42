import { EventEmitter } from 'node:events'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createUnpacker } from './gunzip.ts'

it('unpacks a bounded number of bodies of each sender at once, in turns between senders', async () => {
  const unpack = createUnpacker(1_000_000)
  const [text, connection] = ['line\n'.repeat(1_000), new EventEmitter()]
  connection.setMaxListeners(0)
  const ended: string[] = []
  const send = async (sender: string): Promise<string> => {
    try {
      expect((await unpack(sender, gzipSync(text), connection)).toString()).toBe(text)
      ended.push(sender)
      return 'unpacked'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  const flood = Array.from({ length: 100 }, () => send('flood'))
  const other = send('other')
  expect(Map.groupBy(await Promise.all(flood), (one) => one).get('too_many_requests')).toHaveLength(83)
  expect(await other).toBe('unpacked')
  expect(ended.indexOf('other')).toBeLessThan(3)
})
