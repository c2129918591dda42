import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, Server, type Socket } from 'node:net'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

let t: TestApp
let port = 0
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  port = Number(new URL(t.address).port)
})
afterAll(() => t.close())

describe('a listening server', () => {
  it('takes several new connections in one turn of the event loop', async () => {
    let taken = 0
    t.app.fastify.server.on('connection', () => {
      taken += 1
    })
    // The kernel completed them all before the event loop turns.
    const sockets = Array.from({ length: 96 }, () => connect(port, '127.0.0.1'))
    let turns = 0
    while (taken < sockets.length && turns < 1_000) {
      await new Promise((resolve) => setImmediate(resolve))
      turns += 1
    }
    // With one per turn, 96 would be left; 32 acceptors leave about 3 each.
    expect([taken, turns < 60]).toEqual([96, true])
    const answers = sockets.map(async (socket) => {
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      return `${(await once(socket, 'data'))[0]}`.slice(0, 15)
    })
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']))
    for (const socket of sockets) socket.destroy()
  })

  it('keeps running when one of its sockets cannot accept a connection', async () => {
    const listened = vi.spyOn(Server.prototype, 'listen')
    const other = await startTestApp({ listen: true })
    try {
      const its = Number(new URL(other.address).port)
      const servers = new Set(listened.mock.contexts as Server[])
      const sharing = [...servers].filter((server) => (server.address() as AddressInfo | null)?.port === its)
      expect(sharing).toHaveLength(32)
      // Without a listener, the event would throw and end the process.
      for (const server of sharing) expect(server.emit('error', new Error('accept EMFILE'))).toBe(true)
      expect((await fetch(`${other.address}/healthz`)).status).toBe(200)
    } finally {
      listened.mockRestore()
      await other.close()
    }
  })

  it('does not share its port with another server', async () => {
    const other = await startTestApp()
    await expect(other.app.listen('127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await other.close()
    const foreign = createServer().listen(0, '127.0.0.1')
    await once(foreign, 'listening')
    const taken = (foreign.address() as { port: number }).port
    const third = await startTestApp()
    await expect(third.app.listen('127.0.0.1', taken)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await third.close()
    foreign.close()
  })

  it('listens on a name as well', async () => {
    const named = await startTestApp()
    const its = await named.app.listen('localhost', 0)
    expect((await fetch(`http://localhost:${its}/healthz`)).status).toBe(200)
    await named.close()
  })

  it('waits for the responses of all connections when it stops, and frees its port', async () => {
    const stopping = await startTestApp({ listen: true })
    const its = Number(new URL(stopping.address).port)
    let seen = 0
    stopping.app.fastify.server.on('request', () => {
      seen += 1
    })
    const sockets: Socket[] = []
    const answers: string[] = []
    for (let i = 0; i < 24; i++) {
      const socket = connect(its, '127.0.0.1')
      await once(socket, 'connect')
      answers.push('')
      socket.on('data', (chunk: Buffer) => {
        answers[i] += chunk.toString()
      })
      socket.write(
        'POST /prime/webui/Auth/LocalLogin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
      )
      sockets.push(socket)
    }
    const ended = sockets.map((socket) => once(socket, 'close'))
    await expect.poll(() => seen).toBe(24)
    const closed = stopping.app.fastify.close()
    await expect.poll(() => stopping.app.isDraining()).toBe(true)
    for (const socket of sockets) socket.write('}')
    await closed
    await Promise.all(ended)
    expect(answers.map((text) => text.split('\r\n')[0])).toEqual(sockets.map(() => 'HTTP/1.1 400 Bad Request'))
    const next = createHttpServer().listen(its, '127.0.0.1')
    await once(next, 'listening')
    next.close()
    await stopping.close()
  })
})
