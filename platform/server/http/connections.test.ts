// Invariant: The server closes connections that read a response slower than 8 KiB per second.
// Invariant: Every connection counts until it closes, per address, credential, account and in total, whatever it
//   sends or reads, and so do the bytes that its client leaves unread in the kernel (Linux).

import { existsSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { agentPaths } from '@portcullis/contract/agent-paths.ts'
import { unless } from '@portcullis/domain/testing'
import { startTestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '#platform/server/log.ts'
import { affordableConnections, type ConnectionLimits, type LimitName } from './connection-limits.ts'
import { createConnections, credentialSeen, type Owner } from './connections.ts'
import { createHttpServer } from './http-server.ts'
import type { UnreadLimits } from './unread.ts'

const sockets: Socket[] = []
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const end of ends.splice(0)) await end()
})

/** Opens a connection that sends only the given data, and records its end and what it received. */
const open = (port: number, localAddress = '127.0.0.1', text = '', isTls = false, isReading = true) =>
  new Promise<{
    isEnded: () => boolean
    wasReset: () => boolean
    say: (text: string) => void
    heard: () => string
    heardBytes: () => number
    read: () => void
    end: () => void
  }>((resolve) => {
    const socket: Socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    let [isEnded, wasReset, heard, bytes] = [false, false, '', 0]
    const one = {
      isEnded: () => isEnded,
      wasReset: () => wasReset,
      say: (more: string) => socket.write(more),
      heard: () => heard,
      heardBytes: () => bytes,
      read: () => socket.on('data', take).resume(),
      end: () => socket.end(),
    }
    function take(data: Buffer): void {
      bytes += data.length
      if (heard.length < 65_536) heard += String(data)
    }
    if (isReading) one.read()
    socket.on('error', (error: NodeJS.ErrnoException) => {
      wasReset = error.code === 'ECONNRESET'
    })
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

const refused: LimitName[] = []
const piece = Buffer.alloc(65_536)
const served: Socket[] = []
let dispatched = 0
let requests = 0
let figures: () => { strangers: number } = () => ({ strangers: Number.NaN })
let endSlowReaders: (nowMs: number) => void = () => {}
let endUnread: () => Promise<void> = async () => {}
/**
 * A server with few slots. `/in/<account>/<credential>` verifies a credential and `/machine/<id>` that of an agent.
 * `/wait` never responds, `/large` sends more than the kernel buffers, and `/medium` less.
 */
const serve = async (
  limits: Partial<ConnectionLimits>,
  tls?: { cert: string; key: string },
  trustedProxies: string[] = [],
  unreadLimits?: UnreadLimits,
) => {
  refused.length = 0
  dispatched = 0
  requests = 0
  const connections = createConnections({
    limits: { ...affordableConnections(65_536), ...limits },
    trustedProxies,
    ...(unreadLimits === undefined ? {} : { unreadLimits }),
    refused: (limit) => refused.push(limit),
  })
  endSlowReaders = connections.endSlowReaders
  endUnread = connections.endUnread
  figures = connections.figures
  const listener: http.RequestListener = (request, response) => {
    dispatched += 1
    if (!connections.asked(request, response)) return
    requests += 1
    const [, kind, id = '', credential = '', then] = String(request.url).split('/')
    const owners: Record<string, Owner> = {
      in: { account: id, credential },
      machine: { account: null, credential: id },
    }
    try {
      if (owners[kind ?? ''] !== undefined) credentialSeen(request.socket, owners[kind ?? ''] as Owner)
    } catch {
      response.writeHead(429).end()
      return
    }
    if (kind === 'large' || then === 'large') Readable.from(Array.from({ length: 512 }, () => piece)).pipe(response)
    else if (kind === 'medium' || then === 'medium') response.end(Buffer.alloc(1024 * 1024))
    else if (kind !== 'wait' && then !== 'wait' && request.method === 'GET') response.end('x')
  }
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener)
  connections.watch(server)
  served.length = 0
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => served.push(socket))
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

  it('are closed oldest first when the process runs out of files, and authenticated ones stay open', async () => {
    const port = await serve({ total: 6 })
    const known = await open(port, '127.0.0.1', get('/in/a/1'))
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
    const port = await serve({ total: 3 })
    const known = [1, 2, 3].map(() => open(port, '127.0.0.1', get('/in/a/1')))
    for (const one of known) await answered(await one)
    const late = await open(port, '127.0.0.9')
    await vi.waitFor(() => expect(late.isEnded()).toBe(true), 10_000)
    expect(endedOf(await Promise.all(known))).toBe(0)
  })

  it('are recognised by their credential over TLS as well', async () => {
    const issued = await (await createAuthority()).issue(['127.0.0.1'])
    const port = await serve({ silent: 2 }, issued)
    const known = await open(port, '127.0.0.1', get('/in/a/1'), true)
    await answered(known)
    const silent: Connection[] = []
    for (let i = 0; i < 4; i++) silent.push(await open(port, '127.0.0.1', '', true))
    await vi.waitFor(() => expect(endedOf(silent)).toBe(2), 10_000)
    expect(silent.map(({ isEnded }) => isEnded())).toEqual([true, true, false, false])
    expect(known.isEnded()).toBe(false)
  })

  it('of a trusted proxy are limited in total only', async () => {
    const port = await serve({ total: 10, silent: 2 }, undefined, ['127.0.0.0/29'])
    const ofProxy: Connection[] = []
    for (let i = 0; i < 6; i++) ofProxy.push(await open(port, '127.0.0.5'))
    const others: Connection[] = []
    for (let i = 0; i < 3; i++) others.push(await open(port, '127.0.0.77'))
    await vi.waitFor(() => expect(endedOf(others)).toBe(1), 10_000)
    expect(endedOf(ofProxy)).toBe(0)
  })

  it('leave file descriptors for the database and receivers', () => {
    const people = { credential: 128, account: 256, machine: 32 }
    expect(affordableConnections(1_024)).toEqual({ total: 768, address: 672, strangers: 192, silent: 192, ...people })
    expect(affordableConnections(300)).toMatchObject({ total: 150, address: 131, silent: 37 })
    expect(affordableConnections(65_536)).toMatchObject({
      total: 65_280,
      address: 57_120,
      strangers: 4_096,
      silent: 512,
    })
    expect(affordableConnections(Number.POSITIVE_INFINITY)).toMatchObject({ strangers: 4_096, silent: 512 })
  })

  it('are limited per address while they read a response as well', async () => {
    const port = await serve({ silent: 2 })
    const readers: Connection[] = []
    for (let i = 0; i < 4; i++) readers.push(await open(port, '127.0.0.1', get('/large'), false, false))
    const elsewhere = await open(port, '127.0.0.2', get('/large'), false, false)
    await vi.waitFor(() => expect(refused).toEqual(['silent', 'silent']), 10_000)
    const other = await open(port, '127.0.0.2', get('/'))
    await answered(other)
    expect([elsewhere.isEnded(), other.isEnded()]).toEqual([false, false])
  })

  it('are limited per address while the server works on their requests as well', async () => {
    const port = await serve({ silent: 3, strangers: 3 })
    const waiting: Connection[] = []
    for (let i = 0; i < 3; i++) waiting.push(await open(port, '127.0.0.1', get('/wait')))
    await vi.waitFor(() => expect(requests).toBe(3), 10_000)
    const late = await open(port, '127.0.0.1', get('/'))
    await vi.waitFor(() => expect(late.isEnded()).toBe(true), 10_000)
    expect([endedOf(waiting), refused]).toEqual([0, ['strangers']])
    await answered(await open(port, '127.0.0.2', get('/')))
  })
})

