import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createFakeClock, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, fetchText, rawHttp, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentPaths } from '#features/contract.ts'
import { createQuota } from './quota.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const codeOf = (work: () => void): string => {
  try {
    work()
    return 'ok'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('quota', () => {
  it('of concurrent requests is released after each answer', () => {
    const quota = createQuota(createFakeClock())
    for (let i = 0; i < 8; i++) quota.enter('a')
    expect(codeOf(() => quota.enter('a'))).toBe('too_many_requests')
    expect(codeOf(() => quota.enter('b'))).toBe('ok')
    quota.leave('a', 0)
    expect(codeOf(() => quota.enter('a'))).toBe('ok')
  })

  it('of memory is shared by all agents', () => {
    const quota = createQuota(createFakeClock())
    for (let i = 0; i < 32; i++) quota.hold(4 * 1024 * 1024)
    expect(codeOf(() => quota.hold(1))).toBe('unavailable')
    quota.leave('a', 4 * 1024 * 1024 + 1)
    expect(codeOf(() => quota.hold(4 * 1024 * 1024))).toBe('ok')
  })

  it('of reports refills over time', () => {
    const clock = createFakeClock()
    const quota = createQuota(clock)
    const send = () => codeOf(() => quota.charge('a', 4 * 1024 * 1024, 0))
    expect([send(), send(), send(), send(), send()]).toEqual(['ok', 'ok', 'ok', 'ok', 'too_many_requests'])
    clock.advance(1_000)
    expect([send(), send()]).toEqual(['ok', 'too_many_requests'])
    clock.advance(128_000)
    expect(send()).toBe('ok')
    expect(codeOf(() => quota.charge('b', 1, 0))).toBe('ok')
  })

  it('allows reports of a device that attaches and detaches every second', () => {
    const clock = createFakeClock()
    const quota = createQuota(clock)
    for (let second = 0; second < 100_000; second++) {
      quota.charge('a', 1_000, 2)
      clock.advance(1_000)
    }
  })
})

describe('a rogue agent', () => {
  it('has to wait, while others are served', async () => {
    const [rogue, other] = [await enrolAgent(t), await enrolAgent(t)]
    const change = { op: 'attached' as const, at: 1, device: plainKeyboard({ portPath: '1-1' }) }
    const gone = { op: 'removed' as const, at: 1, portPath: '1-1' }
    const changes = Array.from({ length: 2048 }, (_, i) => (i % 2 === 0 ? change : gone))
    const answers: number[] = []
    for (let i = 0; i < 9; i++) answers.push((await rogue.post(rogue.body({ changes }))).status)
    const refused = await rogue.post(rogue.body({ changes }))
    expect([answers[0], refused.status]).toEqual([200, 429])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await other.post(other.body({ changes }))).status).toBe(200)
    // A check-in without changes is still served.
    expect((await rogue.post(rogue.body())).status).toBe(200)
  })

  it('has at most eight concurrent requests, which are released when it disconnects', async () => {
    const agent = await enrolAgent(t)
    const open = await Promise.all(
      Array.from(
        { length: 8 },
        () =>
          new Promise<Socket>((resolve) => {
            const socket = connect(Number(new URL(t.address).port), '127.0.0.1', () => {
              socket.write(
                `POST ${agentPaths.checkIn} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${agent.state.session}\r\ncontent-length: 999\r\nexpect: 100-continue\r\n\r\n`,
              )
            })
            // "100 Continue" shows that the request has arrived.
            socket.once('data', () => resolve(socket))
          }),
      ),
    )
    expect((await agent.post(agent.body())).status).toBe(429)
    for (const socket of open) socket.destroy()
    const deadline = performance.now() + 20_000
    let status = 429
    while (status === 429 && performance.now() < deadline) status = (await agent.post(agent.body())).status
    expect(status).toBe(200)
  })
})

describe('an agent that asks for its policy on hundreds of connections', () => {
  it('gets one answer at a time, while others are served', async () => {
    const [rogue, other] = [await enrolAgent(t), await enrolAgent(t)]
    const ask = (agent: TestAgent) =>
      agentPost(t, agentPaths.policy, { nonce: 'n'.repeat(32) }, agent.state.session).then((answer) => ({
        status: answer.status,
        retryAfter: Number(answer.headers.get('retry-after')),
      }))
    // The lock on its row keeps its first request running.
    await t.server.db.transaction(async (tx) => {
      await tx.query(sql`select from agent_heartbeats where agent_id = ${rogue.agentId} for update`)
      const first = Promise.race(Array.from({ length: 100 }, () => ask(rogue)))
      expect((await first).status).toBe(429)
      expect((await first).retryAfter).toBeGreaterThan(0)
      expect((await ask(other)).status).toBe(200)
    })
    const deadline = performance.now() + 20_000
    let status = 429
    while (status === 429 && performance.now() < deadline) status = (await ask(rogue)).status
    expect(status).toBe(200)
  })

  it('gets one knowledge download at a time', async () => {
    const agent = await enrolAgent(t)
    const signed = await agentPost(t, agentPaths.policy, { nonce: 'n'.repeat(32) }, agent.state.session)
    const { knowledgeHash } = JSON.parse(JSON.parse(signed.text).payload)
    for (let i = 0; i < 3; i++) {
      const answer = await fetchText(t, `${agentPaths.knowledge}/${knowledgeHash}`, {
        headers: { authorization: `Bearer ${agent.state.session}` },
      })
      expect(answer.status).toBe(200)
      expect(createHash('sha256').update(answer.text).digest('hex')).toBe(knowledgeHash)
    }
  })
})

describe('sockets', () => {
  it('with a refused upgrade are closed even if the peer never closes', async () => {
    const taken = once(t.server.app.fastify.server, 'connection')
    const socket = connect({ port: Number(new URL(t.address).port), host: '127.0.0.1', allowHalfOpen: true })
    socket.resume()
    const [its] = (await taken) as [Socket]
    socket.write('GET /x HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    await new Promise((resolve) => socket.once('end', resolve))
    await expect.poll(() => its.destroyed, { timeout: 8_000 }).toBe(true)
    socket.destroy()
  })

  it('get HTTP/1.1 responses if they offer HTTP/2', async () => {
    const answer = await rawHttp(
      t,
      'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n',
    )
    expect(answer.split('\r\n')[0]).toBe('HTTP/1.1 200 OK')
  })

  it('of slow clients are checked every two seconds', () => {
    const server = t.server.app.fastify.server as unknown as { headersTimeout: number; requestTimeout: number }
    expect([server.headersTimeout, server.requestTimeout]).toEqual([15_000, 28_000])
  })
})

describe('refused bodies', () => {
  it('leave no memory occupied', async () => {
    let agent = await enrolAgent(t)
    for (let i = 0; i < 40; i++) {
      // One agent may send four of them at once.
      if (i % 4 === 0) agent = await enrolAgent(t)
      const answer = await agentPost(t, agentPaths.checkIn, 'x'.repeat(4 * 1024 * 1024), agent.state.session)
      expect(answer.status).toBe(400)
    }
  })
})
