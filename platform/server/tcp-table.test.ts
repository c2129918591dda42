import { existsSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { unless } from '@portcullis/domain/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { acknowledged, endsOf } from './tcp-table.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A connection whose peer does not read yet. */
const pair = async (host: string): Promise<{ ours: Socket; theirs: Socket }> => {
  const server = createServer({ pauseOnConnect: true })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const accepted = new Promise<Socket>((resolve) => void server.once('connection', resolve))
  const ours = connect((server.address() as AddressInfo).port, host).on('error', () => {})
  const connected = new Promise<void>((resolve) => void ours.once('connect', resolve))
  const theirs = (await accepted).on('error', () => {})
  await connected
  closing.push(() => {
    ours.destroy()
    theirs.destroy()
    server.close()
  })
  return { ours, theirs }
}

const whyNotLinux = existsSync('/proc/net/tcp') ? null : 'no /proc/net/tcp'

describe.each(['127.0.0.1', '::1'])('data written to %s', unless(whyNotLinux), (host) => {
  it('is acknowledged once the other kernel has all of it, and not before', async () => {
    const { ours, theirs } = await pair(host)
    const ends = endsOf(ours)
    if (ends === null) throw new Error('a connection without ends')
    ours.write('a little')
    await acknowledged(ends, AbortSignal.timeout(5_000))
    expect(ours.bytesWritten).toBe(8)

    // More than the other kernel buffers.
    ours.write(Buffer.alloc(16_000_000))
    let isThere = false
    const waiting = acknowledged(ends, AbortSignal.timeout(20_000)).then(() => {
      isThere = true
    })
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(isThere).toBe(false)
    theirs.resume()
    await waiting
    // Excludes at most what waits in our own kernel; the sender checks after all is written.
    expect(theirs.bytesRead).toBeGreaterThan(0)
  })

  it('is awaited only until the signal or the end of the connection', async () => {
    const { ours, theirs } = await pair(host)
    const ends = endsOf(ours)
    if (ends === null) throw new Error('a connection without ends')
    ours.write(Buffer.alloc(16_000_000))
    await acknowledged(ends, AbortSignal.timeout(100))
    const waiting = acknowledged(ends, AbortSignal.timeout(20_000))
    theirs.resetAndDestroy()
    const startedAt = performance.now()
    await waiting
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })
})
