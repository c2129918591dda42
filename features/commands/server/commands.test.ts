import { createPublicKey, verify } from 'node:crypto'
import { plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import {
  type EnrolOptions,
  enrolAgent,
  enrolmentToken,
  pageOf,
  type TestAgent,
} from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type AgentCommand, agentPaths, type CheckInResponse, type Command, type Job } from '#features/contract.ts'
import type { CommandSpec } from './index.ts'

let t: TestApp
/** Valid for a year, because some tests advance the clock by weeks. */
let token: string
const operator = systemActor('tester')

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  token = await enrolmentToken(t, { expiresInHours: 8_760 })
})
afterAll(() => t.close())

const enrol = (options: EnrolOptions = {}): Promise<TestAgent> => enrolAgent(t, { token, ...options })
const arm = (agent: TestAgent, mode: 'Armed' | 'Free' = 'Armed', jobId?: string): CommandSpec => ({
  agentId: agent.agentId,
  kind: 'configure',
  title: mode === 'Armed' ? 'Arm' : 'Free',
  body: { mode, applyToPresent: false },
  ...(jobId === undefined ? {} : { jobId }),
})
const queue = (...specs: CommandSpec[]) => t.db.transaction((tx) => t.commands.queue(tx, operator, specs))
const cancel = (...agents: TestAgent[]) =>
  t.db.transaction((tx) =>
    t.commands.cancel(
      tx,
      operator,
      agents.map((a) => a.agentId),
    ),
  )
const payloads = (answer: CheckInResponse): AgentCommand[] =>
  (answer.commands ?? []).map((c) => JSON.parse(c.payload) as AgentCommand)
const ack = (agent: TestAgent, id: string, outcome: 'confirmed' | 'failed' = 'confirmed', message = '') =>
  agent.checkIn({ acks: [{ commandId: id, outcome, message }] })
const ofAgent = async (agent: TestAgent): Promise<Command[]> =>
  (await pageOf<Command>(t, `agents/commands?hostUuid=${agent.agentId}&SortBy=createdAt_asc`)).data
const publicKey = () =>
  createPublicKey({
    key: Buffer.from(loadKeys(`${t.keyDir}/key`).command.newest().publicKey, 'base64'),
    format: 'der',
    type: 'spki',
  })