it('a connection counts after its last response until its client has read it, and is reset after a long time', async () => {
  const issued = await (await createAuthority()).issue(['127.0.0.1'])
  for (const tls of [undefined, issued]) {
    const port = await serve({}, tls)
    const last = get('/medium').replace('host', 'connection: close\r\nhost')
    const reading = await open(port, '127.0.0.1', last, tls !== undefined)
    await vi.waitFor(() => expect(reading.isEnded()).toBe(true), 10_000)
    expect([reading.heardBytes() > 1024 * 1024, reading.wasReset()]).toEqual([true, false])
    await vi.waitFor(() => expect(figures().strangers).toBe(0), 10_000)
    const stalled = [
      await open(port, '127.0.0.1', last, tls !== undefined, false),
      await open(port, '127.0.0.1', get('/medium'), tls !== undefined, false),
    ]
    await vi.waitFor(() => expect(requests).toBe(3), 10_000)
    await vi.waitFor(() => expect(served[2]?.bytesWritten).toBeGreaterThan(1024 * 1024), 10_000)
    await vi.waitFor(() => expect(served[2]?.writableLength).toBe(0), 10_000)
    // As when an idle connection expires.
    served[2]?.emit('timeout')
    await vi.waitFor(() => expect(served.slice(1).map((one) => one.writableFinished)).toEqual([true, true]), 10_000)
    expect(figures().strangers).toBe(2)
    const at = performance.now()
    endSlowReaders(at)
    endSlowReaders(at + 140_000)
    expect(figures().strangers).toBe(2)
    endSlowReaders(at + 150_000)
    await vi.waitFor(() => expect(figures().strangers).toBe(0), 10_000)
    for (const one of stalled) {
      one.read()
      await vi.waitFor(() => expect(one.wasReset()).toBe(true), 10_000)
    }
    expect(refused).toEqual(['rate', 'rate'])
  }
})

