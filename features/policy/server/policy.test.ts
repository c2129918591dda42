// Invariant: A rule that this server did not seal has no effect.

import { plainKeyboard, plainMouse, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Peripheral, PolicyChange, PolicyPayload, PolicyRuleInput, SignedText } from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const admin = () => t.admin()
// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the contract by the app itself
const ok = <T = any>(answer: { statusCode: number; body: string; json(): unknown }): T => {
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json() as T
}
const addRule = async (rule: Partial<PolicyRuleInput>): Promise<PolicyChange> =>
  ok(await (await admin()).post(`${base}/policy/rules`, { effect: 'allow', reason: 'test', ...rule }))
const byPort = async (agent: TestAgent): Promise<Record<string, Peripheral>> =>
  Object.fromEntries((await agent.peripherals()).map((p) => [p.hierarchy, p]))
const noRules = async () => ok(await (await admin()).post(`${base}/policy/restore`, { version: 0 }))

const stick = (portPath = '1-1', serial = 'S1') => storageStick({ portPath, serial })
const armed = { enforcement: { mode: 'Armed' as const, policyVersion: 1, reason: '' } }

describe('decisions', () => {
  it('are also made for Free hosts, and change no severity before the first policy', async () => {
    const agent = await enrolAgent(t, { devices: [stick(), plainKeyboard({ portPath: '1-2' })] })
    const devices = await byPort(agent)
    expect(devices['1-1']).toMatchObject({
      decision: 'block',
      rule: 'default',
      approved: true,
      isUnapprovedPeripherals: false,
      severity: 10,
    })
    expect(devices['1-1']?.decisionReason).toMatch(/Free.*Once armed, it blocks this device because no rule allows it/)
    expect(await agent.detail()).toMatchObject({ operationalStatus: 'Free', notApproved: 0, severity: 10 })
  })

  it('follow rule changes at COMMIT, for attached and detached devices, by precedence', async () => {
    const agent = await enrolAgent(t, { devices: [stick(), plainKeyboard({ portPath: '1-2' })] })
    const { rule } = await addRule({ vid: '0781', host: agent.agentId, reason: 'audio desk' })
    let devices = await byPort(agent)
    expect(devices['1-1']).toMatchObject({ decision: 'allow', rule: rule?.id, adminStatus: 'WLA' })
    expect(devices['1-1']?.decisionReason).toContain('audio desk')
    // An allowlist now applies, so a device that no rule allows is not on it.
    expect(devices['1-2']).toMatchObject({ decision: 'block', isUnapprovedPeripherals: true, severity: 20 })
    expect(await agent.detail()).toMatchObject({
      notApproved: 1,
      approvedAndPresent: 1,
      hasUnapprovedPeripherals: true,
      severity: 20,
      containsVulnerablePeripheralOrWLV: 'WLV',
    })
    const deny = await addRule({ effect: 'deny', kinds: ['Mass Storage'], reason: 'no sticks' })
    expect(deny.warnings.map((w) => w.code)).toContain('wide')
    devices = await byPort(agent)
    expect(devices['1-1']).toMatchObject({ decision: 'block', rule: deny.rule?.id, adminStatus: 'BLM' })
    ok(await (await admin()).delete(`${base}/policy/rules/${deny.rule?.id}`))
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'allow' })
    await noRules()
    expect(await agent.detail()).toMatchObject({ notApproved: 0, severity: 10 })
  })

  it('change with tags', async () => {
    const agent = await enrolAgent(t, { devices: [stick()] })
    const a = await admin()
    ok(await a.post(`${base}/generalconfig/addhashtags`, { hashtags: ['kiosk'], entityType: 'Agent' }))
    await addRule({ vid: '0781', tag: 'Kiosk' })
    expect((await byPort(agent))['1-1']?.decision).toBe('block')
    ok(
      await a.post(`${base}/generalconfig/addhashtags`, {
        hashtags: ['kiosk'],
        elementIds: [agent.agentId],
        entityType: 'Agent',
      }),
    )
    await t.server.policy.drain()
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'allow' })
    ok(
      await a.post(`${base}/generalconfig/deletehashtags`, { hashtags: ['kiosk'], elementIds: null, entityType: null }),
    )
    await t.server.policy.drain()
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'block' })
    const rules = ok<{ data: { state: string }[] }>(await a.get(`${base}/policy/rules?state=Tag deleted`))
    expect(rules.data).toHaveLength(1)
    const again = await a.post(`${base}/policy/rules`, { effect: 'allow', vid: '0781', tag: 'kiosk', reason: 'x' })
    expect(again.statusCode).toBe(400)
    expect(again.json().detail).toContain('tag kiosk does not exist')
    await noRules()
  })

  it('change when a grant expires', async () => {
    const agent = await enrolAgent(t, { devices: [stick()] })
    const until = new Date(t.clock.now() + 3_600_000).toISOString()
    const grant = ok<PolicyChange>(
      await (await admin()).post(`${base}/policy/grants`, {
        vid: '0781',
        host: agent.agentId,
        expiresAt: until,
        reason: 'for an hour',
      }),
    )
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'allow', rule: grant.rule?.id })
    t.clock.advance(3_599_999)
    expect(await t.server.policy.endOver()).toBe(0)
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'allow' })
    t.clock.advance(1)
    expect(await t.server.policy.endOver()).toBe(1)
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'block', rule: 'default' })
    await noRules()
  })

  it('never come from a row that was written directly into the database', async () => {
    const agent = await enrolAgent(t, { devices: [stick()] })
    await addRule({ vid: '0999', host: agent.agentId })
    await t.server.db.execute(sql`
      insert into policy_rules (rule_id, effect, is_grant, vid, agent_id, reason, override_attack_tool, origin, created_at, created_by, changed_at, changed_by, seal)
      select gen_random_uuid(), effect, is_grant, '0781', agent_id, reason, override_attack_tool, origin, created_at, created_by, changed_at, changed_by, seal
      from policy_rules where vid = '0999'`)
    await agent.plug(plainMouse({ portPath: '1-9' }))
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'block' })
    expect(await t.server.policy.checkSeals()).toHaveLength(1)
    const shown = ok<{ data: { state: string; vid: string }[] }>(
      await (await admin()).get(`${base}/policy/rules?state=Not authentic`),
    )
    expect(shown.data.map((r) => r.vid)).toEqual(['0781'])
    await t.server.db.execute(sql`delete from policy_rules`)
  })
})

