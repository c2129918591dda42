// Invariant: A route for machines checks credential and quota before it reads the body, or the server does not
//   start. Without a credential it reads at most 16 KiB.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { agentPaths } from '@portcullis/contract/agent-paths.ts'
import { workerPaths } from '@portcullis/contract/worker-protocol.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../contract/operation.ts'

const size = 3 * 1024 * 1024
/**
 * Limit of the bytes read from a connection: 16 KiB of the body. Node reads 64 KiB at a time, so the read with the
 * headers and the read that reaches the limit may each bring more.
 */
const mostRead = 2 * 64 * 1024

let t: TestApp
const served: Socket[] = []
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  t.app.fastify.server.on('connection', (socket: Socket) => served.push(socket))
})
afterAll(() => t.close())

interface Sent {
  /** The whole response; the connection ended without a reset. */
  answer: string
  status: number
  /** Bytes that the server read from the connection. */
  read: number
}

/** Sends headers and then up to 3 MB of body while the server reads, and reads the response to the end. */
const send = async (head: string, isChunked = false, bytes = size): Promise<Sent> => {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(t.address).port), allowHalfOpen: true })
  let answer = ''
  let failed: Error | undefined
  socket.on('data', (data) => {
    answer += data.toString('latin1')
  })
  socket.on('error', (error) => {
    failed = error
  })
  await once(socket, 'connect')
  socket.write(`${head}host: x\r\n${isChunked ? 'transfer-encoding: chunked' : `content-length: ${bytes}`}\r\n\r\n`)
  if (isChunked) socket.write(`${bytes.toString(16)}\r\n`)
  socket.write(Buffer.alloc(bytes, 32))
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve))
  const peer = served.find((one) => one.remotePort === socket.localPort)
  socket.destroy()
  if (failed !== undefined) throw failed
  return { answer, status: Number(answer.slice(9, 12)), read: peer?.bytesRead ?? Number.NaN }
}

/** Returns the fault of the response to an unauthenticated body, or null. */
const faultOf = ({ answer, status, read }: Sent): string | null =>
  status >= 400 && status < 500 && /\r\nconnection: close\r\n/i.test(answer) && read <= mostRead
    ? null
    : `read ${read}: ${answer.slice(0, 300)}`

const bodyMethods = new Set(['POST', 'PUT', 'DELETE'])
const anyId = '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'

describe('a body of 3 MB without a credential', () => {
  it('is answered by every operation without being read', async () => {
    const all = t.app.operations.filter(({ method }) => bodyMethods.has(method))
    expect(
      all
        .filter(({ permission }) => permission === 'agent')
        .map(({ id }) => id)
        .sort(),
    ).toEqual([
      'agentDebugLogs',
      'agentEnrol',
      'agentPolicy',
      'agentSession',
      'workerLease',
      'workerRegister',
      'workerResults',
    ])
    const faults: unknown[] = []
    for (const { method, path, id, streamType } of all)
      for (const isChunked of [false, true]) {
        const target = path.replace(/\{\w+\}/g, anyId)
        const type = streamType ?? 'application/json'
        const fault = faultOf(await send(`${method} ${target} HTTP/1.1\r\ncontent-type: ${type}\r\n`, isChunked))
        if (fault !== null) faults.push([id, isChunked, fault])
      }
    expect(faults).toEqual([])
  }, 120_000)

  it.each([
    ['the path of check-ins', 'POST', agentPaths.checkIn],
    ['the path of wake sockets', 'POST', agentPaths.wake],
    ['a path that does not exist', 'POST', '/worker/v1/nothing'],
    ['a path that takes another method', 'PUT', workerPaths.results],
    ['the metrics', 'POST', '/metrics'],
    ['the callback of an identity provider', 'POST', '/prime/webui/Auth/Oidc/callback'],
  ])('is not read by %s', async (_what, method, path) => {
    for (const isChunked of [false, true])
      expect(faultOf(await send(`${method} ${path} HTTP/1.1\r\ncontent-type: application/json\r\n`, isChunked))).toBe(
        null,
      )
  })

  it('is not read by a wake socket that is refused', async () => {
    const { status, read } = await send(
      `GET ${agentPaths.wake} HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n`,
    )
    expect(status).toBe(401)
    // Nothing parses it, so it fills the buffer of the connection.
    expect(read).toBeLessThanOrEqual(2 * mostRead)
  })

  it('of an agent over its quota is not read', async () => {
    const agent = await enrolAgent(t)
    const report = `POST ${agentPaths.checkIn} HTTP/1.1\r\nauthorization: Bearer ${agent.state.session}\r\nconnection: close\r\ncontent-type: application/json\r\n`
    // Bodies of 3 MB of blanks are not reports, but count towards the quota.
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) {
      const sent = await send(report)
      statuses.push(sent.status)
      if (sent.status === 429) expect(faultOf(sent)).toBe(null)
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 400, 429, 429])
    // A check-in without a report is still accepted.
    expect((await agent.post(agent.body())).status).toBe(200)
  })

  it('is read if it is small, and its connection is kept', async () => {
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => t.as(undefined).post(workerPaths.lease, { nonsense: 'x'.repeat(1_000) })),
    )
    expect(answers.map(({ statusCode, headers }) => [statusCode, headers.connection])).toEqual(
      Array(3).fill([401, 'keep-alive']),
    )
  })
})

describe('a body over the limit of its operation', () => {
  const large = 24 * 1024 * 1024
  it.each([
    ['with its length', '', false],
    ['in chunks', '', true],
    ['that waits for 100 Continue', 'expect: 100-continue\r\n', false],
  ])('%s is refused without a reset', async (_what, more, isChunked) => {
    const head = `POST /prime/webui/admin/updateuserdetails HTTP/1.1\r\nauthorization: Bearer ${await t.signIn()}\r\ncontent-type: application/json\r\n${more}`
    const { answer } = await send(head, isChunked, large)
    expect(answer).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 413 /)
    expect(answer).toContain('"code":"payload_too_large"')
  })
})

describe('a route for machines', () => {
  const wanted = {
    id: 'machine',
    method: 'POST',
    path: '/worker/v1/machine',
    tag: 'T',
    summary: 'x',
    permission: 'agent',
    body: Type.Object({}),
    response: Type.Null(),
  } as const
  const nothing = async () => null

  it('does not start without a check before its body', async () => {
    await expect(startCapabilityApp((app) => app.register(operation(wanted), nothing))).rejects.toThrow(
      /has no authenticator before its body: refusing to start/,
    )
  })

  it('does not start with a large body before its credential', async () => {
    for (const large of [
      { ...wanted, bodyLimit: 20_000 },
      { ...wanted, permission: 'public', bodyLimit: 20_000 },
    ] as const)
      await expect(
        startCapabilityApp((app) =>
          large.permission === 'public'
            ? app.register(operation(large), nothing)
            : app.registerMachine(operation(large), { credential: 'body', check: () => null }, nothing),
        ),
      ).rejects.toThrow(/reads 20000 bytes without a credential, more than 16384: refusing to start/)
  })

  it('does not start with a guard for another audience', async () => {
    await expect(
      startCapabilityApp((app) =>
        app.registerMachine(
          operation({ ...wanted, permission: 'public' }),
          { credential: 'header', check: () => null },
          nothing,
        ),
      ),
    ).rejects.toThrow(/another audience: refusing to start/)
  })
})
