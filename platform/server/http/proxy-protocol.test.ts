import https from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sql } from '../db/sql.ts'
import { createLog } from '../log.ts'
import { affordableConnections } from './connection-limits.ts'
import { createConnections } from './connections.ts'
import { acceptProxyHeaders } from './proxy-protocol.ts'

const sockets: Socket[] = []
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const end of ends.splice(0)) await end()
})

const balancer = '127.0.0.2'
const header = (address: string, port = 4711) => `PROXY TCP4 ${address} 198.51.100.1 ${port} 8080\r\n`
const metrics = 'GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'

/** Sends each part in a packet of its own. Returns all that was received until the end of the connection. */
const ask = async (port: number, localAddress: string, ...parts: string[]): Promise<string> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  sockets.push(socket)
  let heard = ''
  socket.on('data', (data) => {
    heard += String(data)
  })
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  for (const part of parts) {
    await new Promise((resolve) => socket.write(part, resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
  return heard
}

const start = async (options: Parameters<typeof startTestApp>[0] = {}): Promise<{ t: TestApp; port: number }> => {
  const t = await startTestApp({ listen: true, proxyProtocolFrom: ['127.0.0.2/31'], ...options })
  ends.push(() => t.close())
  return { t, port: Number(new URL(t.address).port) }
}

describe('behind a balancer that sends PROXY headers', () => {
  it('callers have their own address', async () => {
    const { t, port } = await start()
    const body = JSON.stringify({ username: 'admin', password: adminPassword })
    const signIn = `POST /prime/webui/Auth/LocalLogin HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    expect(await ask(port, balancer, header('203.0.113.9'), signIn)).toMatch(/^HTTP\/1\.1 200/)
    expect(await ask(port, balancer, `${header('203.0.113.10')}${signIn}`)).toMatch(/^HTTP\/1\.1 200/)
    expect(await ask(port, balancer, ...header('203.0.113.11'), signIn)).toMatch(/^HTTP\/1\.1 200/)
    const known = await t.db.query<{ ip: string }>(sql`select s.ip from signin_sources s order by s.ip collate "C"`)
    expect(known.map(({ ip }) => ip)).toEqual(['203.0.113.10', '203.0.113.11', '203.0.113.9'])
  })

  it('nobody else can look like a caller on this machine or choose an address', async () => {
    const { port } = await start()
    expect(await ask(port, balancer, header('203.0.113.9'), metrics)).toMatch(/^HTTP\/1\.1 401/)
    expect(await ask(port, balancer, metrics)).toBe('')
    expect(await ask(port, '127.0.0.9', header('127.0.0.1'), metrics)).not.toContain('portcullis_')
    expect(await ask(port, '127.0.0.9', metrics)).toMatch(/^HTTP\/1\.1 401/)
  })

  it('its health checks have its own address', async () => {
    const { port } = await start()
    const ready = 'GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
    expect(await ask(port, balancer, 'PROXY UNKNOWN\r\n', ready)).toMatch(/^HTTP\/1\.1 200/)
  })

  it('a connection without a complete header ends', async () => {
    const server = createServer(() => {})
    acceptProxyHeaders(server, [balancer], { log: createLog('silent'), announce: () => true, patienceMs: 1 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    expect(await Promise.all([ask(port, balancer), ask(port, balancer, 'PROXY ')])).toEqual(['', ''])
  })

  it('TLS connections have the address of the client', async () => {
    const { cert, key } = await (await createAuthority()).issue(['127.0.0.1'])
    const connections = createConnections({
      limits: { ...affordableConnections(), total: 3, silent: 1 },
      refused: () => {},
    })
    const server = https.createServer({ cert, key }, (req, res) => {
      connections.asked(req, res)
      res.end(`${req.socket.remoteAddress} ${req.socket.remotePort} ${req.socket.remoteFamily}`)
    })
    acceptProxyHeaders(server, [balancer], { log: createLog('silent'), announce: connections.announce })
    connections.watch(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    const through = async (start: string) => {
      const raw = connect({ port, host: '127.0.0.1', localAddress: balancer })
      raw.write(start)
      const socket = connectTls({ socket: raw, rejectUnauthorized: false })
      sockets.push(raw, socket)
      let heard = ''
      socket.on('error', () => {})
      socket.on('data', (data) => {
        heard += String(data)
      })
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      await vi.waitFor(() => expect(heard).toContain('IPv'), 10_000)
      return { raw, heard }
    }
    const first = await through(header('203.0.113.9', 50_001))
    expect(first.heard).toContain('203.0.113.9 50001 IPv4')
    const other = await through('PROXY TCP6 2001:db8::9 2001:db8::1 50002 8443\r\n')
    expect(other.heard).toContain('2001:db8::9 50002 IPv6')
    expect([first.raw.destroyed, other.raw.destroyed]).toEqual([false, false])
    // A second silent connection of one client ends its first one, although both come from the balancer.
    await through(header('203.0.113.9', 50_003))
    await vi.waitFor(() => expect(first.raw.destroyed || first.raw.readableEnded).toBe(true), 10_000)
    expect(other.raw.destroyed).toBe(false)
  })
})
