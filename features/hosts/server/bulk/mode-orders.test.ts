import { createHash } from 'node:crypto'
import { plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentCommand, AuditRecord, Command, Job } from '#features/contract.ts'

const base = '/prime/webui'
/** With these hosts, an order is above 500 and needs a job. */
const others = 600
let t: TestApp
let fleet: string[]
/** Its pending command makes another job wait, and with it all jobs that sign modes. */
let bystander: TestAgent

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await enrolAgent(t)
  await insertFleet(t, others)
  await t.db.execute(sql`update agents set enforcement = 'before-driver' where os_name = 'Fleet OS'`)
  fleet = (
    await t.db.query<{ agent_id: string }>(sql`select agent_id from agents where os_name = 'Fleet OS' order by 1`)
  ).map((row) => row.agent_id)
  bystander = await enrolAgent(t)
})
afterAll(() => t.close())

const post = async (path: string, body: unknown) => (await t.admin()).post(`${base}/agents/${path}`, body)
const order = (word: 'ARM' | 'free', agents: readonly TestAgent[], resource: object = {}) =>
  [...agents.map((agent) => agent.agentId), ...fleet].map((uuid) => ({
    uuid,
    agentConfigViewResource: { isSystemArmed: word, ...resource },
  }))
const configure = async (body: unknown[]) => {
  // So that jobs have an order.
  t.clock.advance(10)
  const answer = await post('configuration', body)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json() as { uuid: string }[]
}
const jobs = async (): Promise<Job[]> => (await (await t.admin()).get(`${base}/jobs`)).json().data
const newest = async (): Promise<Job> => (await jobs())[0] as Job
const jobOf = async (id: string): Promise<Job> => (await (await t.admin()).get(`${base}/jobs/${id}`)).json()
const commandsOf = async (query: string): Promise<Command[]> =>
  (await pageOf<Command>(t, `agents/commands?PageSize=1000&${query}`)).data
const inAction = async (): Promise<number> =>
  (await t.db.query<{ n: number }>(sql`select count(*)::int as n from agent_heartbeats h where h.has_commands`))[0]
    ?.n ?? 0
const marked = async (): Promise<number> =>
  (
    await t.db.query<{ n: number }>(sql`select count(*)::int as n from agent_heartbeats h where h.mode_job is not null`)
  )[0]?.n ?? 0
const taken = async (agent: TestAgent): Promise<AgentCommand[]> =>
  ((await agent.checkIn()).commands ?? []).map((c) => JSON.parse(c.payload) as AgentCommand)
const cancelAll = async (agents: readonly TestAgent[]) => {
  const uuids = [...fleet, ...agents.map((agent) => agent.agentId), bystander.agentId]
  expect((await post('deleteAgentsCommands', uuids)).statusCode).toBe(200)
  expect([await inAction(), await marked()]).toEqual([0, 0])
}
const isWaiting = async (): Promise<boolean> =>
  (
    await t.db.query(sql`
      select 1 from pg_stat_activity a where a.datname = current_database() and a.wait_event_type = 'Lock'`)
  ).length > 0

/** Runs `work` while another job keeps its kind busy, then lets all jobs run. */
const whileBusy = async (work: () => Promise<void>): Promise<void> => {
  await post('configuration', [{ uuid: bystander.agentId, agentConfigViewResource: { isSystemArmed: 'ARM' } }])
  await t.db.transaction(async (tx) => {
    await tx.query(
      sql`select 1 from commands where agent_id = ${bystander.agentId}::uuid and state = 'queued' for update`,
    )
    expect((await post('bulk', { action: 'free', uuids: [bystander.agentId] })).statusCode).toBe(200)
    await expect.poll(isWaiting).toBe(true)
    await work()
  })
  await t.jobs.drain()
}

