import { storageStick } from '@portcullis/domain/testing'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyRuleInput } from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp
let agent: TestAgent

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agent = await enrolAgent(t, { devices: [storageStick({ portPath: '1-1', serial: 'S1' })] })
})
afterAll(() => t.close())
beforeEach(() => t.server.db.execute(sql`delete from policy_rules`))

const add = async (rule: Partial<PolicyRuleInput>): Promise<void> => {
  const answer = await (await t.admin()).post(`${base}/policy/rules`, { effect: 'allow', reason: 'test', ...rule })
  expect(answer.statusCode, answer.body).toBe(200)
}
const notAuthentic = () => t.server.policy.checkSeals()
const decision = async (): Promise<string | undefined> =>
  (await agent.peripherals()).find((p) => p.hierarchy === '1-1')?.decision
const tamper = (assignment: string) => t.server.db.execute(sql`update policy_rules set ${raw(assignment)}`)

const rules = {
  precise: (): Partial<PolicyRuleInput> => ({
    ...{ vid: '0781', pid: '5581', serial: 'S1', host: agent.agentId },
    ...{ expiresAt: '2031-12-01T00:00:00Z', reason: 'audio desk' },
  }),
  wide: (): Partial<PolicyRuleInput> => ({ kinds: ['Mass Storage'], reason: 'all sticks' }),
}

describe('a rule whose row was changed in the database decides nothing', () => {
  it.each<[column: string, rule: keyof typeof rules, assignment: string]>([
    ['rule_id', 'precise', "rule_id = '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'"],
    ['effect', 'wide', "effect = 'deny'"],
    ['is_grant', 'precise', 'is_grant = not is_grant'],
    ['vid', 'precise', "vid = '0782'"],
    ['pid', 'precise', 'pid = null'],
    ['serial', 'precise', 'serial = null'],
    ['kinds', 'wide', "kinds = array['Mass Storage', 'Keyboard']"],
    ['fingerprint', 'wide', "fingerprint = repeat('a', 32)"],
    ['agent_id', 'precise', 'agent_id = null'],
    ['tag_name', 'wide', "tag_name = 'elsewhere'"],
    ['expires_at', 'precise', 'expires_at = null'],
    ['expires_at by a millisecond', 'precise', "expires_at = expires_at + interval '1 millisecond'"],
    ['reason', 'precise', "reason = 'another reason'"],
    ['override_attack_tool', 'wide', 'override_attack_tool = true'],
    ['origin', 'wide', "origin = 'approval'"],
    ['seal', 'wide', "seal = '\\x00'"],
  ])('%s', async (_column, name, assignment) => {
    await add(rules[name]())
    expect([await notAuthentic(), await decision()]).toEqual([[], 'allow'])
    await tamper(assignment)
    expect(await notAuthentic()).toHaveLength(1)
    // Another rule makes the server reload all rules. It evaluates a later report without the forged rule.
    await add({ vid: '0999' })
    await agent.plug(storageStick({ portPath: '1-2', serial: 'S2' }))
    await agent.unplug('1-2')
    expect(await decision()).toBe('block')
  })

  it('but the seal does not cover bookkeeping data of the rule', async () => {
    await add({ vid: '0781' })
    await tamper("changed_by = 'somebody', created_by = 'somebody', is_over = false")
    expect([await notAuthentic(), await decision()]).toEqual([[], 'allow'])
  })
})
