import {
  type AgentCommand,
  type Command,
  type DeviceReport,
  type HostFacts,
  policySourceNames,
  type Rollout,
} from '@portcullis/contract'
import { plainKeyboard } from '@portcullis/domain/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '#platform/db/sql.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent, enrolmentToken, pageOf, type Said, type TestAgent } from '#test/builders.ts'
import { insertFleet } from '#test/fleet.ts'
import { packageFile, publish, releaseKeyPair } from '#test/packages.ts'
import { person } from '#test/people.ts'

const base = '/prime/webui/rollouts'
const minute = 60_000
let t: TestApp

beforeEach(async () => {
  t = await startTestApp({ listen: true })
})
afterEach(() => t.close())

/** Hosts with a tag, connected. */
const hosts = async (count: number, tag: string, facts: Partial<HostFacts> = {}, devices: DeviceReport[] = []) => {
  const token = await enrolmentToken(t, { hashtags: [tag] })
  return Promise.all(Array.from({ length: count }, () => enrolAgent(t, { token, facts, devices })))
}
const post = async (path: string, body?: unknown) => (await t.admin()).post(`${base}/${path}`, body)
const start = async (change: Record<string, unknown> = {}): Promise<Rollout> => {
  const answer = await post('start', {
    kind: 'arm',
    name: 'test',
    rings: [
      { name: 'canary', tags: ['canary'] },
      { name: 'rest', sharePercent: 100 },
    ],
    ...change,
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return advance(answer.json().id)
}
const order = async (id: string, what: string): Promise<Rollout> => {
  const answer = await post(`${id}/${what}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return advance(id)
}
const read = async (id: string): Promise<Rollout> => (await (await t.admin()).get(`${base}/${id}`)).json()
const advance = async (id: string, minutes = 0): Promise<Rollout> => {
  t.clock.advance(minutes * minute)
  await t.rollouts.advance()
  return read(id)
}
/** What a ring's hosts are, without the zeros. */
const ring = (rollout: Rollout, i: number) =>
  Object.fromEntries(Object.entries(rollout.rings[i]?.hosts ?? {}).filter(([, n]) => n > 0))

/** A check-in under a session of its own: dwelling outlives one. */
const checkIn = async (agent: TestAgent, said: Said = {}) => {
  await agent.session()
  return agent.checkIn(said)
}

/** Lets a host take its commands; it says that it is armed or free. */
const take = async (agent: TestAgent, outcome: 'confirmed' | 'failed' = 'confirmed'): Promise<AgentCommand[]> => {
  const answer = await checkIn(agent)
  const commands = (answer.commands ?? []).map(({ payload }) => JSON.parse(payload) as AgentCommand)
  if (commands.length > 0)
    await checkIn(agent, {
      acks: commands.map(({ id }) => ({
        commandId: id,
        outcome,
        message: outcome === 'failed' ? 'the disk is full' : '',
      })),
    })
  const configured = commands.findLast((command) => command.kind === 'configure')
  if (configured?.kind === 'configure' && outcome === 'confirmed')
    await checkIn(agent, { enforcement: { mode: configured.mode, policyVersion: 1, reason: '' } })
  return commands
}
const takeAll = async (agents: readonly TestAgent[], outcome: 'confirmed' | 'failed' = 'confirmed') => {
  for (const agent of agents) await take(agent, outcome)
}
const silence = async (agents: readonly TestAgent[]) => {
  t.clock.advance(10 * minute)
  const quiet = new Set(agents.map((a) => a.agentId))
  for (const agent of all) if (!quiet.has(agent.agentId)) await checkIn(agent)
  await t.ingest.sweep()
}
let all: TestAgent[] = []
const fleet = async (canaries: number, others: number) => {
  const [canary, rest] = [await hosts(canaries, 'canary'), await hosts(others, 'office')]
  all = [...canary, ...rest]
  return { canary, rest }
}
const commandsOf = async (agent: TestAgent): Promise<Command[]> =>
  (await pageOf<Command>(t, `agents/commands?hostUuid=${agent.agentId}&SortBy=createdAt_asc`)).data

describe('arming in rings', () => {
  it('arms ring by ring, each watched for its time, and completes', async () => {
    const { canary, rest } = await fleet(2, 3)
    const { id, rings } = await start()
    expect(rings.map((r) => r.state)).toEqual(['running', 'waiting'])
    expect(ring(await read(id), 0)).toEqual({ commanded: 2 })
    for (const agent of rest) expect((await checkIn(agent)).commands).toBeUndefined()

    const [first] = await take(canary[0] as TestAgent)
    expect(first).toMatchObject({ kind: 'configure', mode: 'Armed', applyToPresent: false })
    expect(ring(await advance(id, 120), 0)).toEqual({ commanded: 1, done: 1 })
    await take(canary[1] as TestAgent)
    const dwelling = await advance(id)
    expect(dwelling.rings.map((r) => r.state)).toEqual(['dwelling', 'waiting'])
    expect(Date.parse(dwelling.rings[0]?.dwellUntil ?? '') - t.clock.now()).toBe(60 * minute)

    expect(ring(await advance(id, 59), 1)).toEqual({})
    expect(ring(await advance(id, 1), 1)).toEqual({ commanded: 3 })
    await takeAll(rest)
    expect((await advance(id)).rings.map((r) => r.state)).toEqual(['done', 'dwelling'])
    const end = await advance(id, 60)
    expect(end).toMatchObject({ state: 'completed', reason: '' })
    expect(end.endedAt).not.toBe(null)
    expect((await pageOf(t, 'agents?Status=Armed')).recordsFiltered).toBe(5)
  })

  it('knows its own commands while the clock runs', async () => {
    const { now } = t.clock
    let passed = 0
    t.clock.now = () => now() + passed++
    try {
      const { canary } = await fleet(1, 1)
      const { id } = await start()
      await take(canary[0] as TestAgent)
      expect(ring(await advance(id), 0)).toEqual({ done: 1 })
      await order(id, 'revert')
      await take(canary[0] as TestAgent)
      expect(ring(await advance(id), 0)).toEqual({ reverted: 1 })
    } finally {
      t.clock.now = now
    }
  })

  it('fixes the hosts of a ring when it starts', async () => {
    const { canary } = await fleet(1, 1)
    const { id } = await start()
    await takeAll(canary)
    await advance(id)
    const [late] = await hosts(1, 'canary')
    expect(ring(await advance(id), 0)).toEqual({ done: 1 })
    expect((await (late as TestAgent).checkIn()).commands).toBeUndefined()
    expect(ring(await advance(id, 60), 1)).toEqual({ commanded: 2 })
  })

  it('halts when failures pass the budget, and arms nobody after it', async () => {
    const { canary, rest } = await fleet(4, 2)
    const { id } = await start({ failurePercent: 30 })
    await take(canary[0] as TestAgent, 'failed')
    expect((await advance(id)).state).toBe('running')
    await take(canary[1] as TestAgent, 'failed')
    const halted = await advance(id)
    expect(halted).toMatchObject({
      state: 'halted',
      reason: '2 of 4 hosts of ring 1 failed, over the budget of 30 %.',
    })
    expect(ring(halted, 0)).toEqual({ failed: 2, waiting: 2 })
    for (const agent of canary.slice(2)) {
      expect((await checkIn(agent)).commands).toBeUndefined()
      expect(await commandsOf(agent)).toMatchObject([{ state: 'cancelled', message: 'The rollout was halted.' }])
    }
    await advance(id, 10_000)
    for (const agent of [...canary, ...rest]) expect((await checkIn(agent)).commands).toBeUndefined()
    const { data } = await pageOf<{ description: string; details: string }>(t, 'events/getevents?category=System')
    expect(data.map((e) => e.description)).toContain('Rollout halted')

    const resumed = await order(id, 'resume')
    expect(ring(resumed, 0)).toEqual({ failed: 2, commanded: 2 })
    await takeAll(canary.slice(2))
    expect((await advance(id)).rings[0]?.state).toBe('dwelling')
  })

  it('halts when hosts block more than was predicted for them', async () => {
    const { canary } = await fleet(1, 1)
    const { id } = await start()
    await takeAll(canary)
    expect((await advance(id)).rings[0]).toMatchObject({ predictedBlocks: 0, actualBlocks: 0 })
    const enforced = { effect: 'block', source: policySourceNames[7], ruleId: null, policyVersion: 1 } as const
    await canary[0]?.plug({ ...plainKeyboard(), enforced, authorized: false })
    const halted = await advance(id)
    expect(halted.state).toBe('halted')
    expect(halted.reason).toContain('blocked more devices than was predicted')
    expect(halted.rings[0]).toMatchObject({ actualBlocks: 1, overPrediction: 1 })
  })

  it('counts what was predicted: devices that would be blocked do not halt it', async () => {
    const canary = await hosts(1, 'canary', {}, [plainKeyboard()])
    const body = { kind: 'arm', name: 'p', applyToPresent: true, rings: [{ name: 'canary', tags: ['canary'] }] }
    const plan = (await post('plan', body)).json()
    expect(plan.rings[0]).toMatchObject({ hosts: 1, ready: 1, predictedBlocks: 1 })
    expect((await post('plan', { ...body, applyToPresent: false })).json().rings[0].predictedBlocks).toBe(0)
    const { id } = await start(body)
    await takeAll(canary)
    const enforced = { effect: 'block', source: policySourceNames[7], ruleId: null, policyVersion: 1 } as const
    await canary[0]?.change({ ...plainKeyboard(), enforced, authorized: false })
    expect((await advance(id)).rings[0]).toMatchObject({ state: 'dwelling', predictedBlocks: 1, actualBlocks: 1 })
  })

  it('a host that goes back to Free by itself is a failure, one that was freed is not', async () => {
    const { canary } = await fleet(2, 0)
    const { id } = await start({ failurePercent: 60 })
    await takeAll(canary)
    await advance(id)
    await canary[0]?.checkIn({ enforcement: { mode: 'Free', policyVersion: 1, reason: 'no contact after arming' } })
    await canary[1]?.checkIn({ enforcement: { mode: 'Free', policyVersion: 1, reason: '' } })
    expect(ring(await advance(id), 0)).toEqual({ failed: 1, skipped: 1 })
    const { data } = await pageOf<{ reason: string }>(t, `rollouts/${id}/hosts?state=failed`)
    expect(data[0]?.reason).toBe('The host went back to Free by itself: no contact after arming')
  })

  it('lists hosts that are offline and catches up with them later', async () => {
    const { canary, rest } = await fleet(2, 1)
    const [gone] = canary.slice(1)
    await silence([gone as TestAgent])
    const { id } = await start()
    expect(ring(await read(id), 0)).toEqual({ commanded: 1, offline: 1 })
    await take(canary[0] as TestAgent)
    expect((await advance(id)).rings[0]?.state).toBe('dwelling')
    await advance(id, 60)
    await takeAll(rest)
    await advance(id)
    expect((await advance(id, 60)).state).toBe('running')
    const { data } = await pageOf<{ uuid: string }>(t, `rollouts/${id}/hosts?state=offline`)
    expect(data.map((h) => h.uuid)).toEqual([gone?.agentId])

    await checkIn(gone as TestAgent)
    expect(ring(await advance(id), 0)).toEqual({ commanded: 1, done: 1 })
    await take(gone as TestAgent)
    expect((await advance(id)).state).toBe('completed')
  })

  it('says who is not ready and why, and leaves them out', async () => {
    await hosts(1, 'canary', { enforcement: 'observe' })
    const [armed] = await hosts(1, 'canary')
    await armed?.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '' } })
    await hosts(1, 'canary')
    const body = { kind: 'arm', name: 'p', rings: [{ name: 'canary', tags: ['CANARY '] }] }
    const plan = (await post('plan', body)).json()
    expect(plan.rings).toEqual([
      {
        name: 'canary',
        hosts: 3,
        ready: 1,
        offline: 0,
        notReady: 1,
        unchanged: 1,
        predictedBlocks: 0,
        reasons: [{ reason: 'The host can only be observed.', hosts: 1 }],
      },
    ])
    expect(plan.hosts[0]).toMatchObject({ state: 'notReady', enforcement: 'observe' })
    expect((await (await t.admin()).get(base)).json().data).toEqual([])
    const { id } = await start(body)
    expect(ring(await read(id), 0)).toEqual({ notReady: 1, unchanged: 1, commanded: 1 })
    await order(id, 'revert')
    const commands = await armed?.checkIn()
    expect(commands?.commands).toBeUndefined()
  })

  it('reverting frees what it armed, and ends it', async () => {
    const { canary, rest } = await fleet(2, 1)
    const { id } = await start()
    await take(canary[0] as TestAgent)
    await advance(id)
    const reverted = await order(id, 'revert')
    expect(reverted.state).toBe('reverted')
    expect(ring(reverted, 0)).toEqual({ reverting: 2 })
    for (const agent of canary) expect(await take(agent)).toMatchObject([{ kind: 'configure', mode: 'Free' }])
    expect((await checkIn(rest[0] as TestAgent)).commands).toBeUndefined()
    expect(ring(await advance(id), 0)).toEqual({ reverted: 2 })
    for (const what of ['pause', 'resume', 'halt', 'revert', 'cancel'])
      expect((await post(`${id}/${what}`)).statusCode, what).toBe(409)
    expect((await advance(id, 100_000)).state).toBe('reverted')
    expect((await pageOf(t, 'agents?Status=Armed')).recordsFiltered).toBe(0)
  })

  it('a plan holds no rollout up that is started beside it', async () => {
    await fleet(1, 1)
    const { db } = t.server
    // Enough that the database is told of them.
    await insertFleet(t, 2_100)
    await db.execute(sql`update agent_rows r set connected = false where r.host not like 'host-%'`)
    // A plan that takes long: it waits for whom it lists.
    const body = { kind: 'arm', name: 'p', rings: [{ name: 'all', sharePercent: 100 }] }
    await db.execute(sql`create table plan_waits (n int)`)
    await db.execute(sql`
      create function plan_waits() returns trigger language plpgsql as $$ begin
        if (select x.state from rollouts x where x.rollout_id = new.rollout_id) = 'planned' then
          lock table plan_waits in share mode;
        end if;
        return new;
      end $$`)
    await db.execute(
      sql`create trigger plan_waits after update on rollout_hosts for each row execute function plan_waits()`,
    )
    let plan: ReturnType<typeof post> | undefined
    const { id } = await db.transaction(async (tx) => {
      await tx.execute(sql`lock table plan_waits in access exclusive mode`)
      // Of hosts that are armed already the plan changes the state, so that the trigger fires.
      await db.execute(sql`update agent_rows r set armed = true`)
      plan = post('plan', body)
      await expect
        .poll(
          async () =>
            (await db.query(sql`select 1 from pg_locks l where l.relation = 'plan_waits'::regclass and not l.granted`))
              .length,
        )
        .toBe(1)
      await db.execute(sql`update agent_rows r set armed = false`)
      return start(body)
    })
    expect(ring(await read(id), 0)).toMatchObject({ commanded: 2 })
    expect((await plan)?.statusCode).toBe(200)
  })

  it('reverting it frees many hosts only when a second person agrees', async () => {
    const { canary } = await fleet(3, 0)
    const { id } = await start({ name: 'Kiosks' })
    await takeAll(canary.slice(0, 2))
    await advance(id)
    const { settings } = (await (await t.admin()).get('/prime/webui/policy')).json()
    const saved = await (await t.admin()).put('/prime/webui/policy/settings', { ...settings, twoPersonHosts: 2 })
    expect(saved.statusCode, saved.body).toBe(200)
    // Two people are needed where there are two Administrators.
    const [alice, bob] = [await person(t, { profile: 10 }), await person(t, { profile: 20 })]

    const refused = await alice.api.post(`${base}/${id}/revert`)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'second_person_required'])
    expect((await read(id)).state).toBe('running')
    const requests = '/prime/webui/policy/changerequests'
    const [request] = (await alice.api.get(requests)).json().data
    expect(request).toMatchObject({
      action: 'free',
      hosts: 3,
      state: 'Waiting',
      title: 'Free 3 hosts: take rollout Kiosks back',
      requestedBy: alice.userName,
    })
    expect((await alice.api.post(`${requests}/${request.id}/approve`)).statusCode).toBe(403)
    expect((await read(id)).state).toBe('running')

    const approved = await bob.api.post(`${requests}/${request.id}/approve`)
    expect(approved.statusCode, approved.body).toBe(200)
    const reverted = await advance(id)
    expect(reverted).toMatchObject({
      state: 'reverted',
      reason: `By ${alice.userName}, approved by ${bob.userName}.`,
    })
    expect(ring(reverted, 0)).toEqual({ reverting: 3 })
    for (const agent of canary) expect((await take(agent)).at(-1)).toMatchObject({ kind: 'configure', mode: 'Free' })
  })

  it('what a second person approved is not more hosts than he was told of', async () => {
    const { canary, rest } = await fleet(2, 1)
    const { id } = await start()
    await takeAll(canary)
    await advance(id)
    const { settings } = (await (await t.admin()).get('/prime/webui/policy')).json()
    await (await t.admin()).put('/prime/webui/policy/settings', { ...settings, twoPersonHosts: 1 })
    const bob = await person(t, { profile: 10 })
    expect((await post(`${id}/revert`)).statusCode).toBe(403)
    await advance(id, 60)
    await takeAll(rest)
    const requests = '/prime/webui/policy/changerequests'
    const [request] = (await (await t.admin()).get(requests)).json().data
    expect(request).toMatchObject({ hosts: 2, title: 'Free 2 hosts: take rollout test back' })
    const later = t.as(await t.signIn(bob.userName, bob.password))
    const answer = await later.post(`${requests}/${request.id}/approve`)
    expect(answer.json()).toMatchObject({ status: 409, detail: expect.stringContaining('has armed 3 hosts by now') })
    expect((await read(id)).state).toBe('running')
  })

  it('pause holds it, also over the end of the dwell; cancel leaves what was done', async () => {
    const { canary, rest } = await fleet(1, 1)
    const { id } = await start()
    await takeAll(canary)
    await advance(id)
    await order(id, 'pause')
    expect((await advance(id, 600)).rings[1]?.state).toBe('waiting')
    expect(ring(await order(id, 'resume'), 1)).toEqual({ commanded: 1 })
    const cancelled = await order(id, 'cancel')
    expect(cancelled).toMatchObject({ state: 'cancelled', reason: 'By admin.' })
    expect([ring(cancelled, 0), ring(cancelled, 1)]).toEqual([{ done: 1 }, { skipped: 1 }])
    expect((await checkIn(rest[0] as TestAgent)).commands).toBeUndefined()
    expect((await pageOf(t, 'agents?Status=Armed')).recordsFiltered).toBe(1)
    const { data } = await pageOf<{ action: string }>(t, 'events/GetAuditsIntegration?PageSize=20')
    expect(data.map((a) => a.action).filter((action) => action.startsWith('rollout'))).toEqual([
      'rollout.cancelled',
      'rollout.running',
      'rollout.paused',
      'rollout.running',
    ])
  })

  it('shares are of the hosts no ring before took; a removed host is left out', async () => {
    const { canary } = await fleet(1, 9)
    const { id } = await start({
      rings: [
        { name: 'canary', tags: ['canary'] },
        { name: 'a third', sharePercent: 33 },
        { name: 'rest', sharePercent: 100 },
      ],
    })
    await takeAll(canary)
    await advance(id)
    expect(ring(await advance(id, 60), 1)).toEqual({ commanded: 3 })
    const { data } = await pageOf<{ uuid: string }>(t, `rollouts/${id}/hosts?ring=1`)
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [data[0]?.uuid])
    await takeAll(all.filter((a) => data.slice(1).some((h) => h.uuid === a.agentId)))
    expect(ring(await advance(id), 1)).toEqual({ done: 2, skipped: 1 })
    expect(ring(await advance(id, 60), 2)).toEqual({ commanded: 6 })
  })

  it('two replicas advance it once', async () => {
    const { canary } = await fleet(6, 0)
    const other = await startTestApp({ database: t.database, clock: t.clock, keyDir: t.keyDir })
    try {
      const { id } = await start()
      await Promise.all([t.rollouts.advance(), other.rollouts.advance(), t.rollouts.advance()])
      for (const agent of canary) expect(await commandsOf(agent)).toHaveLength(1)
      await takeAll(canary)
      await Promise.all([t.rollouts.advance(), other.rollouts.advance()])
      expect(ring(await read(id), 0)).toEqual({ done: 6 })
    } finally {
      await other.close()
    }
  })
})

describe('updates in rings', () => {
  const key = releaseKeyPair()
  const rings = [{ name: 'all', sharePercent: 100 }]

  it('brings the newest build to hosts that are older, and counts a version that arrived as done', async () => {
    const x64 = await hosts(1, 'x', { agentVersion: '1.0.0' })
    await hosts(1, 'x', { agentVersion: '1.2.0' })
    await hosts(1, 'x', { agentVersion: '1.3.0-dev' })
    await hosts(1, 'x', { agentVersion: '1.0.0', architecture: 'arm64' })
    expect((await post('plan', { kind: 'update', name: 'u', rings })).json()).toMatchObject({
      status: 409,
      detail: 'No agent package is published.',
    })
    const build = (await publish(t, packageFile(key, { version: '1.2.0' }), key.fingerprint)).json()
    const plan = (await post('plan', { kind: 'update', name: 'u', rings })).json()
    expect(plan.builds).toEqual([{ architecture: 'x64', version: '1.2.0' }])
    expect(plan.rings[0]).toMatchObject({
      ready: 1,
      unchanged: 2,
      notReady: 1,
      reasons: [{ reason: 'No build is published for arm64.', hosts: 1 }],
    })
    const { id } = await start({ kind: 'update', rings })
    const [command] = await take(x64[0] as TestAgent)
    expect(command).toMatchObject({
      kind: 'update',
      version: '1.2.0',
      sha256: build.sha256,
      size: build.size,
      architecture: 'x64',
      releaseKey: key.text,
    })
    expect(ring(await advance(id), 0)).toEqual({ done: 1, unchanged: 2, notReady: 1 })
    expect((await advance(id, 60)).state).toBe('completed')
  })

  it('halts when agents roll back, and can not be reverted', async () => {
    await publish(t, packageFile(key, { version: '1.2.0' }), key.fingerprint)
    const agents = await hosts(3, 'x', { agentVersion: '1.0.0' })
    const { id } = await start({ kind: 'update', rings })
    await take(agents[0] as TestAgent, 'failed')
    const halted = await advance(id)
    expect(halted).toMatchObject({ state: 'halted' })
    expect(ring(halted, 0)).toEqual({ failed: 1, waiting: 2 })
    const { data } = await pageOf<{ reason: string }>(t, `rollouts/${id}/hosts?state=failed`)
    expect(data[0]?.reason).toBe('the disk is full')
    expect((await post(`${id}/revert`)).json()).toMatchObject({ status: 409, code: 'conflict' })
  })

  it('halts when its build is withdrawn', async () => {
    const build = (await publish(t, packageFile(key, { version: '1.2.0' }), key.fingerprint)).json()
    await hosts(1, 'x', { agentVersion: '1.0.0' })
    const { id } = await start({ kind: 'update', rings })
    await (await t.admin()).delete(`/prime/webui/agents/packages/${build.id}`)
    expect(await advance(id)).toMatchObject({ state: 'halted', reason: 'Build 1.2.0 for x64 was withdrawn.' })
  })
})

describe('bad input', () => {
  it('one of a kind at a time', async () => {
    await fleet(1, 0)
    const { id } = await start({ name: 'first' })
    const body = { kind: 'arm', name: 'second', rings: [{ name: 'all', sharePercent: 100 }] }
    expect((await post('start', body)).json()).toMatchObject({
      status: 409,
      detail: 'Rollout first of this kind is running; one at a time.',
    })
    expect((await post('plan', body)).statusCode).toBe(200)
    await order(id, 'halt')
    expect((await post('start', body)).statusCode).toBe(409)
    await order(id, 'cancel')
    expect((await post('start', body)).statusCode).toBe(200)
  })

  it.each([
    ['no rings', { rings: [] }],
    ['a ring of neither', { rings: [{ name: 'x' }] }],
    ['a ring of both', { rings: [{ name: 'x', tags: ['canary'], sharePercent: 5 }] }],
    ['a tag that does not exist', { rings: [{ name: 'x', tags: ['nowhere'] }] }],
    ['a share over 100', { rings: [{ name: 'x', sharePercent: 101 }] }],
    ['no dwell', { dwellMinutes: 0 }],
    ['an unknown kind', { kind: 'free' }],
    ['a name with control characters', { name: 'a\u0007' }],
    ['a name that turns text around', { name: 'a\u202egnp.exe' }],
    ['a name of a ring that is not seen', { rings: [{ name: 'all\u200b', sharePercent: 100 }] }],
    ['an unknown member', { force: true }],
  ])('%s is a 400, and nothing is started', async (_, change) => {
    const body = { kind: 'arm', name: 'x', rings: [{ name: 'all', sharePercent: 100 }], ...change }
    for (const path of ['plan', 'start']) expect((await post(path, body)).statusCode).toBe(400)
    expect((await (await t.admin()).get(base)).json().data).toEqual([])
  })

  it('is for Managers; everybody reads', async () => {
    const { id } = await start({ rings: [{ name: 'all', sharePercent: 100 }] })
    const user = await person(t)
    for (const path of [
      'plan',
      'start',
      ...['pause', 'resume', 'halt', 'revert', 'cancel'].map((what) => `${id}/${what}`),
    ])
      expect((await user.api.post(`${base}/${path}`, {})).statusCode, path).toBe(403)
    expect((await user.api.get(`${base}/${id}`)).statusCode).toBe(200)
    expect((await user.api.get(`${base}/${id}/hosts`)).statusCode).toBe(200)
    expect((await t.as(undefined).get(base)).statusCode).toBe(401)
    for (const path of ['nonsense', '01936f2a-7c11-7abc-8def-0123456789ab']) {
      expect((await user.api.get(`${base}/${path}`)).statusCode).toBe(404)
      expect((await post(`${path}/pause`)).statusCode).toBe(404)
    }
  })
})
