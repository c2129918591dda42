import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { storageStick } from '@portcullis/domain/testing'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { codeCache } from '@portcullis/server/test/code-cache.ts'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { PolicyPayload } from '#features/contract.ts'

const base = '/prime/webui'
const cli = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))
const connection = inject('postgres')
let t: TestApp
let agent: TestAgent
/** Ids of a deny for all hosts, an allow for the host, and a deny for a vendor. */
let ids: string[]

const add = async (change: object): Promise<string> => {
  const answer = await (await t.admin()).post(`${base}/policy/rules`, { reason: 'test', ...change })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().rule.id
}

beforeEach(async () => {
  t = await startTestApp({ listen: true })
  agent = await enrolAgent(t, { devices: [storageStick({ portPath: '1-1', serial: 'S1' })] })
  expect(await t.server.policy.integrity.maintain()).toBe('whole')
  ids = [
    await add({ effect: 'deny', vid: '1B4F' }),
    await add({ effect: 'allow', vid: '0781', pid: '5581', host: agent.agentId }),
    await add({ effect: 'deny', vid: '0999' }),
  ]
})
afterEach(() => t.close())

const fetchPolicy = async () => {
  // Checks are shared for a second.
  t.clock.advance(60_000)
  await agent.session()
  const { status, text } = await agentPost(t, '/agent/v1/policy', { nonce: 'n'.repeat(24) }, agent.state.session)
  const body = JSON.parse(text) as { code?: string; payload?: string }
  return status === 200 ? (JSON.parse(body.payload ?? '') as PolicyPayload).rules.length : [status, body.code]
}
const tamper = (statement: string) => t.db.execute(sql`${raw(statement)}`)
const health = async () => {
  t.clock.advance(60_000)
  const items = (await (await t.admin()).get(`${base}/admin/SubsystemHealth`)).json()
  return items.find(({ name }: { name: string }) => name === 'policy rules')
}
const command = async (...args: string[]): Promise<string> => {
  const url = `postgres://${connection.user}@/${t.database}?host=${encodeURIComponent(connection.host)}&port=${connection.port}`
  const env = {
    ...codeCache,
    ...{ PATH: process.env.PATH ?? '', HOME: t.keyDir, PORTCULLIS_DATA_DIR: t.keyDir, PORTCULLIS_PORT: '0' },
    ...{ PORTCULLIS_KEY_FILE: join(t.keyDir, 'key'), DATABASE_URL: url },
  }
  // The doctor ends with 1 if it finds something.
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { env }).catch(
    (fault: { stdout: string; stderr: string }) => ({ stdout: `${fault.stdout}${fault.stderr}` }),
  )
  return stdout
}

