import { hub, plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { checkIn, ring, rolloutsBase, rolloutsOf, take, takeAll } from '@portcullis/server/test/rollouts.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { policySourceNames } from '#features/contract.ts'

const minute = 60_000
let t: TestApp
let rollouts: ReturnType<typeof rolloutsOf>

beforeEach(async () => {
  t = await startTestApp({ listen: true })
  rollouts = rolloutsOf(t)
})
afterEach(() => t.close())

describe('arming in rings', () => {
  it('arms ring by ring after each dwell time, and completes', async () => {
    const { canary, rest } = await rollouts.fleet(2, 3)
    const { id, rings } = await rollouts.start()
    expect(rings.map((r) => r.state)).toEqual(['running', 'waiting'])
    expect(ring(await rollouts.read(id), 0)).toEqual({ commanded: 2 })
    for (const agent of rest) expect((await checkIn(agent)).commands).toBeUndefined()

    const [first] = await take(canary[0] as TestAgent)
    expect(first).toMatchObject({ kind: 'configure', mode: 'Armed', applyToPresent: false })
    expect(ring(await rollouts.advance(id, 120), 0)).toEqual({ commanded: 1, done: 1 })
    await take(canary[1] as TestAgent)
    const dwelling = await rollouts.advance(id)
    expect(dwelling.rings.map((r) => r.state)).toEqual(['dwelling', 'waiting'])
    expect(Date.parse(dwelling.rings[0]?.dwellUntil ?? '') - t.clock.now()).toBe(60 * minute)

    expect(ring(await rollouts.advance(id, 59), 1)).toEqual({})
    expect(ring(await rollouts.advance(id, 1), 1)).toEqual({ commanded: 3 })
    await takeAll(rest)
    expect((await rollouts.advance(id)).rings.map((r) => r.state)).toEqual(['done', 'dwelling'])
    const end = await rollouts.advance(id, 60)
    expect(end).toMatchObject({ state: 'completed', reason: '' })
    expect(end.endedAt).not.toBe(null)
    expect((await pageOf(t, 'agents?Status=Armed')).recordsFiltered).toBe(5)
  })

  it('recognises its own commands while the clock advances', async () => {
    const { now } = t.clock
    let passed = 0
    t.clock.now = () => now() + passed++
    try {
      const { canary } = await rollouts.fleet(1, 1)
      const { id } = await rollouts.start()
      await take(canary[0] as TestAgent)
      expect(ring(await rollouts.advance(id), 0)).toEqual({ done: 1 })
      await rollouts.order(id, 'revert')
      await take(canary[0] as TestAgent)
      expect(ring(await rollouts.advance(id), 0)).toEqual({ reverted: 1 })
    } finally {
      t.clock.now = now
    }
  })

  it('selects the hosts of a ring when the ring starts', async () => {
    const { canary } = await rollouts.fleet(1, 1)
    const { id } = await rollouts.start()
    await takeAll(canary)
    await rollouts.advance(id)
    const [late] = await rollouts.hosts(1, 'canary')
    expect(ring(await rollouts.advance(id), 0)).toEqual({ done: 1 })
    expect((await (late as TestAgent).checkIn()).commands).toBeUndefined()
    expect(ring(await rollouts.advance(id, 60), 1)).toEqual({ commanded: 2 })
  })

  it('halts when failures exceed the budget, and arms no more hosts', async () => {
    const { canary, rest } = await rollouts.fleet(4, 2)
    const { id } = await rollouts.start({ failurePercent: 30 })
    await take(canary[0] as TestAgent, 'failed')
    expect((await rollouts.advance(id)).state).toBe('running')
    await take(canary[1] as TestAgent, 'failed')
    const halted = await rollouts.advance(id)
    expect(halted).toMatchObject({
      state: 'halted',
      reason: '2 of 4 hosts of ring 1 failed, which exceeds the budget of 30 %.',
    })
    expect(ring(halted, 0)).toEqual({ failed: 2, waiting: 2 })
    for (const agent of canary.slice(2)) {
      expect((await checkIn(agent)).commands).toBeUndefined()
      expect(await rollouts.commandsOf(agent)).toMatchObject([
        { state: 'cancelled', message: 'The rollout was halted.' },
      ])
    }
    await rollouts.advance(id, 10_000)
    for (const agent of [...canary, ...rest]) expect((await checkIn(agent)).commands).toBeUndefined()
    const { data } = await pageOf<{ description: string; details: string }>(t, 'events/getevents?category=System')
    expect(data.map((e) => e.description)).toContain('Rollout halted')

    const resumed = await rollouts.order(id, 'resume')
    expect(ring(resumed, 0)).toEqual({ failed: 2, commanded: 2 })
    await takeAll(canary.slice(2))
    expect((await rollouts.advance(id)).rings[0]?.state).toBe('dwelling')
  })

  it('halts when hosts block more devices than predicted', async () => {
    const { canary } = await rollouts.fleet(1, 1)
    const { id } = await rollouts.start()
    await takeAll(canary)
    expect((await rollouts.advance(id)).rings[0]).toMatchObject({ predictedBlocks: 0, actualBlocks: 0 })
    const enforced = { effect: 'block', source: policySourceNames[7], ruleId: null, policyVersion: 1 } as const
    await canary[0]?.plug({ ...plainKeyboard(), enforced, authorized: false })
    const halted = await rollouts.advance(id)
    expect(halted.state).toBe('halted')
    expect(halted.reason).toContain('blocked more devices than predicted')
    expect(halted.rings[0]).toMatchObject({ actualBlocks: 1, overPrediction: 1 })
  })

  it('counts predicted blocks, which do not halt the rollout', async () => {
    const canary = await rollouts.hosts(1, 'canary', {}, [plainKeyboard()])
    const body = { kind: 'arm', name: 'p', applyToPresent: true, rings: [{ name: 'canary', tags: ['canary'] }] }
    const plan = (await rollouts.post('plan', body)).json()
    expect(plan.rings[0]).toMatchObject({ hosts: 1, ready: 1, predictedBlocks: 1 })
    expect((await rollouts.post('plan', { ...body, applyToPresent: false })).json().rings[0].predictedBlocks).toBe(0)
    const { id } = await rollouts.start(body)
    await takeAll(canary)
    const enforced = { effect: 'block', source: policySourceNames[7], ruleId: null, policyVersion: 1 } as const
    await canary[0]?.change({ ...plainKeyboard(), enforced, authorized: false })
    expect((await rollouts.advance(id)).rings[0]).toMatchObject({
      state: 'dwelling',
      predictedBlocks: 1,
      actualBlocks: 1,
    })
  })

  it('a plan counts devices whose kernel driver contradicts their kind, host by host', async () => {
    const bound = [{ interface: 0, claims: 'Hub' as const, driver: 'rtl8150' }]
    const liar = { ...hub({ portPath: '1-3', vid: '0BDA', pid: '8150' }), mismatch: { bound } }
    await rollouts.hosts(2, 'canary', {}, [liar])
    await rollouts.hosts(1, 'rest', {}, [plainKeyboard()])
    const rings = [
      { name: 'canary', tags: ['canary'] },
      { name: 'rest', sharePercent: 100 },
    ]
    const plan = (await rollouts.post('plan', { kind: 'arm', name: 'p', rings })).json()
    expect(plan.rings.map((one: { mismatched: unknown }) => one.mismatched)).toEqual([
      { hosts: 2, devices: 2 },
      { hosts: 0, devices: 0 },
    ])
  })

  it('a host that automatically returns to Free counts as a failure, but a freed host does not', async () => {
    const { canary } = await rollouts.fleet(2, 0)
    const { id } = await rollouts.start({ failurePercent: 60 })
    await takeAll(canary)
    await rollouts.advance(id)
    await canary[0]?.checkIn({ enforcement: { mode: 'Free', policyVersion: 1, reason: 'no contact after arming' } })
    await canary[1]?.checkIn({ enforcement: { mode: 'Free', policyVersion: 1, reason: '' } })
    expect(ring(await rollouts.advance(id), 0)).toEqual({ failed: 1, skipped: 1 })
    const { data } = await pageOf<{ reason: string }>(t, `rollouts/${id}/hosts?state=failed`)
    expect(data[0]?.reason).toBe('The host reverted to Free: no contact after arming')
  })

  it('lists offline hosts and commands them later', async () => {
    const { canary, rest } = await rollouts.fleet(2, 1)
    const [gone] = canary.slice(1)
    await rollouts.silence([gone as TestAgent])
    const { id } = await rollouts.start()
    expect(ring(await rollouts.read(id), 0)).toEqual({ commanded: 1, offline: 1 })
    await take(canary[0] as TestAgent)
    expect((await rollouts.advance(id)).rings[0]?.state).toBe('dwelling')
    await rollouts.advance(id, 60)
    await takeAll(rest)
    await rollouts.advance(id)
    expect((await rollouts.advance(id, 60)).state).toBe('running')
    const { data } = await pageOf<{ uuid: string }>(t, `rollouts/${id}/hosts?state=offline`)
    expect(data.map((h) => h.uuid)).toEqual([gone?.agentId])

    await checkIn(gone as TestAgent)
    expect(ring(await rollouts.advance(id), 0)).toEqual({ commanded: 1, done: 1 })
    await take(gone as TestAgent)
    expect((await rollouts.advance(id)).state).toBe('completed')
  })

  it('lists hosts that are not ready, with the reason, and skips them', async () => {
    await rollouts.hosts(1, 'canary', { enforcement: 'observe' })
    const [armed] = await rollouts.hosts(1, 'canary')
    await armed?.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '' } })
    await rollouts.hosts(1, 'canary')
    const body = { kind: 'arm', name: 'p', rings: [{ name: 'canary', tags: ['CANARY '] }] }
    const plan = (await rollouts.post('plan', body)).json()
    expect(plan.rings).toEqual([
      {
        name: 'canary',
        hosts: 3,
        ready: 1,
        offline: 0,
        notReady: 1,
        unchanged: 1,
        predictedBlocks: 0,
        mismatched: { hosts: 0, devices: 0 },
        reasons: [{ reason: 'The host is only monitored.', hosts: 1 }],
      },
    ])
    expect(plan.hosts[0]).toMatchObject({ state: 'notReady', enforcement: 'observe' })
    expect((await (await t.admin()).get(rolloutsBase)).json().data).toEqual([])
    const { id } = await rollouts.start(body)
    expect(ring(await rollouts.read(id), 0)).toEqual({ notReady: 1, unchanged: 1, commanded: 1 })
    await rollouts.order(id, 'revert')
    const commands = await armed?.checkIn()
    expect(commands?.commands).toBeUndefined()
  })

  it('reverting a rollout frees the hosts that it armed, and ends it', async () => {
    const { canary, rest } = await rollouts.fleet(2, 1)
    const { id } = await rollouts.start()
    await take(canary[0] as TestAgent)
    await rollouts.advance(id)
    const reverted = await rollouts.order(id, 'revert')
    expect(reverted.state).toBe('reverted')
    expect(ring(reverted, 0)).toEqual({ reverting: 2 })
    for (const agent of canary) expect(await take(agent)).toMatchObject([{ kind: 'configure', mode: 'Free' }])
    expect((await checkIn(rest[0] as TestAgent)).commands).toBeUndefined()
    expect(ring(await rollouts.advance(id), 0)).toEqual({ reverted: 2 })
    for (const what of ['pause', 'resume', 'halt', 'revert', 'cancel'])
      expect((await rollouts.post(`${id}/${what}`)).statusCode, what).toBe(409)
    expect((await rollouts.advance(id, 100_000)).state).toBe('reverted')
    expect((await pageOf(t, 'agents?Status=Armed')).recordsFiltered).toBe(0)
  })

  it('a plan does not delay a rollout that starts at the same time', async () => {
    await rollouts.fleet(1, 1)
    const { db } = t.server
    // Enough hosts that the rollout runs ANALYZE.
    await insertFleet(t, 2_100)
    await db.execute(sql`update agent_rows r set connected = false where r.host not like 'host-%'`)
    // The trigger makes the plan wait for a lock.
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
    let plan: ReturnType<typeof rollouts.post> | undefined
    const { id } = await db.transaction(async (tx) => {
      await tx.execute(sql`lock table plan_waits in access exclusive mode`)
      // The plan changes the state of armed hosts, so the trigger fires.
      await db.execute(sql`update agent_rows r set armed = true`)
      plan = rollouts.post('plan', body)
      await expect
        .poll(
          async () =>
            (await db.query(sql`select 1 from pg_locks l where l.relation = 'plan_waits'::regclass and not l.granted`))
              .length,
        )
        .toBe(1)
      await db.execute(sql`update agent_rows r set armed = false`)
      return rollouts.start(body)
    })
    expect(ring(await rollouts.read(id), 0)).toMatchObject({ commanded: 2 })
    expect((await plan)?.statusCode).toBe(200)
  })

  it('reverting a rollout with many hosts needs a second approver', async () => {
    const { canary } = await rollouts.fleet(3, 0)
    const { id } = await rollouts.start({ name: 'Kiosks' })
    await takeAll(canary.slice(0, 2))
    await rollouts.advance(id)
    const { settings } = (await (await t.admin()).get('/prime/webui/policy')).json()
    const saved = await (await t.admin()).put('/prime/webui/policy/settings', { ...settings, twoPersonHosts: 2 })
    expect(saved.statusCode, saved.body).toBe(200)
    // Two people are needed because two Administrators exist.
    const [alice, bob] = [await person(t, { profile: 10 }), await person(t, { profile: 20 })]

    const refused = await alice.api.post(`${rolloutsBase}/${id}/revert`)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'second_person_required'])
    expect((await rollouts.read(id)).state).toBe('running')
    const requests = '/prime/webui/policy/changerequests'
    const [request] = (await alice.api.get(requests)).json().data
    expect(request).toMatchObject({
      action: 'free',
      hosts: 3,
      state: 'Waiting',
      title: 'Free 3 hosts: revert rollout Kiosks',
      requestedBy: alice.userName,
    })
    expect((await approveRequest(alice.api, request.id)).statusCode).toBe(403)
    expect((await rollouts.read(id)).state).toBe('running')

    const approved = await approveRequest(bob.api, request.id)
    expect(approved.statusCode, approved.body).toBe(200)
    const reverted = await rollouts.advance(id)
    expect(reverted).toMatchObject({
      state: 'reverted',
      reason: `By ${alice.userName}, approved by ${bob.userName}.`,
    })
    expect(ring(reverted, 0)).toEqual({ reverting: 3 })
    for (const agent of canary) expect((await take(agent)).at(-1)).toMatchObject({ kind: 'configure', mode: 'Free' })
  })

  it('a revert also counts hosts that the rollout arms in the meantime', async () => {
    const { canary } = await rollouts.fleet(3, 0)
    const { id } = await rollouts.start()
    await takeAll(canary)
    await rollouts.advance(id)
    const { settings } = (await (await t.admin()).get('/prime/webui/policy')).json()
    await (await t.admin()).put('/prime/webui/policy/settings', { ...settings, twoPersonHosts: 2 })
    const alice = await person(t, { profile: 10 })
    const hosts = sql`update rollout_hosts set state = 'skipped', commanded_at = null where rollout_id = ${id}::uuid`
    const armed = sql`update rollout_hosts set state = 'done', commanded_at = now() where rollout_id = ${id}::uuid`
    await t.db.execute(hosts)
    let reverted: ReturnType<typeof alice.api.post> | undefined
    await t.db.transaction(async (tx) => {
      await tx.query(sql`select 1 from rollouts where rollout_id = ${id}::uuid for update`)
      reverted = alice.api.post(`${rolloutsBase}/${id}/revert`)
      await expect
        .poll(() =>
          t.db.query(sql`
            select 1 as n from pg_stat_activity a
            where a.datname = current_database() and a.wait_event_type = 'Lock'`),
        )
        .not.toEqual([])
      await tx.execute(armed)
    })
    expect((await reverted)?.json()).toMatchObject({ code: 'second_person_required' })
    expect((await rollouts.read(id)).state).not.toBe('reverted')
  })

  it('an approval never frees more hosts than the request stated', async () => {
    const { canary, rest } = await rollouts.fleet(2, 1)
    const { id } = await rollouts.start()
    await takeAll(canary)
    await rollouts.advance(id)
    const { settings } = (await (await t.admin()).get('/prime/webui/policy')).json()
    await (await t.admin()).put('/prime/webui/policy/settings', { ...settings, twoPersonHosts: 1 })
    const bob = await person(t, { profile: 10 })
    expect((await rollouts.post(`${id}/revert`)).statusCode).toBe(403)
    await rollouts.advance(id, 60)
    await takeAll(rest)
    const requests = '/prime/webui/policy/changerequests'
    const [request] = (await (await t.admin()).get(requests)).json().data
    expect(request).toMatchObject({ hosts: 2, title: 'Free 2 hosts: revert rollout test' })
    const later = t.as(await t.signIn(bob.userName, bob.password))
    const answer = await approveRequest(later, request.id)
    expect(answer.json()).toMatchObject({ status: 409, detail: expect.stringContaining('has armed 3 hosts by now') })
    expect((await rollouts.read(id)).state).toBe('running')
  })

  it('pausing outlasts the dwell time, and cancelling keeps completed changes', async () => {
    const { canary, rest } = await rollouts.fleet(1, 1)
    const { id } = await rollouts.start()
    await takeAll(canary)
    await rollouts.advance(id)
    await rollouts.order(id, 'pause')
    expect((await rollouts.advance(id, 600)).rings[1]?.state).toBe('waiting')
    expect(ring(await rollouts.order(id, 'resume'), 1)).toEqual({ commanded: 1 })
    const cancelled = await rollouts.order(id, 'cancel')
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

  it('shares apply to hosts that no earlier ring took, and removed hosts are skipped', async () => {
    const { canary, rest } = await rollouts.fleet(1, 9)
    const { id } = await rollouts.start({
      rings: [
        { name: 'canary', tags: ['canary'] },
        { name: 'a third', sharePercent: 33 },
        { name: 'rest', sharePercent: 100 },
      ],
    })
    await takeAll(canary)
    await rollouts.advance(id)
    expect(ring(await rollouts.advance(id, 60), 1)).toEqual({ commanded: 3 })
    const { data } = await pageOf<{ uuid: string }>(t, `rollouts/${id}/hosts?ring=1`)
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [data[0]?.uuid])
    await takeAll([...canary, ...rest].filter((a) => data.slice(1).some((h) => h.uuid === a.agentId)))
    expect(ring(await rollouts.advance(id), 1)).toEqual({ done: 2, skipped: 1 })
    expect(ring(await rollouts.advance(id, 60), 2)).toEqual({ commanded: 6 })
  })

  it('two replicas advance a rollout once', async () => {
    const { canary } = await rollouts.fleet(6, 0)
    const other = await startTestApp({ database: t.database, clock: t.clock, keyDir: t.keyDir })
    try {
      const { id } = await rollouts.start()
      await Promise.all([t.rollouts.advance(), other.rollouts.advance(), t.rollouts.advance()])
      for (const agent of canary) expect(await rollouts.commandsOf(agent)).toHaveLength(1)
      await takeAll(canary)
      await Promise.all([t.rollouts.advance(), other.rollouts.advance()])
      expect(ring(await rollouts.read(id), 0)).toEqual({ done: 6 })
    } finally {
      await other.close()
    }
  })
})