describe('rules', () => {
  it('are refused if they match every device or contradict themselves', async () => {
    const a = await admin()
    const bad: [object, RegExp][] = [
      [{}, /matches every device/],
      [{ pid: '0001' }, /pid: requires vid|matches every device/],
      [{ vid: '0781', serial: 'x' }, /serial: requires vid and pid/],
      [{ vid: '0781', host: 'nobody' }, /host: is not the uuid/],
      [{ vid: '0781', host: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f' }, /no agent has this uuid/],
      [{ vid: '0781', expiresAt: '2001-01-01T00:00:00Z' }, /is in the past/],
      [{ vid: '0781', tag: 'nowhere' }, /tag nowhere does not exist/],
      [{ vid: '0781', effect: 'deny', overrideAttackTool: true }, /is valid only for an allow/],
    ]
    for (const [rule, message] of bad) {
      const answer = await a.post(`${base}/policy/rules`, { effect: 'allow', reason: 'x', ...rule })
      expect(answer.statusCode, JSON.stringify(rule)).toBe(400)
      expect(answer.json().detail).toMatch(message)
    }
  })

  it('keep their history and can be restored to any version', async () => {
    await noRules()
    const first = await addRule({ vid: '1111' })
    const second = await addRule({ vid: '2222' })
    const a = await admin()
    ok(await a.put(`${base}/policy/rules/${first.rule?.id}`, { effect: 'deny', vid: '1111', reason: 'no more' }))
    const dry = ok(await a.post(`${base}/policy/restore`, { version: second.version, dryRun: true }))
    expect(dry).toMatchObject({ added: 0, changed: 1, deleted: 0 })
    ok(await a.post(`${base}/policy/restore`, { version: second.version }))
    const rules = ok<{ data: { vid: string; effect: string }[] }>(await a.get(`${base}/policy/rules?SortBy=vid`))
    expect(rules.data.map((r) => [r.vid, r.effect])).toEqual([
      ['1111', 'allow'],
      ['2222', 'allow'],
    ])
    const history = ok<{ data: { summary: string; changes: { before: unknown; after: unknown }[] }[] }>(
      await a.get(`${base}/policy/history`),
    )
    expect(history.data[0]?.summary).toBe(`Restored version ${second.version}`)
    expect(history.data[1]?.changes[0]).toMatchObject({ before: { effect: 'allow' }, after: { effect: 'deny' } })
    await noRules()
  })

  it('name the blocked devices that work again after a restore, and keep its reason', async () => {
    await noRules()
    const host = await enrolAgent(t, { devices: [stick()] })
    await host.checkIn(armed)
    const allow = await addRule({ vid: '0781', host: host.agentId })
    const a = await admin()
    ok(await a.delete(`${base}/policy/rules/${allow.rule?.id}?reason=not%20needed`))
    const dry = ok(await a.post(`${base}/policy/restore`, { version: allow.version, dryRun: true }))
    expect(dry).toMatchObject({ added: 1, newlyAllowed: 1, worksAgain: { agents: 1, peripherals: 1, attackTools: 0 } })
    const done = ok(await a.post(`${base}/policy/restore`, { version: allow.version, reason: 'deleted by mistake' }))
    expect(done.worksAgain).toBe(null)
    const trail = ok<{ data: { action: string; details: string }[] }>(
      await a.get(`${base}/events/GetAuditsIntegration?PageSize=2`),
    )
    expect(trail.data[0]).toMatchObject({
      action: 'policy.restored',
      details: expect.stringContaining('reason: deleted by mistake'),
    })
    expect(trail.data[1]).toMatchObject({
      action: 'policy.rule.deleted',
      details: expect.stringContaining('reason: not needed'),
    })
    await noRules()
  })

  it('are not restored from forged history, and grants not beyond the current maximum duration', async () => {
    await noRules()
    const a = await admin()
    const tool = await addRule({ vid: '2222' })
    const gone = ok<PolicyChange>(await a.delete(`${base}/policy/rules/${tool.rule?.id}`))
    const forge = (from: string, to: string) =>
      t.db.execute(
        sql`update policy_changes set before = jsonb_set(before, '{vid}', to_jsonb(${to}::text)) where version = ${gone.version} and before ->> 'vid' = ${from}`,
      )
    await forge('2222', '03EB')
    const forged = await a.post(`${base}/policy/restore`, { version: gone.version - 1 })
    expect([forged.statusCode, forged.json().detail]).toEqual([
      409,
      expect.stringContaining('its history was not written by this server'),
    ])
    await forge('03EB', '2222')
    const { settings } = ok(await a.get(`${base}/policy`))
    const end = (hours: number) => new Date(t.clock.now() + hours * 3_600_000).toISOString()
    const grant = ok<PolicyChange>(
      await a.post(`${base}/policy/grants`, { vid: '0781', reason: 'week', expiresAt: end(167) }),
    )
    ok(await a.delete(`${base}/policy/grants/${grant.rule?.id}`))
    ok(await a.put(`${base}/policy/settings`, { ...settings, grantMaxHours: 1 }))
    ok(await a.post(`${base}/policy/restore`, { version: grant.version }))
    const { data } = ok<{ data: { expiresAt: string }[] }>(await a.get(`${base}/policy/grants`))
    expect(data.map((one) => one.expiresAt)).toEqual([end(1)])
    ok(await a.put(`${base}/policy/settings`, settings))
    await noRules()
  })

  it('have readable reasons, in any script, on any host', async () => {
    const a = await admin()
    for (const reason of ['\u202egnp', 'a\u001b[31m', '\u200b'])
      expect((await a.post(`${base}/policy/rules`, { effect: 'deny', vid: '0999', reason })).statusCode).toBe(400)
    const agent = await enrolAgent(t)
    const { rule } = await addRule({ effect: 'deny', vid: '0999', reason: '\u{1f600}'.repeat(200) })
    const answer = await agentPost(t, '/agent/v1/policy', { nonce: 'n'.repeat(32) }, agent.state.session)
    expect(JSON.parse((JSON.parse(answer.text) as SignedText).payload).rules).toContainEqual(
      expect.objectContaining({ id: rule?.id, reason: '\u{1f600}'.repeat(200) }),
    )
    const serial = await addRule({ effect: 'deny', vid: '0999', pid: '0001', serial: ' cafe\u0301\u0007 ' })
    expect(serial.rule?.serial).toBe('cafe%u0301%07')
    await noRules()
  })

  it('can be previewed before they are saved', async () => {
    const agent = await enrolAgent(t, { devices: [stick(), rubberDucky({ portPath: '1-5' })] })
    const preview = ok<{
      peripherals: number
      allowed: number
      effects: { uuid: string }[]
      warnings: { code: string }[]
    }>(
      await (await admin()).post(`${base}/policy/preview`, {
        add: [
          { effect: 'allow', vid: '0781', host: agent.agentId, reason: 'x' },
          { effect: 'allow', kinds: ['Keyboard'], host: agent.agentId, reason: 'x' },
        ],
      }),
    )
    expect(preview).toMatchObject({ agents: 1, peripherals: 1, allowed: 1, blocked: 0, matching: { peripherals: 2 } })
    expect(preview.effects).toMatchObject([{ uuid: agent.agentId, before: 'block', after: 'allow' }])
    expect(preview.warnings.map((w) => w.code)).toContain('allows-attack-tool')
    expect((await byPort(agent))['1-1']?.decision).toBe('block')
  })

  it('are previewed with the number of armed hosts', async () => {
    const agents = [await enrolAgent(t, { devices: [stick()] }), await enrolAgent(t, { devices: [stick()] })]
    const preview = async (effect: 'allow' | 'deny') =>
      ok(
        await (await admin()).post(`${base}/policy/preview`, {
          add: agents.map(({ agentId }) => ({ effect, vid: '0781', host: agentId, reason: 'x' })),
        }),
      )
    expect(await preview('deny')).toMatchObject({ agents: 0, matching: { agents: 2, armedAgents: 0 } })
    await agents[0]?.checkIn(armed)
    expect(await preview('deny')).toMatchObject({ agents: 0, matching: { agents: 2, armedAgents: 1 } })
    expect(await preview('allow')).toMatchObject({ agents: 2, armedAgents: 1 })
  })

  it('can be changed by Managers only', async () => {
    const user = await person(t, { profile: 30 })
    expect(
      (await user.api.post(`${base}/policy/rules`, { effect: 'allow', vid: '0781', reason: 'x' })).statusCode,
    ).toBe(403)
    expect((await user.api.get(`${base}/policy/rules`)).statusCode).toBe(200)
  })
})

describe('approving', () => {
  const command = async (opCode: string, item: object, more: object = {}) =>
    (await admin()).post(`${base}/peripherals/command`, { opCode, peripheralsIds: [item], ...more })

  it('allows a device of a host, and a later denial revokes it', async () => {
    const agent = await enrolAgent(t, { devices: [stick()] })
    const one = {
      uuid: null,
      hostIdentifier: agent.facts.hostname.toUpperCase(),
      ipAddress: null,
      vid: '0781',
      pid: '5581',
    }
    expect(ok(await command('approve', one))).toEqual([agent.agentId])
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'allow', adminStatus: 'WLM' })
    expect(ok(await command('DISAPPROVE', one))).toEqual([agent.agentId])
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'block', adminStatus: 'BLM' })
    const rules = ok<{ recordsTotal: number }>(await (await admin()).get(`${base}/policy/rules?host=${agent.agentId}`))
    expect(rules).toMatchObject({ recordsFiltered: 1 })
  })

  it('denies again after an earlier deny expired', async () => {
    await noRules()
    const agent = await enrolAgent(t, { devices: [stick()] })
    const ids = { uuid: agent.agentId, vid: '0781', pid: '5581' }
    const deny = async () => ok(await command('DISAPPROVE', ids))
    await deny()
    const [rule] = ok<{ data: { id: string }[] }>(await (await admin()).get(`${base}/policy/rules`)).data
    const expiresAt = new Date(t.clock.now() + 3_600_000).toISOString()
    const until = { effect: 'deny', vid: '0781', pid: '5581', host: agent.agentId, reason: 'tonight', expiresAt }
    ok(await (await admin()).put(`${base}/policy/rules/${rule?.id}`, until))
    t.clock.advance(3_600_001)
    await t.server.policy.endOver()
    await addRule({ vid: '0781' })
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'allow' })
    await deny()
    expect((await byPort(agent))['1-1']).toMatchObject({ decision: 'block' })
    await noRules()
  })

  it('a device without a serial number does not approve devices with one', async () => {
    const { serial: _, ...bare } = stick()
    const agent = await enrolAgent(t, { devices: [bare, stick('1-2', 'OTHER')] })
    ok(await command('APPROVE', { uuid: agent.agentId, vid: '0781', pid: '5581', serialNumber: '' }))
    const devices = await byPort(agent)
    expect([devices['1-1']?.decision, devices['1-2']?.decision]).toEqual(['allow', 'block'])
    await noRules()
  })

  it('an attack tool requires an override and a reason by an Administrator', async () => {
    const agent = await enrolAgent(t, { devices: [rubberDucky({ portPath: '1-5' })] })
    const [duck] = await agent.peripherals()
    const item = { uuid: agent.agentId, vid: duck?.vid, pid: duck?.pid }
    const refused = await command('APPROVE', item)
    expect(refused.statusCode).toBe(400)
    expect(refused.headers['content-type']).toContain('text/plain')
    expect(refused.body).toContain('known attack tool')
    const manager = await person(t, { profile: 20 })
    const body = { opCode: 'APPROVE', peripheralsIds: [item], overrideAttackTool: true, reason: 'red team exercise' }
    expect((await manager.api.post(`${base}/peripherals/command`, body)).statusCode).toBe(403)
    expect(ok(await (await admin()).post(`${base}/peripherals/command`, body))).toEqual([agent.agentId])
    expect((await byPort(agent))['1-5']).toMatchObject({ decision: 'allow' })
    const trail = ok<{ data: { action: string; details: string }[] }>(
      await (await admin()).get(`${base}/events/GetAuditsIntegration?PageSize=5`),
    )
    expect(trail.data[0]).toMatchObject({ action: 'peripheral.attackToolApproved' })
    expect(trail.data[0]?.details).toContain('red team exercise')
  })

  it('an unknown or ambiguous identity, or a device never seen, returns a 400 that names the cause', async () => {
    const twin = `twin-${Math.random()}`
    await enrolAgent(t, { facts: { hostname: twin } })
    const second = await enrolAgent(t, { facts: { hostname: twin } })
    const device = { vid: '0781', pid: '5581' }
    expect((await command('APPROVE', { hostIdentifier: twin, ...device })).body).toContain('2 agents match')
    expect((await command('APPROVE', { hostIdentifier: 'nobody', ...device })).body).toContain('no agent matches')
    expect((await command('APPROVE', { uuid: second.agentId, ...device })).body).toContain('has never been seen')
    expect((await command('APPROVE', device)).body).toContain('identifies no agent')
    expect((await command('MAYBE', { uuid: second.agentId, ...device })).body).toContain('APPROVE, DISAPPROVE')
  })
})