describe('a set of rules that was changed in the database', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a deleted rule', () => tamper(`delete from policy_rules where rule_id = '${ids[0]}'`)],
    [
      'a deleted rule that the API had deleted, inserted again with its seal',
      async () => {
        await tamper('create table kept as select * from policy_rules')
        await (await t.admin()).delete(`${base}/policy/rules/${ids[1]}`)
        await tamper(`insert into policy_rules select * from kept where rule_id = '${ids[1]}'`)
      },
    ],
    [
      'an earlier state of a rule',
      async () => {
        await tamper('create table kept as select * from policy_rules')
        await (await t.admin()).put(`${base}/policy/rules/${ids[1]}`, {
          ...{ effect: 'deny', vid: '0781', pid: '5581', host: agent.agentId, reason: 'changed' },
        })
        await tamper(`delete from policy_rules where rule_id = '${ids[1]}'`)
        await tamper(`insert into policy_rules select * from kept where rule_id = '${ids[1]}'`)
      },
    ],
    ['a deny with another reason', () => tamper(`update policy_rules set reason = 'zz' where rule_id = '${ids[0]}'`)],
    [
      'a deny for all hosts that was moved to one',
      () => tamper(`update policy_rules set agent_id = '${agent.agentId}' where rule_id = '${ids[0]}'`),
    ],
    ['a seal without effect', () => tamper("update policy_rules set seal = '\\x00'")],
    [
      'a sum that was removed',
      () => tamper('update policy_head set set_seal = null, set_sum = null, set_version = null'),
    ],
    [
      'a sum of an earlier version',
      async () => {
        await tamper('create table kept as select set_version, set_sum, set_seal from policy_head')
        await add({ effect: 'deny', vid: '0998' })
        await tamper(
          'update policy_head h set set_version = k.set_version, set_sum = k.set_sum, set_seal = k.set_seal from kept k',
        )
      },
    ],
  ])('%s: no policy is signed, and health reports it', async (_, attack) => {
    expect(await fetchPolicy()).toBe(3)
    await attack()
    expect(await fetchPolicy()).toEqual([503, 'rules_not_authentic'])
    expect(await health()).toMatchObject({ status: 'Error' })
    // A change by the API does not hide it.
    await add({ effect: 'deny', vid: '0997' })
    expect(await t.server.policy.integrity.maintain()).toBe('broken')
    expect(await fetchPolicy()).toEqual([503, 'rules_not_authentic'])
  })

  it('a change within the second that a check is shared reaches no host', async () => {
    expect(await fetchPolicy()).toBe(3)
    await tamper(`update policy_rules set reason = 'zz' where rule_id = '${ids[0]}'`)
    // The next version makes the server read the rules again.
    await add({ effect: 'deny', vid: '0998' })
    const answer = await agentPost(t, '/agent/v1/policy', { nonce: 'm'.repeat(24) }, agent.state.session)
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([503, 'rules_not_authentic'])
  })

  it('a deny that is marked as ended stays in force', async () => {
    await tamper('update policy_rules set is_over = true')
    await add({ effect: 'deny', vid: '0998' })
    expect(await fetchPolicy()).toBe(4)
    await agent.plug(storageStick({ portPath: '1-2', serial: 'S2', vid: '1B4F' }))
    expect((await agent.peripherals()).find((p) => p.hierarchy === '1-2')?.decision).toBe('block')
    const { data } = (await (await t.admin()).get(`${base}/policy/rules?state=In force`)).json()
    expect(data).toHaveLength(4)
  })

  it('a rule that never had a valid seal has no effect, and is named as a warning', async () => {
    await tamper(`
      insert into policy_rules (rule_id, effect, is_grant, vid, agent_id, reason, override_attack_tool, origin, created_at, created_by, changed_at, changed_by, seal)
      select gen_random_uuid(), 'allow', is_grant, '0777', agent_id, reason, override_attack_tool, origin, created_at, created_by, changed_at, changed_by, seal
      from policy_rules where rule_id = '${ids[1]}'`)
    expect(await fetchPolicy()).toBe(3)
    expect(await health()).toMatchObject({
      status: 'Warning',
      description: expect.stringMatching(/not authentic: allow 0777/),
    })
    expect(await command('doctor')).toMatch(/warning +policy rules +.*not authentic: allow 0777/)
    const { data } = (await (await t.admin()).get(`${base}/policy/rules`)).json()
    const forged = data.find(({ vid }: { vid: string }) => vid === '0777')
    const deleted = await (await t.admin()).delete(`${base}/policy/rules/${forged.id}`)
    expect(deleted.statusCode, deleted.body).toBe(200)
    expect(await fetchPolicy()).toBe(3)
    // The health page keeps an answer for 20 seconds.
    expect(await t.server.policy.integrity.health()).toMatchObject({ status: 'OK' })
  })

  it('doctor and the command that accepts rules name a rule whose content was changed', async () => {
    await tamper(`update policy_rules set reason = 'zz' where rule_id = '${ids[0]}'`)
    expect(await health()).toMatchObject({ description: expect.stringMatching(/not authentic: deny 1B4F/) })
    expect(await command('doctor')).toMatch(/error +policy rules +changed in the database.*not authentic: deny 1B4F/)
    expect(await t.server.policy.integrity.differences()).toEqual([expect.stringMatching(/^not authentic: deny 1B4F/)])
    // Deleting the rule does not repair the set: the person accepts what is left.
    await (await t.admin()).delete(`${base}/policy/rules/${ids[0]}`)
    expect(await fetchPolicy()).toEqual([503, 'rules_not_authentic'])
    await t.server.policy.integrity.accept(systemActor('command line'))
    expect(await fetchPolicy()).toBe(2)
  })

  it('doctor names the rules, and a person can accept them on record', async () => {
    await tamper(`delete from policy_rules where rule_id = '${ids[0]}'`)
    const found = await command('doctor')
    expect(found).toMatch(/error +policy rules +changed in the database.*missing: .*1B4F/)
    expect(found).toContain('portcullis admin accept-rules')
    // `portcullis admin accept-rules` refuses the database of the tests, because its fsync is off.
    const accepted = await t.server.policy.integrity.accept(systemActor('command line'))
    expect(accepted).toEqual([expect.stringMatching(/^missing: .*1B4F/)])
    expect(await fetchPolicy()).toBe(2)
    const records = await t.db.query(sql`select 1 from audit_records r where r.action = 'policy.rulesSealed'`)
    expect(records).toHaveLength(2)
  })
})

