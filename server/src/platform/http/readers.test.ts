import { connect, type Socket } from 'node:net'
import { expect, it, vi } from 'vitest'
import { startTestApp } from '../../../test/app.ts'

it('closes connections that stop reading a finished response, and no others', async () => {
  const t = await startTestApp({ listen: true })
  const served: Socket[] = []
  t.app.fastify.server.on('connection', (socket: Socket) => served.push(socket))
  const { hostname, port } = new URL(t.address)
  const ask = (path: string, times: number): Socket => {
    const client = connect(Number(port), hostname)
    client.pause().on('error', () => {})
    client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(times))
    return client
  }
  // More than the kernel buffers.
  const clients = [ask('/openapi.json', 12)]
  await vi.waitFor(() => expect(served[0]?.timeout).toBe(13_000), 10_000)
  await vi.waitFor(() => expect(served[0]?.writableLength).toBeGreaterThan(0), 10_000)
  clients.push(ask('/healthz', 1))
  // The keep-alive time of an idle connection, plus one second of Node's own.
  await vi.waitFor(() => expect(served[1]?.timeout).toBe(76_000), 10_000)
  // After that time, the server closes the connection that does not read its response, and frees its memory.
  served[0]?.emit('timeout')
  await vi.waitFor(() => expect([served[0]?.destroyed, served[1]?.destroyed]).toEqual([true, false]), 10_000)
  for (const client of clients) client.destroy()
  await t.close()
})