describe('invalid input', () => {
  it('only one rollout of each kind can run at a time', async () => {
    await rollouts.fleet(1, 0)
    const { id } = await rollouts.start({ name: 'first' })
    const body = { kind: 'arm', name: 'second', rings: [{ name: 'all', sharePercent: 100 }] }
    expect((await rollouts.post('start', body)).json()).toMatchObject({
      status: 409,
      detail: 'Rollout first of this kind is running. Only one of each kind can run at a time.',
    })
    expect((await rollouts.post('plan', body)).statusCode).toBe(200)
    await rollouts.order(id, 'halt')
    expect((await rollouts.post('start', body)).statusCode).toBe(409)
    await rollouts.order(id, 'cancel')
    expect((await rollouts.post('start', body)).statusCode).toBe(200)
  })

  it.each([
    ['no rings', { rings: [] }],
    ['a ring without tags and share', { rings: [{ name: 'x' }] }],
    ['a ring with tags and share', { rings: [{ name: 'x', tags: ['canary'], sharePercent: 5 }] }],
    ['a tag that does not exist', { rings: [{ name: 'x', tags: ['nowhere'] }] }],
    ['a share over 100', { rings: [{ name: 'x', sharePercent: 101 }] }],
    ['no dwell', { dwellMinutes: 0 }],
    ['an unknown kind', { kind: 'free' }],
    ['a name with control characters', { name: 'a\u0007' }],
    ['a name that reorders text', { name: 'a\u202egnp.exe' }],
    ['a ring name with invisible characters', { rings: [{ name: 'all\u200b', sharePercent: 100 }] }],
    ['an unknown member', { force: true }],
  ])('starts nothing and answers 400 for %s', async (_, change) => {
    const body = { kind: 'arm', name: 'x', rings: [{ name: 'all', sharePercent: 100 }], ...change }
    for (const path of ['plan', 'start']) expect((await rollouts.post(path, body)).statusCode).toBe(400)
    expect((await (await t.admin()).get(rolloutsBase)).json().data).toEqual([])
  })

  it('starting requires a Manager, and every account can read rollouts', async () => {
    const { id } = await rollouts.start({ rings: [{ name: 'all', sharePercent: 100 }] })
    const user = await person(t)
    for (const path of [
      'plan',
      'start',
      ...['pause', 'resume', 'halt', 'revert', 'cancel'].map((what) => `${id}/${what}`),
    ])
      expect((await user.api.post(`${rolloutsBase}/${path}`, {})).statusCode, path).toBe(403)
    expect((await user.api.get(`${rolloutsBase}/${id}`)).statusCode).toBe(200)
    expect((await user.api.get(`${rolloutsBase}/${id}/hosts`)).statusCode).toBe(200)
    expect((await t.as(undefined).get(rolloutsBase)).statusCode).toBe(401)
    for (const path of ['nonsense', '01936f2a-7c11-7abc-8def-0123456789ab']) {
      expect((await user.api.get(`${rolloutsBase}/${path}`)).statusCode).toBe(404)
      expect((await rollouts.post(`${path}/pause`)).statusCode).toBe(404)
    }
  })
})
