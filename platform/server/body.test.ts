import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Body, bufferBytes, guarded } from './body.ts'

let server: Server | undefined
afterEach(() => {
  vi.useRealTimers()
  server?.close()
})

const read = async (body: Body): Promise<IncomingMessage> => {
  server = createServer((_request, response) => body.pipe(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

/** Puts `total` bytes into a body as long as it has room, always from the same memory. Returns their hash. */
const produce = (body: Body, total: number): Promise<string> =>
  new Promise((resolve) => {
    const hash = createHash('sha256')
    const lent = Buffer.alloc(bufferBytes)
    let left = total
    const more = (): void => {
      while (left > 0 && body.hasRoom()) {
        const size = Math.min(left, 1 + ((left * 7_919) % bufferBytes))
        lent.fill(left % 251, 0, size)
        hash.update(lent.subarray(0, size))
        body.put(lent, 0, size)
        body.flush()
        lent.fill(0)
        left -= size
      }
      if (left > 0) return
      body.onRoom = () => {}
      body.finish()
      resolve(hash.digest('hex'))
    }
    body.onRoom = more
    more()
  })

const total = 20 * 1024 * 1024

describe('a body', () => {
  it('arrives unchanged at a reader that pauses, although its buffers are reused', async () => {
    const body = new Body()
    const produced = produce(body, total)
    const response = await read(body)
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of response) {
      hash.update(chunk)
      bytes += chunk.length
      if (bytes % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bytes).toBe(total)
    expect(hash.digest('hex')).toBe(await produced)
    expect(response.complete).toBe(true)
  })

  it('arrives unchanged at other readers, which keep what they got', async () => {
    const body = new Body()
    const produced = produce(body, total)
    const whole = Buffer.concat(await body.toArray())
    expect(whole.length).toBe(total)
    expect(createHash('sha256').update(whole).digest('hex')).toBe(await produced)
  })

  it('has room for four buffers while nobody reads', () => {
    const body = new Body()
    let put = 0
    for (const bytes = Buffer.alloc(10_000); body.hasRoom(); put += bytes.length) body.put(bytes)
    expect(put).toBeLessThanOrEqual(4 * bufferBytes)
    body.destroy()
  })

  it('may be empty', async () => {
    const body = new Body()
    body.finish()
    const response = await read(body)
    expect(await response.toArray()).toEqual([])
    expect(response.complete).toBe(true)
  })

  it.each([
    ['a body', () => new Body()],
    ['passed bytes', guarded],
  ])('that nobody reads ends after a minute, and its error ends nothing else: %s', async (_what, create) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const unread = create()
    const closed = new Promise((resolve) => unread.once('close', resolve))
    vi.advanceTimersByTime(59_999)
    expect(unread.destroyed).toBe(false)
    vi.advanceTimersByTime(1)
    await closed
    expect(unread.errored?.message).toBe('the client stopped reading')
  })

  it('fails the response if it fails, and ends if the reader leaves', async () => {
    const failing = new Body()
    failing.on('error', () => {})
    failing.put(Buffer.from('the beginning'))
    const response = await read(failing)
    failing.destroy(new Error('the database is gone'))
    server?.closeAllConnections()
    await expect(response.toArray()).rejects.toThrow('aborted')
    server?.close()

    const left = new Body()
    left.on('error', () => {})
    void produce(left, 2 * 1024 * 1024 * 1024)
    ;(await read(left)).destroy()
    await expect.poll(() => left.destroyed).toBe(true)
  })
})