describe('a command', () => {
  it('rewrites no row of the host list', async () => {
    const agent = await enrol()
    const version = () =>
      t.db.query(sql`select r.xmin::text, r.ctid::text from agent_rows r where r.agent_id = ${agent.agentId}::uuid`)
    const before = await version()
    await queue(arm(agent))
    expect((await agent.detail()).inAction).toBe(true)
    expect(await version()).toEqual(before)
  })

  it('is delivered with the next check-in, signed, and ends when the host confirms it', async () => {
    const agent = await enrol({ devices: [plainKeyboard()] })
    const before = await agent.detail()
    expect(before).toMatchObject({ inAction: false, pendingCommands: [] })
    expect(await queue(arm(agent))).toEqual({ queued: [agent.agentId], missing: [], refused: new Map() })
    expect(await agent.detail()).toMatchObject({
      inAction: true,
      pendingCommands: [{ kind: 'configure', state: 'queued' }],
    })

    t.clock.advance(1_000)
    const answer = await agent.checkIn()
    const [signed] = answer.commands ?? []
    const [command] = payloads(answer)
    expect(command).toEqual({
      id: expect.any(String),
      agentId: agent.agentId,
      kind: 'configure',
      counter: expect.any(Number),
      expiresAt: '2031-05-11T10:11:12.000Z',
      mode: 'Armed',
      applyToPresent: false,
    })
    expect(
      verify(null, Buffer.from(signed?.payload ?? ''), publicKey(), Buffer.from(signed?.signature ?? '', 'base64')),
    ).toBe(true)
    expect(await ofAgent(agent)).toMatchObject([
      {
        kind: 'configure',
        title: 'Arm',
        state: 'delivered',
        createdBy: 'tester',
        deliveredAt: '2031-05-04T10:11:13.000Z',
      },
    ])

    // A response may be lost, so every answer contains the command until it ends.
    expect(payloads(await agent.checkIn())).toEqual([command])
    t.clock.advance(1_000)
    expect(await ack(agent, command?.id ?? '')).toEqual({ nextCheckInSeconds: 60 })
    expect(await ofAgent(agent)).toMatchObject([
      { state: 'confirmed', message: '', endedAt: '2031-05-04T10:11:14.000Z' },
    ])
    expect(await agent.detail()).toMatchObject({
      inAction: false,
      pendingCommands: [],
      lastConfiguered: '2031-05-04T10:11:14.000',
    })
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
  })

  it('is ended by its own host only, even if another host reports it in the same batch', async () => {
    const [agent, rogue] = [await enrol(), await enrol()]
    await queue(arm(agent))
    const commandId = payloads(await agent.checkIn())[0]?.id ?? ''
    // Reports in one transaction are applied together.
    await t.db.transaction((tx) =>
      t.commands.acknowledge(
        tx,
        [
          { agentId: rogue.agentId, acks: [{ commandId, outcome: 'failed', message: 'never' }] },
          { agentId: agent.agentId, acks: [{ commandId, outcome: 'confirmed', message: '' }] },
        ],
        (agentId) => ({ agentId, entity: '', hashtags: '' }),
      ),
    )
    expect(await ofAgent(agent)).toMatchObject([{ state: 'confirmed', message: '' }])
    expect((await agent.detail()).inAction).toBe(false)
  })

  it('is kept for a disconnected host, and delivered with reports and heartbeats', async () => {
    const agent = await enrol()
    t.clock.advance(200_000)
    await t.ingest.sweep()
    expect((await agent.detail()).connectionStatus).toBe('Disconnected')
    await queue(arm(agent))
    t.clock.advance(6 * 24 * 3_600_000)
    await agent.session()
    expect(payloads(await agent.plug(plainKeyboard()))).toMatchObject([{ kind: 'configure', mode: 'Armed' }])
  })

  it('has a counter that never decreases, even if the clock does', async () => {
    const agent = await enrol()
    const collect = { agentId: agent.agentId, kind: 'collect-logs', title: 'Collect logs', body: {} } as const
    let acks: { commandId: string; outcome: 'confirmed'; message: '' }[] = []
    const ordered = async (...specs: CommandSpec[]): Promise<[string, number][]> => {
      for (const spec of specs) await queue(spec)
      const commands = payloads(await agent.checkIn({ acks }))
      acks = commands.map(({ id }) => ({ commandId: id, outcome: 'confirmed', message: '' }))
      return commands.map(({ kind, counter }) => [kind, counter])
    }
    const now = t.clock.now()
    // A later command replaces a waiting one, and its counter follows the current time.
    const [first] = await ordered(arm(agent), arm(agent, 'Free'))
    expect(first).toEqual(['configure', expect.any(Number)])
    const counter = first?.[1] ?? 0
    expect(counter).toBeGreaterThanOrEqual(now)
    expect(counter).toBeLessThanOrEqual(t.clock.now() + 2)
    // The clock of the test does not advance.
    expect(await ordered(collect)).toEqual([['collect-logs', counter + 1]])
    // Simulates a counter from a clock that was later set back.
    await t.db.execute(
      sql`update agent_heartbeats set command_counter = 9000000000000 where agent_id = ${agent.agentId}::uuid`,
    )
    expect(await ordered(arm(agent), collect)).toEqual([
      ['configure', 9_000_000_000_001],
      ['collect-logs', 9_000_000_000_002],
    ])
    expect(await ordered()).toEqual([])
  })

  it('is in the answer to a repeated check-in again', async () => {
    const agent = await enrol()
    await queue(arm(agent))
    const body = agent.body()
    const [first, again] = [await agent.post(body), await agent.post(body)]
    expect(JSON.parse(again.text)).toEqual(JSON.parse(first.text))
    expect(JSON.parse(first.text).commands).toHaveLength(1)
  })

  it('shows the reason of a failure on the page and in an event', async () => {
    const agent = await enrol()
    await queue(arm(agent))
    const [command] = payloads(await agent.checkIn())
    await ack(agent, command?.id ?? '', 'failed', 'read-only\u202e sysfs')
    expect(await ofAgent(agent)).toMatchObject([{ state: 'failed', message: 'read-only sysfs' }])
    expect((await agent.events()).at(-1)).toMatchObject({ eventCode: '0x120008', details: 'Arm: read-only sysfs' })
    expect((await agent.detail()).inAction).toBe(false)
    // The first result counts.
    await ack(agent, command?.id ?? '', 'confirmed')
    expect(await ofAgent(agent)).toMatchObject([{ state: 'failed' }])
  })

  it('expires visibly if it is not completed in time, and is never delivered', async () => {
    // Expires the commands of other tests first.
    t.clock.advance(168 * 3_600_000)
    await t.commands.expire()
    const agent = await enrol()
    await queue(arm(agent))
    t.clock.advance(168 * 3_600_000 - 1)
    expect(await t.commands.expire()).toBe(0)
    t.clock.advance(1)
    await agent.session()
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
    expect(await t.commands.expire()).toBe(1)
    expect(await ofAgent(agent)).toMatchObject([
      { state: 'expired', message: 'The host did not complete the command in time.' },
    ])
    expect((await agent.detail()).inAction).toBe(false)
    expect((await agent.events()).at(-1)).toMatchObject({
      eventCode: '0x120008',
      details: 'Arm: expired before the host completed it',
    })
  })

  it('is not delivered after it was cancelled, but a later confirmation wins', async () => {
    const [early, late] = await Promise.all([enrol(), enrol()])
    await queue(arm(early), arm(late))
    const [command] = payloads(await late.checkIn())
    expect((await cancel(early, late)).sort()).toEqual([early.agentId, late.agentId].sort())
    expect(await early.checkIn()).toEqual({ nextCheckInSeconds: 60 })
    expect(await ofAgent(early)).toMatchObject([{ state: 'cancelled', message: 'Cancelled by tester.' }])
    expect((await late.detail()).inAction).toBe(false)
    await ack(late, command?.id ?? '')
    expect(await ofAgent(late)).toMatchObject([
      { state: 'confirmed', message: 'Confirmed by the host after it was cancelled.' },
    ])
    expect((await late.detail()).lastConfiguered).toBe(new Date(t.clock.now()).toISOString().slice(0, -1))
  })

  it('cannot be ended by a forged report of another host', async () => {
    const [owner, stranger] = await Promise.all([enrol(), enrol()])
    await queue(arm(owner))
    const [command] = payloads(await owner.checkIn())
    await ack(stranger, command?.id ?? '')
    await ack(stranger, 'no id at all')
    await ack(stranger, '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f', 'failed', 'boo')
    expect(await ofAgent(owner)).toMatchObject([{ state: 'delivered' }])
  })

  it('written directly into the database has no valid signature', async () => {
    const agent = await enrol()
    await queue(arm(agent, 'Armed'))
    await t.db.execute(sql`
      update commands set payload = replace(payload, '"Armed"', '"Free"') where agent_id = ${agent.agentId}::uuid`)
    const [signed] = (await agent.checkIn()).commands ?? []
    expect(JSON.parse(signed?.payload ?? '').mode).toBe('Free')
    expect(
      verify(null, Buffer.from(signed?.payload ?? ''), publicKey(), Buffer.from(signed?.signature ?? '', 'base64')),
    ).toBe(false)
  })

  it('is cancelled with its agent and stays on record', async () => {
    const agent = await enrol()
    await queue(arm(agent))
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [agent.agentId])
    expect(await ofAgent(agent)).toMatchObject([
      { state: 'cancelled', message: 'The agent was removed.', hostIdentifier: agent.facts.hostname },
    ])
    expect(await queue(arm(agent))).toEqual({ queued: [], missing: [agent.agentId], refused: new Map() })
  })

  it('is delivered with at most 15 others per answer, oldest first', async () => {
    const agent = await enrol()
    const specs = Array.from(
      { length: 20 },
      (_, version): CommandSpec => ({
        agentId: agent.agentId,
        kind: 'policy',
        title: 'Policy',
        body: { version },
      }),
    )
    await queue(...specs)
    const first = payloads(await agent.checkIn())
    expect(first.map((c) => c.kind === 'policy' && c.version)).toEqual(Array.from({ length: 16 }, (_, i) => i))
    await agent.checkIn({
      acks: first.map(({ id }) => ({ commandId: id, outcome: 'confirmed' as const, message: '' })),
    })
    expect(payloads(await agent.checkIn()).map((c) => c.kind === 'policy' && c.version)).toEqual([16, 17, 18, 19])
  })

  it('counts once for its job', async () => {
    t.jobs.handle('waiting', { run: async () => 'waits' })
    const agents = await Promise.all([enrol(), enrol(), enrol()])
    const id = await t.db.transaction(async (tx) => {
      const jobId = await t.jobs.enqueue(tx, operator, { kind: 'waiting', title: 'Three', total: 3, canCancel: true })
      await t.commands.queue(
        tx,
        operator,
        agents.map((agent) => arm(agent, 'Armed', jobId)),
      )
      return jobId
    })
    await t.jobs.drain()
    const job = async (): Promise<Job> => (await (await t.admin()).get(`/prime/webui/jobs/${id}`)).json()
    const [one, two, three] = agents as [TestAgent, TestAgent, TestAgent]
    const [command] = payloads(await one.checkIn())
    await cancel(one)
    expect(await job()).toMatchObject({ done: 0, failed: 1, state: 'running' })
    await ack(one, command?.id ?? '')
    expect(await job()).toMatchObject({ done: 1, failed: 0, state: 'running' })
    await ack(two, payloads(await two.checkIn())[0]?.id ?? '')
    await queue(arm(three, 'Free'))
    expect(await job()).toMatchObject({ done: 2, failed: 1, state: 'completed' })
  })
})

