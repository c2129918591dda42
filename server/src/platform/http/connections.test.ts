import http from 'node:http'
import https from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { agentPaths } from '@portcullis/contract'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startTestApp } from '#test/app.ts'
import { enrolAgent } from '#test/builders.ts'
import { createAuthority } from '#test/certificates.ts'
import { affordableConnections, createConnections, credentialSeen } from './connections.ts'

const sockets: Socket[] = []
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const end of ends.splice(0)) await end()
})

/** Opens a connection that sends only the given data, and records its end and what it received. */
const open = (port: number, localAddress = '127.0.0.1', text = '', isTls = false) =>
  new Promise<{ isEnded: () => boolean; say: (text: string) => void; heard: () => string }>((resolve) => {
    const socket: Socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    let [isEnded, heard] = [false, '']
    const one = { isEnded: () => isEnded, say: (more: string) => socket.write(more), heard: () => heard }
    socket.on('data', (data) => {
      heard += String(data)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      isEnded = true
      resolve(one)
    })
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      if (text !== '') socket.write(text)
      resolve(one)
    })
  })

type Connection = Awaited<ReturnType<typeof open>>
const endedOf = (ones: readonly { isEnded: () => boolean }[]) => ones.filter(({ isEnded }) => isEnded()).length

describe('connections without a credential', () => {
  it('are limited per address, and those of agents and of other addresses stay open', async () => {
    const t = await startTestApp({ listen: true })
    ends.push(() => t.close())
    const port = Number(new URL(t.address).port)
    const agent = await enrolAgent(t)
    const body = JSON.stringify(agent.body())
    const checkIn = `POST ${agentPaths.checkIn} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${agent.state.session}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const known = await open(port, '127.0.0.1', checkIn)
    await vi.waitFor(() => expect(known.heard()).toMatch(/^HTTP\/1\.1 200/), 10_000)
    const elsewhere = await open(port, '127.0.0.2')
    const idle: Connection[] = []
    for (let i = 0; i < 600; i++) idle.push(await open(port))
    await vi.waitFor(() => expect(endedOf(idle)).toBeGreaterThanOrEqual(88), 10_000)
    expect(endedOf(idle.slice(0, 88))).toBe(88)
    expect(endedOf(idle.slice(100))).toBe(0)
    expect([known.isEnded(), elsewhere.isEnded()]).toEqual([false, false])
    const before = known.heard().length
    known.say('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
    await vi.waitFor(() => expect(known.heard().slice(before)).toMatch(/^HTTP\/1\.1 200/), 10_000)
  })

  /** A server with few slots. `/in` verifies a credential, `/wait` never responds. */
  const serve = async (
    total: number,
    perAddress: number,
    tls?: { cert: string; key: string },
    proxies: string[] = [],
  ) => {
    const connections = createConnections({ limits: { total, perAddress }, trustedProxies: proxies, full: () => {} })
    const listener: http.RequestListener = (request, response) => {
      connections.asked(request, response)
      if (request.url === '/in') credentialSeen(request.socket)
      if (request.url !== '/wait' && request.method === 'GET') response.end('x')
    }
    const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener)
    connections.watch(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return (server.address() as AddressInfo).port
  }
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
  const answered = (one: { heard: () => string }) =>
    vi.waitFor(() => expect(one.heard()).toMatch(/^HTTP\/1\.1 200/), 10_000)

  it('are closed oldest first when the process runs out of files, and authenticated ones stay open', async () => {
    const port = await serve(6, 100)
    const known = await open(port, '127.0.0.1', get('/in'))
    await answered(known)
    const waiting = await open(port, '127.0.0.2', get('/wait'))
    const inPieces = await open(port, '127.0.0.3', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nx')
    const asked = await open(port, '127.0.0.4', get('/'))
    await answered(asked)
    const silent = [await open(port, '127.0.0.5'), await open(port, '127.0.0.6')]
    for (const next of [[inPieces], [asked], silent]) {
      for (const one of next) {
        expect(one.isEnded()).toBe(false)
        await open(port, '127.0.0.7')
        await vi.waitFor(() => expect(one.isEnded()).toBe(true), 10_000)
      }
    }
    expect([known.isEnded(), waiting.isEnded()]).toEqual([false, false])
  })

  it('are refused when authenticated connections use all slots', async () => {
    const port = await serve(3, 100)
    const known = [1, 2, 3].map(() => open(port, '127.0.0.1', get('/in')))
    for (const one of known) await answered(await one)
    const late = await open(port, '127.0.0.9')
    await vi.waitFor(() => expect(late.isEnded()).toBe(true), 10_000)
    expect(endedOf(await Promise.all(known))).toBe(0)
  })

  it('are recognised by their credential over TLS as well', async () => {
    const issued = await (await createAuthority()).issue(['127.0.0.1'])
    const port = await serve(100, 2, issued)
    const known = await open(port, '127.0.0.1', get('/in'), true)
    await answered(known)
    const silent: Connection[] = []
    for (let i = 0; i < 4; i++) silent.push(await open(port, '127.0.0.1', '', true))
    await vi.waitFor(() => expect(endedOf(silent)).toBe(2), 10_000)
    expect(silent.map(({ isEnded }) => isEnded())).toEqual([true, true, false, false])
    expect(known.isEnded()).toBe(false)
  })

  it('of a trusted proxy are limited in total only', async () => {
    const port = await serve(10, 2, undefined, ['127.0.0.0/29'])
    const ofProxy: Connection[] = []
    for (let i = 0; i < 6; i++) ofProxy.push(await open(port, '127.0.0.5'))
    const others: Connection[] = []
    for (let i = 0; i < 3; i++) others.push(await open(port, '127.0.0.77'))
    await vi.waitFor(() => expect(endedOf(others)).toBe(1), 10_000)
    expect(endedOf(ofProxy)).toBe(0)
  })

  it('leave file descriptors for the database and receivers', () => {
    expect(affordableConnections(1_024)).toEqual({ total: 768, perAddress: 384 })
    expect(affordableConnections(300)).toEqual({ total: 150, perAddress: 75 })
    expect(affordableConnections(65_536)).toEqual({ total: 65_280, perAddress: 512 })
    expect(affordableConnections(Number.POSITIVE_INFINITY)).toMatchObject({ perAddress: 512 })
  })
})
