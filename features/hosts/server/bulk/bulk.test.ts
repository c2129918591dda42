import { plainKeyboard, rubberDucky } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentCommand, Command, Job } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const post = async (path: string, body: unknown) => (await t.admin()).post(`/prime/webui/agents/${path}`, body)
const job = async (id: string): Promise<Job> => (await (await t.admin()).get(`/prime/webui/jobs/${id}`)).json()
const commandsOf = async (query: string): Promise<Command[]> =>
  (await pageOf<Command>(t, `agents/commands?PageSize=1000&${query}`)).data
const taken = async (agent: TestAgent): Promise<AgentCommand[]> =>
  ((await agent.checkIn()).commands ?? []).map((c) => JSON.parse(c.payload) as AgentCommand)
const confirm = async (agent: TestAgent, outcome: 'confirmed' | 'failed' = 'confirmed', message = '') => {
  for (const { id } of await taken(agent)) await agent.checkIn({ acks: [{ commandId: id, outcome, message }] })
}

describe('an action on many hosts', () => {
  it('names the hosts that cannot be armed, and the devices that arming blocks', async () => {
    const [one, observed] = await Promise.all([
      enrolAgent(t, {
        facts: { hostname: 'named-1', enforcement: 'before-driver' },
        devices: [rubberDucky({ portPath: '1-1' }), plainKeyboard({ portPath: '1-2' })],
      }),
      enrolAgent(t, { facts: { hostname: 'named-2', enforcement: 'observe' } }),
    ])
    const filter = { hostIdentifier: 'named' }
    const plain = (await post('bulk/preview', { filter, action: 'arm' })).json()
    expect([plain.leftOut, plain.devices]).toEqual([undefined, undefined])
    const named = async (body: object) => (await post('bulk/preview', { filter, withNames: true, ...body })).json()
    const { leftOut, devices, impossible, prediction } = await named({ action: 'arm' })
    expect(leftOut).toEqual([{ uuid: observed.agentId, hostIdentifier: 'named-2', reason: impossible[0].reason }])
    expect(prediction.blocked.peripherals).toBe(2)
    expect(devices).toMatchObject([
      { uuid: one.agentId, hostIdentifier: 'named-1', isKnownAttackTool: true, present: true, stopsWorking: true },
      { uuid: one.agentId, isKnownAttackTool: false, present: true, stopsWorking: false, reason: 'No rule allows it' },
    ])
    const { devices: present } = await named({ action: 'arm', applyToPresent: true })
    expect(present.map(({ stopsWorking }: { stopsWorking: boolean }) => stopsWorking)).toEqual([true, true])
    expect((await named({ action: 'free' })).devices).toBeUndefined()
    await t.db.execute(sql`delete from agents where agent_id = any(${[one.agentId, observed.agentId]}::uuid[])`)
  })

  it('previews its effect, and then has exactly this effect', async () => {
    const prefix = 'preview'
    const [one, observed, polled, away] = await Promise.all([
      enrolAgent(t, { facts: { hostname: `${prefix}-1` }, devices: [rubberDucky({ portPath: '1-1' })] }),
      enrolAgent(t, { facts: { hostname: `${prefix}-2`, enforcement: 'observe' } }),
      enrolAgent(t, { facts: { hostname: `${prefix}-3` } }),
      enrolAgent(t, { facts: { hostname: `${prefix}-4` } }),
    ])
    await t.db.execute(sql`update agent_rows set agentless = true where agent_id = ${polled.agentId}::uuid`)
    await t.db.execute(sql`update agent_rows set connected = false where agent_id = ${away.agentId}::uuid`)
    const filter = { hostIdentifier: prefix }
    const preview = await post('bulk/preview', { filter, action: 'arm' })
    expect([preview.statusCode, preview.json()]).toEqual([
      200,
      {
        action: 'arm',
        agents: 2,
        grades: [{ enforcement: 'after-attach', agents: 2 }],
        revertMinutes: 10,
        impossible: expect.arrayContaining([
          { reason: expect.stringContaining('is only monitored'), agents: 1 },
          { reason: expect.stringContaining('without an agent'), agents: 1 },
        ]),
        disconnected: 1,
        unchanged: 0,
        blocked: { agents: 1, peripherals: 1 },
        attackTools: 1,
        mismatched: { agents: 0, peripherals: 0 },
        worksAgain: { agents: 0, peripherals: 0, attackTools: 0 },
        secondPerson: false,
        prediction: expect.objectContaining({
          agents: 1,
          peripherals: 1,
          stopsWorking: { agents: 1, peripherals: 1, attackTools: 1 },
        }),
      },
    ])
    expect((await post('bulk', { filter, action: 'arm', expectedAgents: 3 })).statusCode).toBe(409)
    const done = await post('bulk', { filter, action: 'arm', expectedAgents: 2, applyToPresent: true })
    expect(done.json()).toEqual({ accepted: 2, skipped: 2, jobId: expect.any(String) })
    await t.jobs.drain()
    const id = done.json().jobId as string
    expect(await job(id)).toMatchObject({
      kind: 'modes',
      title: 'Arm: 2 hosts',
      state: 'running',
      total: 2,
      done: 0,
      failed: 0,
      canCancel: true,
    })
    expect(await taken(observed)).toEqual([])
    await confirm(one)
    expect(await job(id)).toMatchObject({ state: 'running', done: 1 })
    await confirm(away, 'failed', 'no sysfs')
    expect(await job(id)).toMatchObject({ state: 'completed', done: 1, failed: 1 })
    expect((await away.events()).at(-1)).toMatchObject({
      eventCode: '0x120008',
      details: 'Arm (Free again without contact for 10 minutes): no sysfs',
    })
  })

  it('accepts hosts by uuid, and skips unknown ids', async () => {
    const agent = await enrolAgent(t)
    const selection = { uuids: [agent.agentId, 'nobody'], action: 'collectLogs' }
    expect((await post('bulk/preview', selection)).json()).toMatchObject({
      agents: 1,
      impossible: [{ reason: 'This host does not exist.', agents: 1 }],
    })
    expect((await post('bulk', selection)).json()).toMatchObject({ accepted: 1, skipped: 1 })
    await t.jobs.drain()
    expect(await taken(agent)).toMatchObject([{ kind: 'collect-logs' }])
    expect((await post('bulk', { uuids: ['nobody'], action: 'free' })).json()).toEqual({
      accepted: 0,
      skipped: 1,
      jobId: null,
    })
  })

  it('also deletes, cancels and approves in a job', async () => {
    const [gone, busy] = await Promise.all([
      enrolAgent(t),
      enrolAgent(t, { devices: [rubberDucky({ portPath: '1-1' })] }),
    ])
    const bulk = async (body: unknown) => {
      const { jobId } = (await post('bulk', body)).json()
      await t.jobs.drain()
      return job(jobId)
    }
    await post('configuration', [{ uuid: busy.agentId, agentConfigViewResource: { isSystemArmed: 'ARM' } }])
    expect(await bulk({ uuids: [busy.agentId], action: 'cancelCommands' })).toMatchObject({
      state: 'completed',
      done: 1,
    })
    expect(await taken(busy)).toEqual([])
    // Approving everything never approves an attack tool.
    expect(await bulk({ uuids: [busy.agentId], action: 'approveAll' })).toMatchObject({ state: 'completed', done: 1 })
    expect((await pageOf(t, `policy/rules?host=${busy.agentId}`)).recordsFiltered).toBe(0)
    expect(await bulk({ uuids: [gone.agentId], action: 'delete' })).toMatchObject({ state: 'completed', done: 1 })
    expect((await (await t.admin()).get(`/prime/webui/agents/agent/${gone.agentId}`)).statusCode).toBe(404)
  })

  it('refuses invalid requests', async () => {
    for (const body of [
      { action: 'arm' },
      { action: 'arm', uuids: ['a'], filter: {} },
      { action: 'explode', filter: {} },
      { action: 'arm', filter: { hostName: 'x' } },
    ])
      expect((await post('bulk', body)).statusCode).toBe(400)
    const user = await person(t, { profile: 30 })
    const body = { filter: {}, action: 'free' }
    expect((await user.api.post('/prime/webui/agents/bulk', body)).statusCode).toBe(403)
    expect((await user.api.post('/prime/webui/agents/bulk/preview', body)).statusCode).toBe(200)
  })
})