describe('a connected host', () => {
  it('is woken at once, whichever replica holds its socket', async () => {
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    const agent = await enrol()
    const socket = new WebSocket(`${t.address.replace('http', 'ws')}${agentPaths.wake}`, {
      headers: { authorization: `Bearer ${agent.state.session}` },
    })
    try {
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
      const woken = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
      await other.db.transaction((tx) => other.commands.queue(tx, operator, [arm(agent)]))
      expect(await woken).toBe('check-in')
      expect(payloads(await agent.checkIn())).toMatchObject([{ kind: 'configure' }])
    } finally {
      socket.terminate()
      await other.close()
    }
  })
})

describe('the list of commands', () => {
  it('is filtered, searched and sorted', async () => {
    const agent = await enrol({ facts: { hostname: 'Listed-Host' } })
    await queue(arm(agent))
    await queue({ agentId: agent.agentId, kind: 'collect-logs', title: 'Collect logs', body: {} })
    const counted = async (query: string) =>
      (await pageOf<Command>(t, `agents/commands?hostUuid=${agent.agentId}&${query}`)).recordsFiltered
    expect(await counted('')).toBe(2)
    expect(await counted('kind=configure')).toBe(1)
    expect(await counted('state=queued,delivered')).toBe(2)
    expect(await counted('state=confirmed')).toBe(0)
    expect(await counted('hostIdentifier=listed-')).toBe(2)
    expect(await counted('GlobalSearch=collect')).toBe(1)
    const admin = await t.admin()
    expect((await admin.get('/prime/webui/agents/commands?state=lost')).statusCode).toBe(400)
    expect((await admin.get('/prime/webui/agents/commands?SortBy=payload_asc')).statusCode).toBe(400)
    for (const key of ['id', 'uuid', 'hostIdentifier', 'kind', 'title', 'state', 'createdAt', 'createdBy', 'expiresAt'])
      expect((await admin.get(`/prime/webui/agents/commands?SortBy=${key}_desc&PageSize=3`)).statusCode).toBe(200)
    expect((await t.as(undefined).get('/prime/webui/agents/commands')).statusCode).toBe(401)
  })
})
