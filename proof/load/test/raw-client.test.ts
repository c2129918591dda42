import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { measure, type Player } from '../check-in.ts'
import { runFresh, runPaced, runRaw } from '../raw-client.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

/** Returns 503 for every third request. */
const startShedding = async () => {
  const seen = { requests: 0, connections: 0 }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      seen.requests += 1
      response.writeHead(seen.requests % 3 === 0 ? 503 : 200, { 'content-length': '2' }).end('{}')
    })
  })
  server.on('connection', () => {
    seen.connections += 1
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { seen, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` }
}

const playerOf = (): Player => ({
  host: { agentId: 'a', privateKey: undefined as never, inventoryHash: 'h', devices: [] },
  bootId: 'b',
  head: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ',
  seq: 1,
  isPlugged: false,
  devices: [],
})

it('does not count failed requests as throughput', async () => {
  const { seen, url } = await startShedding()
  const cpu = () => ({ server: 0, database: 0 })
  const measured = await measure({ url, ca: undefined, cpu }, [playerOf(), playerOf()], 2, 0.3, 0)
  expect(measured.failed).toBeGreaterThan(0)
  expect(measured.count + measured.failed).toBe(seen.requests)
  expect(measured.failed).toBe(Math.floor(seen.requests / 3))
})

const workOf = (count: number) => {
  const answered: number[] = []
  return {
    answered,
    next: () => (count-- > 0 ? Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n') : undefined),
  }
}

it('keeps a connection, or opens one for each request', async () => {
  const { seen, url } = await startShedding()
  const kept = workOf(5)
  await runRaw(url, undefined, [{ ...kept, answered: (status) => kept.answered.push(status) }], () => {})
  expect([kept.answered.length, seen.connections]).toEqual([5, 1])
  const fresh = workOf(5)
  await runFresh(url, undefined, [{ ...fresh, answered: (status) => fresh.answered.push(status) }], () => {})
  expect([fresh.answered.length, seen.connections]).toEqual([5, 6])
})

it('sends requests at a steady rate', async () => {
  const { seen, url } = await startShedding()
  const paced = workOf(100)
  const works = [0, 1].map(() => ({ ...paced, answered: (status: number) => paced.answered.push(status) }))
  await runPaced(url, undefined, works, 50, 0.2)
  expect([paced.answered.length, seen.requests, seen.connections]).toEqual([20, 20, 2])
})