describe('on 10,000 hosts', () => {
  beforeAll(async () => {
    await insertFleet(t, 10_000)
    await t.db.execute(sql`update agents set enforcement = 'before-driver' where os_name = 'Fleet OS'`)
  }, 120_000)
  const filter = { osVersion: 'Fleet OS' }

  it('is one request, shows its progress and can be cancelled', async () => {
    const armed = (await post('bulk', { filter, action: 'arm' })).json()
    expect(armed).toMatchObject({ accepted: 10_000, skipped: 0 })
    await t.jobs.drain()
    expect(await job(armed.jobId)).toMatchObject({ state: 'running', total: 10_000, done: 0, canCancel: true })
    expect((await pageOf(t, `agents/commands?jobId=${armed.jobId}&state=queued&PageSize=1`)).recordsFiltered).toBe(
      10_000,
    )
    const cancelled = await (await t.admin()).post(`/prime/webui/jobs/${armed.jobId}/cancel`)
    expect(cancelled.json()).toMatchObject({ state: 'cancelled' })
    await t.jobs.drain()
    expect(await job(armed.jobId)).toMatchObject({ state: 'cancelled', done: 0, failed: 10_000 })
    expect((await commandsOf(`jobId=${armed.jobId}&state=queued`)).length).toBe(0)
    const [left] = await t.db.query<{ n: number }>(sql`
      select count(*) as n from agent_rows r join agent_heartbeats h using (agent_id)
      join agents a using (agent_id) where a.os_name = 'Fleet OS' and h.has_commands`)
    expect(left?.n).toBe(0)
  }, 120_000)
})