describe('an armed host', () => {
  it('is notified of changed rules and fetches a policy signed for it and its nonce', async () => {
    const agent = await enrolAgent(t, { devices: [stick()] })
    await agent.checkIn(armed)
    expect(await agent.detail()).toMatchObject({ operationalStatus: 'Armed', notApproved: 1 })
    expect((await agent.events()).at(-1)).toMatchObject({ description: 'Host armed' })
    const { rule } = await addRule({ vid: '0781', host: agent.agentId })
    expect(await agent.checkIn()).toMatchObject({ needPolicy: true })
    const nonce = 'n'.repeat(24)
    const answer = await agentPost(t, '/agent/v1/policy', { nonce }, agent.state.session)
    expect(answer.status, answer.text).toBe(200)
    const { payload } = JSON.parse(answer.text) as SignedText
    const policy = JSON.parse(payload) as PolicyPayload
    expect(policy).toMatchObject({
      agentId: agent.agentId,
      nonce,
      rules: [{ id: rule?.id, level: 'host', vid: '0781' }],
    })
    expect(await agent.checkIn()).not.toHaveProperty('needPolicy')
    const knowledge = await fetch(`${t.address}/agent/v1/knowledge/${policy.knowledgeHash}`, {
      headers: { authorization: `Bearer ${agent.state.session}` },
    })
    expect(Object.keys((await knowledge.json()) as object)).toEqual(['attackTools', 'genuine'])
    expect((await agentPost(t, '/agent/v1/policy', { nonce }, 'x.y.z')).status).toBe(401)
  })

  it('shows a blocked device with a case number and as waiting for approval', async () => {
    await noRules()
    const agent = await enrolAgent(t)
    await agent.checkIn(armed)
    const enforced = { effect: 'block' as const, source: 'default' as const, ruleId: null, policyVersion: 7 }
    await agent.plug({ ...stick(), authorized: false, enforced })
    const device = (await byPort(agent))['1-1']
    expect(device).toMatchObject({ status: 'Blocked', enforcedVersion: 7, guard: '' })
    expect(device?.caseNumber).toMatch(/^PC-[0-9A-Z]{6}$/)
    expect((await agent.events()).map((e) => e.eventCode).slice(-2)).toEqual(['0x110001', '0x110011'])
    const waiting = ok<{ data: { vid: string; devices: { caseNumber: string }[] }[] }>(
      await (await admin()).get(`${base}/policy/approvals?PageSize=1000`),
    )
    const row = waiting.data.find((r) => r.devices.some((d) => d.caseNumber === device?.caseNumber))
    expect(row).toMatchObject({ vid: '0781', devIconDescription: 'Mass Storage' })
    // The host returned to Free without a command.
    await agent.checkIn({ enforcement: { mode: 'Free', policyVersion: 7, reason: 'No contact after arming.' } })
    expect(await agent.detail()).toMatchObject({ operationalStatus: 'Free' })
    expect((await agent.events()).at(-1)).toMatchObject({ description: 'Host reverted to Free' })
  })

  it('lists attack tools first among devices that wait for approval, however few hosts have one', async () => {
    await noRules()
    const enforced = { effect: 'block' as const, source: 'default' as const, ruleId: null, policyVersion: 7 }
    for (const device of [stick(), stick(), stick(), rubberDucky({ portPath: '1-1' })]) {
      const agent = await enrolAgent(t)
      await agent.checkIn(armed)
      await agent.plug({ ...device, authorized: false, enforced })
    }
    const { data } = ok<{ data: { isKnownAttackTool: boolean }[] }>(
      await (await admin()).get(`${base}/policy/approvals?PageSize=1000`),
    )
    const tools = data.map((row) => row.isKnownAttackTool)
    expect(tools.filter((isTool) => isTool).length).toBeGreaterThan(0)
    expect(tools).toEqual(tools.toSorted((a, b) => Number(b) - Number(a)))
  })

  it('is simulated by getPolicyTest only if it can block devices', async () => {
    const foreseen = async () => ok(await (await admin()).get(`${base}/agents/getPolicyTest`))
    const before = await foreseen()
    const agent = await enrolAgent(t, { facts: { enforcement: 'observe' }, devices: [stick()] })
    expect((await foreseen()).agents).toBe(before.agents)
    const own = ok(await (await admin()).get(`${base}/agents/getPolicyTest?hostUuid=${agent.agentId}`))
    expect(own).toMatchObject({ agents: 1, peripherals: 1 })
  })

  it('behaves as getPolicyTest predicts, for the rules in force and for a draft', async () => {
    await noRules()
    const agent = await enrolAgent(t, { devices: [plainKeyboard({ portPath: '1-2' })] })
    for (let i = 0; i < 3; i++) {
      await agent.plug(stick())
      await agent.unplug('1-1')
    }
    const a = await admin()
    const test = ok<{ data: { vid: string; decision: string; attachments: number; rule: string }[] }>(
      await a.get(`${base}/agents/getPolicyTest?hostUuid=${agent.agentId}&days=7`),
    )
    expect(test).toMatchObject({
      agents: 1,
      peripherals: 2,
      attachments: 3,
      blocked: { agents: 1, peripherals: 2, attachments: 3 },
      recordsTotal: 2,
    })
    expect(test.data[0]).toMatchObject({ vid: '0781', decision: 'block', attachments: 3, rule: 'default' })
    const activity = ok(await a.get(`${base}/policy/activity?days=3`))
    expect(activity.data).toHaveLength(3)
    expect(activity.data[0]).toMatchObject({ attachments: 0, blocked: 0 })
    expect(activity.data[2].attachments).toBeGreaterThanOrEqual(3)
    await agent.plug(rubberDucky({ portPath: '1-5' }))
    const withTool = ok(await a.get(`${base}/agents/getPolicyTest?hostUuid=${agent.agentId}&days=7`))
    expect(withTool.data[0]).toMatchObject({ vid: '03EB', isKnownAttackTool: true, attachments: 1 })
    const draft = { add: [{ effect: 'allow', vid: '0781', reason: 'x', host: agent.agentId }] }
    const all = ok(await a.post(`${base}/policy/test`, { draft: {}, days: 7 }))
    const drafted = ok(await a.post(`${base}/policy/test`, { draft, days: 7 }))
    expect(all.blocked.attachments - drafted.blocked.attachments).toBe(3)
  })
})

