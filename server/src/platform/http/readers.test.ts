import { connect, type Socket } from 'node:net'
import { expect, it, vi } from 'vitest'
import { startTestApp } from '../../../test/app.ts'

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
