import { storageStick } from '@portcullis/domain/testing'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const base = '/prime/webui'
const stick = { vid: '0781', pid: '5581' }
let t: TestApp
let agents: TestAgent[]
/** A host without devices. Locking its row delays jobs. */
let bystander: TestAgent
let alice: Person
let bob: Person

/** Two Administrators; three hosts with the same stick, and a limit of one. */
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2, 3].map(() => enrolAgent(t, { devices: [storageStick({ portPath: '1-1' })] })))
  bystander = await enrolAgent(t)
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
  bob = await person(t, { profile: 10, userName: 'bob' })
})
afterAll(() => t.close())
beforeEach(async () => {
  await t.db.execute(sql`delete from policy_rules`)
  await t.db.execute(sql`delete from change_requests`)
  await t.db.execute(sql`update agent_rows set armed = false`)
  t.clock.advance(16 * 60_000)
  alice = { userName: 'admin', password: adminPassword, token: '', api: t.as(await t.signIn()) }
  bob = { ...bob, api: t.as(await t.signIn(bob.userName, bob.password)) }
})

const uuids = () => agents.map(({ agentId }) => agentId)
const bulk = (change: object) => alice.api.post(`${base}/agents/bulk`, change)
const add = async (change: object): Promise<string> => {
  const answer = await alice.api.post(`${base}/policy/rules`, { reason: 'test', ...change })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().rule.id
}
const remove = (id: string) => alice.api.delete(`${base}/policy/rules/${id}`)
const refusal = ({ statusCode, body }: { statusCode: number; body: string }) => [
  statusCode,
  statusCode === 200 ? '' : JSON.parse(body).code,
]
const isWaiting = async (): Promise<boolean> =>
  (
    await t.db.query(sql`
      select 1 from pg_stat_activity a where a.datname = current_database() and a.wait_event_type = 'Lock'`)
  ).length > 0

/** Runs `work` while rows are locked, then releases them. */
const whileLocked = (lock: SqlFragment, work: (tx: Tx) => Promise<void>): Promise<void> =>
  t.db.transaction(async (tx) => {
    await tx.query(lock)
    await work(tx)
  })

describe('a job that is counted when it is created', () => {
  it('an approval of attached devices covers no further hosts when rules change before the job runs', async () => {
    const deny = await add({ effect: 'deny', ...stick })
    let jobId = ''
    await whileLocked(sql`select 1 from agents where agent_id = ${bystander.agentId}::uuid for update`, async () => {
      expect((await bulk({ action: 'tag', hashtags: ['noise'], uuids: [bystander.agentId] })).statusCode).toBe(200)
      await expect.poll(isWaiting).toBe(true)
      const ordered = await bulk({ action: 'approveAll', uuids: uuids() })
      expect(ordered.json()).toMatchObject({ accepted: 3 })
      jobId = ordered.json().jobId
      expect((await remove(deny)).statusCode).toBe(200)
    })
    await expect
      .poll(async () => (await alice.api.get(`${base}/jobs/${jobId}`)).json())
      .toMatchObject({ state: 'failed', message: expect.stringContaining('Run the action again') })
    expect((await alice.api.get(`${base}/policy/rules`)).json().data).toEqual([])
  })

  it.each([
    ['has not used its count', null, 'completed', 0],
    ['has used its count', { opened: 1 }, 'failed', 1],
  ])('resumes an interrupted job that %s', async (_, tally, state, host) => {
    let jobId = ''
    await whileLocked(sql`select 1 from agents where agent_id = ${bystander.agentId}::uuid for update`, async () => {
      expect((await bulk({ action: 'tag', hashtags: [state], uuids: [bystander.agentId] })).statusCode).toBe(200)
      await expect.poll(isWaiting).toBe(true)
      const ordered = await bulk({ action: 'approveAll', uuids: uuids().slice(host, host + 1) })
      expect(ordered.json()).toMatchObject({ accepted: 1 })
      jobId = ordered.json().jobId
      await t.db.execute(sql`update jobs set tally = ${JSON.stringify(tally)}::jsonb where job_id = ${jobId}`)
    })
    await expect.poll(async () => (await alice.api.get(`${base}/jobs/${jobId}`)).json()).toMatchObject({ state })
    // Replicas of the previous release resume at this cursor, and read a number.
    const jobs = await t.db.query(sql`select cursor, tally from jobs where job_id = ${jobId}`)
    expect(jobs).toEqual([tally === null ? { cursor: 500, tally: { opened: 1 } } : { cursor: null, tally }])
  })

  it('deleting a deny counts armed hosts whose guards may allow its devices', async () => {
    const deny = await add({ effect: 'deny', ...stick })
    await t.db.execute(sql`update agent_rows set armed = true where agent_id = any(${uuids()}::uuid[])`)
    expect(refusal(await remove(deny))).toEqual([403, 'second_person_required'])
    const short = { effect: 'deny', reason: 'x', ...stick, expiresAt: new Date(t.clock.now() + 60_000).toISOString() }
    expect(refusal(await alice.api.put(`${base}/policy/rules/${deny}`, short))).toEqual([403, 'second_person_required'])
    await t.db.execute(sql`update agent_rows set armed = false where agent_id = ${uuids()[0]}::uuid`)
    await t.db.execute(sql`update agent_rows set armed = false where agent_id = ${uuids()[1]}::uuid`)
    expect(refusal(await remove(deny))).toEqual([200, ''])
  })
})