describe('an order to arm or free more than 500 hosts', () => {
  it('gets a response before its commands are signed, and its hosts have a pending action at once', async () => {
    const agent = await enrolAgent(t)
    const listed = [agent.agentId, ...fleet]
    let id = ''
    await whileBusy(async () => {
      const answer = await configure(order('ARM', [agent], { applyToPresent: true }))
      expect(answer.map((row) => row.uuid)).toEqual(listed)
      const job = await newest()
      expect(job).toMatchObject({ kind: 'modes', title: `Arm: ${others + 1} hosts`, state: 'running', canCancel: true })
      id = job.id
      expect(await agent.detail()).toMatchObject({ inAction: true, pendingCommands: [] })
      // With the bystander.
      expect(await inAction()).toBe(others + 2)
      expect(await taken(agent)).toEqual([])
      const ordered = (await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=1')).data[0]
      const digest = createHash('sha256')
        .update([...listed].sort().join('\n'))
        .digest('hex')
      expect(ordered).toMatchObject({ action: 'bulk.ordered', entity: `${others + 1} hosts`, userName: 'admin' })
      expect(ordered?.details).toBe(`Arm, job ${id}, hosts by name, SHA-256 of the host ids ${digest}`)
    })
    expect(await commandsOf(`jobId=${id}`)).toHaveLength(others + 1)
    expect(await taken(agent)).toMatchObject([{ kind: 'configure', mode: 'Armed', applyToPresent: true }])
    const steps = (await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=100')).data.filter(
      (row) => row.action === 'command.ordered' && row.details.startsWith('Arm: '),
    )
    for (const uuid of listed) expect(steps.filter((row) => row.details.includes(uuid)).length, uuid).toBe(1)
    await cancelAll([agent])
    expect(await jobOf(id)).toMatchObject({ state: 'completed', done: 0, failed: others + 1 })
  })

  it('never replaces a newer order of a host, and a cancelled order stays cancelled', async () => {
    const agents = await Promise.all([1, 2, 3, 4].map(() => enrolAgent(t)))
    const [freed, cancelled, collecting, kept] = agents as [TestAgent, TestAgent, TestAgent, TestAgent]
    let id = ''
    await whileBusy(async () => {
      await configure(order('ARM', agents))
      id = (await newest()).id
      await post('configuration', [{ uuid: freed.agentId, agentConfigViewResource: { isSystemArmed: 'free' } }])
      expect((await post('deleteAgentsCommands', [cancelled.agentId])).json().accepted).toEqual([cancelled.agentId])
      expect((await cancelled.detail()).inAction).toBe(false)
      await post('fetchagentsdebuglogs', [collecting.agentId])
    })
    expect((await commandsOf(`hostUuid=${freed.agentId}`)).map((c) => [c.title, c.state])).toEqual([['Free', 'queued']])
    expect(await commandsOf(`hostUuid=${cancelled.agentId}`)).toEqual([])
    expect((await cancelled.detail()).inAction).toBe(false)
    expect((await taken(collecting)).map((c) => c.kind)).toEqual(['collect-logs', 'configure'])
    expect(await taken(kept)).toMatchObject([{ mode: 'Armed' }])
    expect(await jobOf(id)).toMatchObject({ total: others + 4, done: 0, failed: 2 })
    await cancelAll(agents)
  })

  it('is replaced by a newer order to the same hosts, whichever job runs first', async () => {
    const agent = await enrolAgent(t)
    await whileBusy(async () => {
      await configure(order('ARM', [agent]))
      await configure(order('free', [agent]))
    })
    expect((await commandsOf(`hostUuid=${agent.agentId}`)).map((c) => [c.title, c.state])).toEqual([['Free', 'queued']])
    expect((await jobs()).slice(0, 2).map((job) => [job.title.slice(0, 4), job.state, job.failed])).toEqual([
      ['Free', 'running', 0],
      ['Arm:', 'completed', others + 1],
    ])
    await cancelAll([agent])
  })

  it('keeps an action pending until it is signed, when another command of the host ends', async () => {
    const agent = await enrolAgent(t)
    await whileBusy(async () => {
      await post('fetchagentsdebuglogs', [agent.agentId])
      await configure(order('ARM', [agent]))
      const [command] = await taken(agent)
      await agent.checkIn({ acks: [{ commandId: command?.id ?? '', outcome: 'confirmed', message: '' }] })
      expect((await agent.detail()).inAction).toBe(true)
    })
    expect(await taken(agent)).toMatchObject([{ mode: 'Armed' }])
    await cancelAll([agent])
  })

  it('can be cancelled before it is signed', async () => {
    const agent = await enrolAgent(t)
    let id = ''
    await whileBusy(async () => {
      await configure(order('ARM', [agent]))
      id = (await newest()).id
      expect((await (await t.admin()).post(`${base}/jobs/${id}/cancel`)).json()).toMatchObject({ state: 'cancelled' })
    })
    expect(await commandsOf(`jobId=${id}`)).toEqual([])
    expect([(await agent.detail()).inAction, await marked()]).toEqual([false, 0])
    await cancelAll([])
  })

  it('continues on another server when the server that signs it was killed', async () => {
    const agent = await enrolAgent(t)
    let id = ''
    await whileBusy(async () => {
      await configure(order('ARM', [agent]))
      id = (await newest()).id
      // The state that a killed replica leaves.
      const until = new Date(t.clock.now() + 60_000)
      await t.db.execute(sql`update jobs set lease_id = gen_random_uuid(), lease_until = ${until} where job_id = ${id}`)
    })
    expect([await commandsOf(`jobId=${id}`), await marked()]).toEqual([[], others + 1])
    t.clock.advance(61_000)
    await t.jobs.drain()
    expect([(await commandsOf(`jobId=${id}`)).length, await marked()]).toEqual([others + 1, 0])
    await cancelAll([agent])
  })

  it('leaves no action pending if the server cannot sign it, and creates an event for each host', async () => {
    const agent = await enrolAgent(t)
    let id = ''
    await whileBusy(async () => {
      await configure(order('ARM', [agent]))
      id = (await newest()).id
      // A job that its handler cannot read stands in for any defect.
      await t.db.execute(sql`update jobs set data = jsonb_set(data, '{actor}', 'null') where job_id = ${id}::uuid`)
    })
    expect(await jobOf(id)).toMatchObject({ state: 'failed', message: 'The server failed. See its log for details.' })
    expect([(await agent.detail()).inAction, await marked()]).toEqual([false, 0])
    expect((await agent.events()).at(-1)).toMatchObject({
      eventCode: '0x120008',
      details: 'Arm: the server could not sign the command',
    })
    await cancelAll([])
  })

  it('skips hosts that can no longer carry it out or no longer exist', async () => {
    const [observing, removed] = (await Promise.all([1, 2].map(() => enrolAgent(t)))) as [TestAgent, TestAgent]
    let id = ''
    await whileBusy(async () => {
      await configure(order('ARM', [observing, removed]))
      id = (await newest()).id
      await t.db.execute(sql`update agents set enforcement = 'observe' where agent_id = ${observing.agentId}::uuid`)
      expect((await post('deleteAgents', [removed.agentId])).statusCode).toBe(200)
    })
    expect(await jobOf(id)).toMatchObject({ state: 'running', total: others + 2, failed: 2 })
    expect([(await observing.detail()).inAction, await marked()]).toEqual([false, 0])
    await cancelAll([])
  })

  it('approves attached devices at once and arms by a job', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    await whileBusy(async () => {
      await configure(order('ARM', [agent], { approveAll: true }))
      expect((await pageOf(t, `policy/rules?host=${agent.agentId}`)).recordsFiltered).toBe(1)
      expect((await newest()).title).toBe(`Arm: ${others + 1} hosts`)
    })
    expect(await taken(agent)).toMatchObject([{ mode: 'Armed' }])
    await cancelAll([agent])
  })

  it('is refused while 20 jobs of the person are running, and marks no host', async () => {
    const agent = await enrolAgent(t)
    const [busy, other] = [await person(t, { profile: 20 }), await person(t, { profile: 20 })]
    const ordered = (api: typeof busy.api, body: unknown[]) =>
      api.post(`${base}/agents/configuration`, body, { accept: 'application/json' })
    // Another process holds their leases, so this one does not run them.
    await t.db.execute(sql`
      insert into jobs (job_id, kind, title, created_by, created_at, can_cancel, data, lease_until)
      select gen_random_uuid(), 'modes', 'Arm', ${busy.userName}, now(), true, '{}', 'infinity' from generate_series(1, 20)`)
    const refused = await ordered(busy.api, order('ARM', [agent]))
    expect(refused.statusCode).toBe(400)
    expect(refused.json().detail).toContain('20 of your jobs are already running')
    expect([await inAction(), await marked()]).toEqual([0, 0])
    const few = [{ uuid: agent.agentId, agentConfigViewResource: { isSystemArmed: 'ARM' } }]
    expect((await ordered(busy.api, few)).statusCode).toBe(200)
    await cancelAll([agent])
    expect((await ordered(other.api, order('ARM', [agent]))).statusCode).toBe(200)
    await t.db.execute(sql`delete from jobs where lease_until = 'infinity'`)
    await t.jobs.drain()
    expect((await ordered(busy.api, order('free', [agent]))).statusCode).toBe(200)
    await t.jobs.drain()
    await cancelAll([agent])
  })

  it('needs the same second approver, and marks no host before the approval', async () => {
    const agent = await enrolAgent(t)
    const bob = await person(t, { profile: 10, userName: 'bob' })
    t.clock.advance(60_000)
    const [alice, approver] = [
      t.as(await t.signIn('admin', adminPassword)),
      t.as(await t.signIn(bob.userName, bob.password)),
    ]
    const before = await newest()
    const refused = await alice.post(`${base}/agents/configuration`, order('free', [agent]), {
      accept: 'application/json',
    })
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'second_person_required'])
    await t.jobs.drain()
    expect([(await newest()).id, await marked(), await inAction()]).toEqual([before.id, 0, 0])
    const [request] = (await approver.get(`${base}/policy/changerequests`)).json().data
    expect(request).toMatchObject({ hosts: others + 1, state: 'Waiting' })
    expect((await approveRequest(approver, request.id)).statusCode).toBe(200)
    await t.jobs.drain()
    expect(await taken(agent)).toMatchObject([{ mode: 'Free' }])
    expect(await newest()).toMatchObject({ title: `Free: ${others + 1} hosts`, createdBy: 'admin, approved by bob' })
  })
})