it('a connection that sends many requests without reading is closed before the server handles them', async () => {
  const port = await serve({})
  const eager = await open(port, '127.0.0.1', get('/').repeat(1_600), false, false)
  await vi.waitFor(() => expect(refused).toEqual(['unanswered']), 10_000)
  eager.read()
  await vi.waitFor(() => expect(eager.wasReset()).toBe(true), 10_000)
  expect([requests, dispatched]).toEqual([8, 9])
  const patient = await open(port, '127.0.0.1', get('/').repeat(8))
  await vi.waitFor(() => expect(patient.heard().match(/200 OK/g)).toHaveLength(8), 10_000)
  patient.say(get('/').repeat(8))
  await vi.waitFor(() => expect(patient.heard().match(/200 OK/g)).toHaveLength(16), 10_000)
  expect(patient.isEnded()).toBe(false)
  const t = await startTestApp({ listen: true })
  ends.push(() => t.close())
  // Node would answer an unknown expectation itself.
  for (const path of ['/healthz', '/healthz HTTP/1.1\r\nexpect: more\r\nx: ']) {
    const late = await open(Number(new URL(t.address).port), '127.0.0.1', get(path).repeat(800), false, false)
    late.read()
    await vi.waitFor(() => expect(late.wasReset()).toBe(true), 10_000)
  }
  expect((await (await t.admin()).get('/metrics')).body).toMatch(/refused_total\{limit="unanswered"\} 2/)
})

describe('connections with a credential', () => {
  it('are limited per credential and per account: one that is idle makes room, and one in use does not', async () => {
    const port = await serve({ credential: 2, account: 3 })
    const idle = [await open(port, '127.0.0.1', get('/in/a/1')), await open(port, '127.0.0.2', get('/in/a/1'))]
    for (const one of idle) await answered(one)
    const third = await open(port, '127.0.0.3', get('/in/a/1/wait'))
    await vi.waitFor(() => expect(idle.map(({ isEnded }) => isEnded())).toEqual([true, false]), 10_000)
    const fourth = await open(port, '127.0.0.4', get('/in/a/1/wait'))
    await vi.waitFor(() => expect(idle[1]?.isEnded()).toBe(true), 10_000)
    const fifth = await open(port, '127.0.0.5', get('/in/a/1'))
    await vi.waitFor(() => expect(fifth.heard()).toMatch(/^HTTP\/1\.1 429/), 10_000)
    const otherToken = await open(port, '127.0.0.6', get('/in/a/2'))
    await answered(otherToken)
    const beyond = await open(port, '127.0.0.7', get('/in/a/3/wait'))
    await vi.waitFor(() => expect(otherToken.isEnded()).toBe(true), 10_000)
    await answered(await open(port, '127.0.0.8', get('/in/b/4')))
    expect([third, fourth, beyond].map(({ isEnded }) => isEnded())).toEqual([false, false, false])
    expect(refused).toEqual(['credential', 'credential', 'credential', 'account'])
  })

  it('of one agent are limited, and those of many agents behind one address are not', async () => {
    const port = await serve({ machine: 2, silent: 4 })
    const agents: Connection[] = []
    for (let i = 0; i < 40; i++) agents.push(await open(port, '127.0.0.1', get(`/machine/${i}`)))
    for (const one of agents) await answered(one)
    expect(endedOf(agents)).toBe(0)
    for (let i = 0; i < 2; i++) await answered(await open(port, '127.0.0.1', get('/machine/0')))
    expect([agents[0]?.isEnded(), endedOf(agents), refused]).toEqual([true, 1, ['machine']])
  })

  it('leave room for other addresses', async () => {
    const port = await serve({ total: 8, address: 5 })
    const agents: Connection[] = []
    for (let i = 0; i < 5; i++) agents.push(await open(port, '127.0.0.1', get(`/machine/${i}`)))
    for (const one of agents) await answered(one)
    const late = await open(port, '127.0.0.1', get('/machine/9'))
    await vi.waitFor(() => expect(late.isEnded()).toBe(true), 10_000)
    await answered(await open(port, '127.0.0.2', get('/machine/8')))
    expect([endedOf(agents), refused]).toEqual([0, ['address']])
  })
})

