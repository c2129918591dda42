import { plainMouse } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Rollback } from './db.ts'
import { sql } from './sql.ts'

const base = '/prime/webui'
let t: TestApp
let agent: TestAgent

/** Makes the next `many` transactions that write to the audit trail conflict. */
const conflicts = async (many: number): Promise<void> => {
  await t.server.db.execute(sql`alter sequence conflicts restart`)
  await t.server.db.execute(sql`update conflicts_wanted set many = ${many}::int`)
}

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agent = await enrolAgent(t, { devices: [plainMouse({ portPath: '1-1' })] })
  const { db } = t.server
  await db.execute(sql`create sequence conflicts`)
  await db.execute(sql`create table conflicts_wanted as select 0 as many`)
  // A sequence keeps counting when its transaction is rolled back.
  await db.execute(sql`
    create function conflict() returns trigger language plpgsql as $$ begin
      if nextval('conflicts') <= (select many from conflicts_wanted) then
        raise exception 'deadlock detected' using errcode = '40P01';
      end if;
      return new;
    end $$`)
  await db.execute(sql`create trigger conflict before insert on audit_records for each row execute function conflict()`)
})
afterAll(() => t.close())
beforeEach(() => conflicts(0))

const csv = (text: string) =>
  [
    '--x',
    'content-disposition: form-data; name="file"; filename="tags.csv"',
    'content-type: text/csv',
    '',
    text,
    '--x--',
    '',
  ].join('\r\n')

/** Changes by people, each within one transaction. */
const orders: [string, () => Promise<{ statusCode: number; body: string }>][] = [
  [
    'a rule',
    async () => (await t.admin()).post(`${base}/policy/rules`, { effect: 'allow', vid: '046D', reason: 'ours' }),
  ],
  [
    'an approval',
    async () =>
      (await t.admin()).post(`${base}/peripherals/command`, {
        opCode: 'APPROVE',
        peripheralsIds: [{ uuid: agent.agentId, vid: '046D', pid: 'C077', serialNumber: '' }],
      }),
  ],
  [
    'tags',
    async () =>
      (await t.admin()).post(`${base}/generalconfig/addhashtags`, {
        entityType: 'Agent',
        hashtags: ['kiosk'],
        elementIds: [agent.agentId],
      }),
  ],
  [
    'no tags',
    async () =>
      (await t.admin()).post(`${base}/generalconfig/deletehashtags`, { entityType: 'Agent', hashtags: ['kiosk'] }),
  ],
  [
    'a file of tags',
    async () =>
      (await t.admin()).post(`${base}/generalconfig/importtags`, csv('Type,Identifier,Tags\r\nTag,,from a file'), {
        'content-type': 'multipart/form-data; boundary=x',
      }),
  ],
  [
    'an armed host',
    async () =>
      (await t.admin()).post(`${base}/agents/configuration`, [
        { uuid: agent.agentId, agentConfigViewResource: { isSystemArmed: 'ARM' } },
      ]),
  ],
  ['no commands', async () => (await t.admin()).post(`${base}/agents/deleteAgentsCommands`, [agent.agentId])],
]

describe('conflicting transactions', () => {
  it.each(orders)('do not make a change by a person fail: %s', async (_what, order) => {
    await t.admin()
    await conflicts(2)
    const answer = await order()
    expect(answer.statusCode, answer.body).toBe(200)
  })

  it('are reported after the third attempt, and nothing is changed', async () => {
    await t.admin()
    await conflicts(3)
    const before = await pageOf(t, 'policy/rules?PageSize=1')
    const answer = await (await t.admin()).post(`${base}/policy/rules`, {
      effect: 'deny',
      vid: '0781',
      reason: 'not ours',
    })
    expect(answer.statusCode).toBe(503)
    expect((await pageOf(t, 'policy/rules?PageSize=1')).recordsTotal).toBe(before.recordsTotal)
  })

  it('do not fail a job', async () => {
    const answer = await (await t.admin()).post(`${base}/agents/bulk`, {
      action: 'collectLogs',
      uuids: [agent.agentId],
    })
    expect(answer.statusCode, answer.body).toBe(200)
    await conflicts(2)
    await t.server.jobs.drain()
    expect((await agent.checkIn()).commands).toHaveLength(1)
  })
})

describe('a committed change of rules', () => {
  it('returns no error when decisions have to wait', async () => {
    const { db } = t.server
    await db.execute(sql`
      create function nothing_goes() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = '57014'; end $$`)
    await db.execute(sql`
      create trigger nothing_goes before delete on policy_queue for each row execute function nothing_goes()`)
    const answer = await (await t.admin()).post(`${base}/policy/rules`, {
      effect: 'deny',
      vid: '046D',
      pid: 'C077',
      reason: 'no mice',
    })
    expect(answer.statusCode, answer.body).toBe(200)
    await db.execute(sql`drop trigger nothing_goes on policy_queue`)
    await t.server.policy.drain()
    expect((await agent.peripherals())[0]).toMatchObject({ decision: 'block' })
  })
})

it('does what follows a commit after it, and not after a rollback', async () => {
  const { db } = t.server
  const ran: string[] = []
  const run = (name: string, end: () => Promise<unknown>) =>
    db.transaction((tx) => {
      tx.onCommit(() => ran.push(name))
      return end()
    })
  await run('committed', async () => expect(ran).toEqual([]))
  await run('undone', async () => new Rollback('preview'))
  await expect(run('failed', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(ran).toEqual(['committed'])
})