describe('GET policy', () => {
  it('explains why no second approver is needed, and stores its settings', async () => {
    const a = await admin()
    expect(ok(await a.get(`${base}/policy`))).toMatchObject({ settings: { twoPersonHosts: 100, contact: '' } })
    const settings = { twoPersonHosts: null, grantMaxHours: 24, commandHours: 48, contact: 'desk 4711' }
    expect(ok(await a.put(`${base}/policy/settings`, settings))).toEqual(settings)
    expect(ok(await a.get(`${base}/policy`))).toMatchObject({ settings, twoPerson: { active: false } })
  })
})

it('the sentence of a rule names the scope first, and no missing reason', async () => {
  const fingerprint = '0123456789abcdef0123456789abcdef'
  const sentenceOf = async (rule: Partial<PolicyRuleInput>) => (await addRule(rule)).rule?.sentence
  expect(await sentenceOf({ vid: 'FFF1', pid: '0001', serial: '', fingerprint })).toBe(
    'Allow FFF1:0001 on all hosts, without a serial number, fingerprint 01234567…: test',
  )
  expect(await sentenceOf({ fingerprint })).toBe('Allow fingerprint 01234567… on all hosts: test')
  expect(await sentenceOf({ effect: 'deny', vid: 'FFF2', reason: '' })).toBe('Deny all of FFF2 on all hosts')
})