it('a new key file does not seal the rules of the old one, until a person accepts them', async () => {
  const other = await startTestApp({ database: t.database, clock: t.clock })
  try {
    expect(await other.server.policy.integrity.maintain()).toBe('broken')
    await other.server.policy.integrity.accept(systemActor('command line'))
    expect(await other.server.policy.integrity.maintain()).toBe('whole')
  } finally {
    await other.close()
  }
})

describe('every change by the server keeps the set whole', () => {
  it('rules, grants, approvals, expiry, fingerprints, deleted tags and deleted hosts', async () => {
    const admin = await t.admin()
    const whole = async () => {
      t.clock.advance(2_000)
      return t.server.policy.integrity.maintain()
    }
    await admin.put(`${base}/policy/rules/${ids[0]}`, { effect: 'deny', vid: '1B4E', reason: 'changed' })
    expect(await whole()).toBe('whole')
    await admin.delete(`${base}/policy/rules/${ids[2]}`)
    await admin.post(`${base}/policy/restore`, { version: 1, reason: 'test' })
    const expiresAt = new Date(t.clock.now() + 10_000).toISOString()
    await admin.post(`${base}/policy/grants`, { vid: '0781', pid: '5583', host: agent.agentId, reason: 'x', expiresAt })
    await admin.post(`${base}/agents/bulk`, { action: 'approveAll', uuids: [agent.agentId] })
    await admin.post(`${base}/generalconfig/addhashtags`, { hashtags: ['lab'] })
    await add({ effect: 'deny', vid: '0996', tag: 'lab' })
    await admin.post(`${base}/generalconfig/deletehashtags`, { hashtags: ['lab'], elementIds: null })
    await t.jobs.drain()
    expect(await whole()).toBe('whole')
    t.clock.advance(60_000)
    await t.server.policy.endOver()
    await t.server.policy.adoptFingerprints()
    expect(await whole()).toBe('whole')
    expect((await (await t.admin()).post(`${base}/agents/deleteAgents`, [agent.agentId])).statusCode).toBe(200)
    await t.jobs.drain()
    expect(await t.db.query(sql`select 1 from policy_rules r where r.agent_id is not null`)).toEqual([])
    expect(await whole()).toBe('whole')
  })

  it('a server of the previous release changes rules during an upgrade, and the set is sealed afterwards', async () => {
    await tamper("delete from audit_records where action = 'policy.rulesSealed'").catch(() => undefined)
    const other = await startTestApp({ listen: true })
    try {
      await (await other.admin()).post(`${base}/policy/rules`, { effect: 'deny', vid: '1B4F', reason: 'test' })
      // The upgrade has just begun: the rules stay unsealed, and are signed as before.
      expect(await other.server.policy.integrity.maintain()).toBe('unsealed')
      await other.db.execute(sql`delete from policy_rules`)
      const host = await enrolAgent(other)
      expect((await agentPost(other, '/agent/v1/policy', { nonce: 'n'.repeat(24) }, host.state.session)).status).toBe(
        200,
      )
      await other.db.execute(
        sql`update schema_migrations set applied_at = now() - interval '2 hours' where version = 198`,
      )
      other.clock.advance(60_000)
      expect(await other.server.policy.integrity.maintain()).toBe('whole')
    } finally {
      await other.close()
    }
  })
})
