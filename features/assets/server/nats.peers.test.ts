import { createServer, type Server, type Socket } from 'node:net'
import { createDestinations } from '@portcullis/platform/server/destinations.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { afterAll, describe, expect, it } from 'vitest'
import { createNatsSink } from './nats.ts'

const info =
  'INFO {"server_id":"x","version":"2.9.10","proto":1,"host":"127.0.0.1","port":4222,"headers":true,"max_payload":1048576,"jetstream":true}\r\n'
const servers: Server[] = []
const sockets = new Set<Socket>()
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
})

/** Starts a simulated peer and returns its address. */
const listen = (serve: (socket: Socket) => void): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      serve(socket)
    }).listen(0, '127.0.0.1', () =>
      resolve(`nats://me:s3cret@127.0.0.1:${(server.address() as { port: number }).port}`),
    )
    servers.push(server)
  })

const peers: [string, (socket: Socket) => void][] = [
  ['accepts and stays silent', () => {}],
  ['answers with another protocol', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n<html>')],
  [
    'sends one byte per second',
    (socket) => {
      let at = 0
      const timer = setInterval(() => socket.write(info[at++] ?? ''), 1_000).unref()
      socket.on('close', () => clearInterval(timer))
    },
  ],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  [
    'closes the connection after its greeting',
    (socket) => {
      socket.write(info)
      socket.once('data', () => socket.destroy())
    },
  ],
  [
    'greets, but does not answer JetStream requests',
    (socket) => {
      socket.write(info)
      socket.on('data', (chunk) => {
        if (chunk.includes('PING')) socket.write('PONG\r\n')
      })
    },
  ],
  [
    'sends endlessly',
    (socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(`INFO ${'x'.repeat(65_536)}`));
      }
      socket.on('drain', more)
      more()
    },
  ],
]

describe('a peer that is not NATS', () => {
  it('causes a readable error in time, without the password', async () => {
    const before = process.memoryUsage().rss
    const startedAt = performance.now()
    // In parallel, because each may use its full timeout.
    await Promise.all(
      peers.map(async ([name, serve]) => {
        const sink = createNatsSink({
          url: new Secret(await listen(serve)),
          source: async () => 'x',
          resolve: createDestinations(['127.0.0.0/8', '::1']),
        })
        const failure = await sink.begin(0).then(
          () => null,
          (error: unknown) => String(error),
        )
        expect(failure, name).toMatch(/\w/)
        expect(failure, name).not.toContain('s3cret')
        await sink.close()
      }),
    )
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(200)
  })

  it('causes an error if nothing listens there or the address is not allowed', async () => {
    const begin = (url: string) =>
      createNatsSink({
        url: new Secret(url),
        source: async () => 'x',
        resolve: createDestinations(['127.0.0.0/8', '::1']),
      }).begin(0)
    await expect(begin('nats://127.0.0.1:1')).rejects.toThrow()
    await expect(begin('nats://169.254.169.254')).rejects.toThrow('does not connect')
  })
})
