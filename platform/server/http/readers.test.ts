import { connect, type Socket } from 'node:net'
import { startTestApp } from '@portcullis/server/test/app.ts'
import { expect, it, vi } from 'vitest'
import { createReaders } from './readers.ts'

it('a response larger than the kernel buffers waits in pieces, not as a whole', async () => {
  const t = await startTestApp({ listen: true })
  const served: Socket[] = []
  t.app.fastify.server.on('connection', (socket: Socket) => served.push(socket))
  const { hostname, port } = new URL(t.address)
  const client = connect(Number(port), hostname)
  client.pause().on('error', () => {})
  client.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(8))
  await vi.waitFor(() => expect(served[0]?.writableLength).toBeGreaterThan(0), 10_000)
  expect(served[0]?.writableLength).toBeLessThan(256 * 1024)
  let bytes = 0
  const whole = (await t.request({ method: 'GET', url: '/openapi.json' })).rawPayload.length
  client.on('data', (data) => {
    bytes += data.length
  })
  client.resume()
  await vi.waitFor(() => expect(bytes).toBeGreaterThan(8 * whole), 20_000)
  client.destroy()
  await t.close()
})

it('a client that accepts less than 8 KiB per second while bytes wait for it is closed, and no other', () => {
  const reader = (isKnown: boolean, perSecond: number, waiting = 65_536) => {
    const socket = { writableLength: waiting, bytesWritten: 4_000_000 + waiting, writableFinished: false }
    return {
      ...{ socket: socket as unknown as Socket, encrypted: undefined, isKnown, backlog: undefined, leftAt: undefined },
      after: (seconds: number) => {
        socket.bytesWritten = 4_000_000 + waiting + perSecond * seconds
      },
    }
  }
  const readers = {
    stranger: reader(false, 3_000),
    quickStranger: reader(false, 8_192),
    person: reader(true, 3_000),
    quickPerson: reader(true, 8_192),
    idle: reader(false, 0, 0),
  }
  const closedAt: Record<string, number> = {}
  let seconds = 0
  const all = new Set(Object.values(readers))
  const { check } = createReaders(all, (one) => {
    all.delete(one)
    closedAt[Object.entries(readers).find(([, reader]) => reader === one)?.[0] ?? ''] = seconds
  })
  for (; seconds <= 300; seconds += 1) {
    for (const one of all) one.after(seconds)
    check(seconds * 1_000)
  }
  expect(closedAt).toEqual({ stranger: 15, person: 60 })
})