it('a request above the limit of its token gets a problem, is counted, and its connection ends', async () => {
  const t = await startTestApp({ listen: true })
  ends.push(() => t.close())
  const port = Number(new URL(t.address).port)
  const authorization = `authorization: Bearer ${await t.signIn()}`
  // Their bodies never arrive, so they stay in use.
  const begun = `POST /prime/webui/agents/enrollmenttokens HTTP/1.1\r\nhost: a\r\n${authorization}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n`
  const busy: Connection[] = []
  for (let i = 0; i < 128; i++) busy.push(await open(port, '127.0.0.1', begun))
  const profile = `GET /prime/webui/admin/profile HTTP/1.1\r\nhost: a\r\n${authorization}\r\n\r\n`
  const admin = await t.admin()
  const verified = /^portcullis_connections\{credential="verified"\} 128$/m
  await vi.waitFor(async () => expect((await admin.get('/metrics')).body).toMatch(verified), 20_000)
  const late = await open(port, '127.0.0.2', profile)
  await vi.waitFor(() => expect(late.isEnded()).toBe(true), 10_000)
  expect(late.heard()).toMatch(/^HTTP\/1\.1 429 .*"code":"too_many_connections"/s)
  expect(endedOf(busy)).toBe(0)
  expect((await admin.get('/metrics')).body).toMatch(/refused_total\{limit="credential"\} [1-9]/)
})

it('a client that reads nothing is reset, which frees the bytes that wait in the kernel, and an idle one is not', async () => {
  const issued = await (await createAuthority()).issue(['127.0.0.1'])
  for (const tls of [undefined, issued]) {
    const port = await serve({}, tls)
    const isTls = tls !== undefined
    const idle = await open(port, '127.0.0.1', get('/machine/1/2/wait'), isTls)
    const stalled = [
      await open(port, '127.0.0.1', get('/large'), isTls, false),
      await open(port, '127.0.0.1', get('/in/a/1/large'), isTls, false),
    ]
    await vi.waitFor(() => expect(served.filter(({ writableLength }) => writableLength > 0)).toHaveLength(2), 10_000)
    let at = performance.now()
    // The kernel can still take some bytes for them in the first minutes.
    await vi.waitFor(() => {
      at += 60_000
      endSlowReaders(at)
      expect(refused).toEqual(['rate', 'rate'])
    }, 10_000)
    for (const one of stalled) {
      one.read()
      await vi.waitFor(() => expect(one.wasReset()).toBe(true), 10_000)
    }
    expect(idle.isEnded()).toBe(false)
  }
})

const whyNotLinux = existsSync('/proc/self/net/tcp') ? null : 'no /proc/self/net/tcp'