describe('a person with twenty running jobs', () => {
  const wait = (createdBy: string, count: number) =>
    // Another process holds their leases, so nobody runs them.
    t.db.execute(sql`
      insert into jobs (job_id, kind, title, created_by, created_at, can_cancel, data, lease_until)
      select gen_random_uuid(), 'commands', 'Arm', ${createdBy}, now(), true, '{}', 'infinity' from generate_series(1, ${count}::int)`)

  it('cannot start another job, but other people can', async () => {
    const agent = await enrolAgent(t)
    const [busy, other] = [await person(t, { profile: 20 }), await person(t, { profile: 20 })]
    const order = (api: typeof busy.api) =>
      api.post('/prime/webui/agents/bulk', { action: 'collectLogs', uuids: [agent.agentId] })
    await wait(busy.userName, 19)
    expect((await order(busy.api)).statusCode).toBe(200)
    await t.jobs.drain()
    await wait(busy.userName, 1)
    const refused = await order(busy.api)
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'conflict'])
    expect(refused.json().detail).toContain('20 of your jobs are already running')
    expect((await order(other.api)).statusCode).toBe(200)
    await t.db.execute(sql`delete from jobs where lease_until = 'infinity'`)
    expect((await order(busy.api)).statusCode).toBe(200)
  })

  it('adds tags to all hosts that match a filter, and removes them again', async () => {
    const hosts = await Promise.all(['a', 'b'].map((n) => enrolAgent(t, { facts: { hostname: `tagged-${n}` } })))
    const filter = { hostIdentifier: 'tagged-' }
    for (const [body, message] of [
      [{ filter, action: 'tag' }, 'must contain a tag'],
      [{ filter, action: 'arm', hashtags: ['x'] }, 'is valid only for the actions tag and untag'],
      [{ filter, action: 'tag', hashtags: ['a,b'] }, 'comma'],
    ] as const) {
      const answer = await post('bulk', body)
      expect([answer.statusCode, answer.json().detail]).toEqual([400, expect.stringContaining(message)])
    }
    const tagsOf = async () =>
      (await pageOf<{ hashtags: string }>(t, 'agents?HostIdentifier=tagged-')).data.map(({ hashtags }) => hashtags)
    for (const [action, expected] of [
      ['tag', ['east,lab', 'east,lab']],
      ['untag', ['', '']],
    ] as const) {
      const { accepted, jobId } = (await post('bulk', { filter, action, hashtags: ['lab', 'east'] })).json()
      expect(accepted).toBe(hosts.length)
      await t.jobs.drain()
      expect(await job(jobId)).toMatchObject({ state: 'completed', done: 2, failed: 0 })
      expect(await tagsOf()).toEqual(expected)
    }
  })
})