it(
  'clients of one address that leave too many bytes unread in the kernel are reset, the largest first',
  unless(whyNotLinux),
  async () => {
    const owner = 2.5 * 1024 * 1024
    const port = await serve({}, undefined, [], { owner, total: 10 * owner })
    const reading = await open(port, '127.0.0.1', get('/medium'))
    const known = await open(port, '127.0.0.1', get('/in/a/1/medium'), false, false)
    const stalled: Connection[] = []
    for (let i = 0; i < 4; i++) stalled.push(await open(port, '127.0.0.1', get('/medium'), false, false))
    const elsewhere = await open(port, '127.0.0.2', get('/medium'), false, false)
    await vi.waitFor(
      () => expect([requests, served.map((one) => one.writableLength)]).toEqual([7, served.map(() => 0)]),
      10_000,
    )
    // What a client has just accepted counts for it.
    await endUnread()
    await endUnread()
    expect(new Set(refused)).toEqual(new Set(['unread']))
    expect(refused.length).toBeLessThan(4)
    const before = refused.length
    await endUnread()
    expect(refused).toHaveLength(before)
    for (const one of [...stalled, known, elsewhere]) one.read()
    await vi.waitFor(() => expect(stalled.filter((one) => one.wasReset())).toHaveLength(before), 10_000)
    for (const one of [reading, known, elsewhere])
      await vi.waitFor(() => expect(one.heardBytes()).toBeGreaterThan(1024 * 1024), 10_000)
  },
)

it('a connection that its client half-closes counts until it is reset, and keeps nothing in the kernel', async () => {
  const issued = await (await createAuthority()).issue(['127.0.0.1'])
  for (const tls of [undefined, issued]) {
    const port = await serve({}, tls)
    const half = await open(port, '127.0.0.1', get('/medium'), tls !== undefined, false)
    await vi.waitFor(() => expect(served[0]?.bytesWritten).toBeGreaterThan(1024 * 1024), 10_000)
    await vi.waitFor(() => expect(served[0]?.writableLength).toBe(0), 10_000)
    half.end()
    await vi.waitFor(() => expect(served[0]?.writableFinished).toBe(true), 10_000)
    expect(figures().strangers).toBe(1)
    await vi.waitFor(() => expect(figures().strangers).toBe(0), 10_000)
    half.read()
    await vi.waitFor(() => expect(half.isEnded()).toBe(true), 10_000)
    expect([half.wasReset(), half.heardBytes() < 1024 * 1024]).toEqual([true, true])
  }
})

it.each([
  ['an unreadable request', 'nonsense\r\n\r\n'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['a refused body', 'POST /agent/v1/check-in HTTP/1.1\r\nhost: a\r\ncontent-length: 900000\r\n\r\nx'],
])('a connection that ends after %s keeps nothing in the kernel', async (_what, text) => {
  const t = await startTestApp({ listen: true })
  ends.push(() => t.close())
  const accepted: Socket[] = []
  t.app.fastify.server.on('connection', (socket: Socket) => accepted.push(socket))
  const client = await open(Number(new URL(t.address).port), '127.0.0.1', get('/openapi.json').repeat(2), false, false)
  await vi.waitFor(() => expect(accepted[0]?.bytesWritten).toBeGreaterThan(1024 * 1024), 10_000)
  client.say(text)
  await vi.waitFor(() => expect(accepted[0]?.destroyed).toBe(true), 10_000)
  client.read()
  await vi.waitFor(() => expect(client.isEnded()).toBe(true), 10_000)
  expect([client.wasReset(), client.heardBytes() > 0]).toEqual([true, true])
})

it('a connection closes if another request follows the last one at once', async () => {
  const port = await serve({})
  const last = get('/').replace('host', 'connection: close\r\nhost')
  const eager = await open(port, '127.0.0.1', last + get('/'))
  await vi.waitFor(() => expect(eager.isEnded()).toBe(true), 10_000)
  await vi.waitFor(() => expect([requests, figures().strangers]).toEqual([1, 0]), 10_000)
})

it('a request of a closed connection is not handled', async () => {
  const connections = createConnections({ limits: affordableConnections(65_536), refused: () => {} })
  const handled: string[] = []
  const server = createHttpServer(
    {
      log: createLog('silent', null),
      tls: null,
      trustedProxies: [],
      proxyProtocolFrom: [],
      fastPath: ({ url }) => handled.push(String(url)) > 0,
    },
    { connections, state: { isDraining: false }, sendFailure: () => {} },
  )
  connections.watch(server.server)
  await server.listen({ port: 0, host: '127.0.0.1' })
  ends.push(() => server.close())
  const eager = await open((server.server.address() as AddressInfo).port, '127.0.0.1', get('/').repeat(20))
  await vi.waitFor(() => expect(eager.isEnded()).toBe(true), 10_000)
  expect(handled).toHaveLength(8)
})
