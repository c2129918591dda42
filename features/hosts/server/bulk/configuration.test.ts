import { plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentCommand, AuditRecord, Command } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const url = '/prime/webui/agents/configuration'
const configure = async (body: unknown, headers: Record<string, string> = {}) =>
  (await t.admin()).post(url, body, headers)
const arm = { isSystemArmed: 'ARM' }
const none = { hostIdentifier: null, ipAddress: null }
const commandsOf = async (agent: TestAgent): Promise<Command[]> =>
  (await pageOf<Command>(t, `agents/commands?hostUuid=${agent.agentId}&SortBy=createdAt_asc`)).data
const taken = async (agent: TestAgent): Promise<AgentCommand[]> =>
  ((await agent.checkIn()).commands ?? []).map((c) => JSON.parse(c.payload) as AgentCommand)

describe('POST agents/configuration', () => {
  it('arms and frees by any identity, until the host confirms', async () => {
    const [one, two, three] = await Promise.all([
      enrolAgent(t, { devices: [plainKeyboard()] }),
      enrolAgent(t),
      enrolAgent(t, { facts: { address: '10.99.0.3' } }),
    ])
    const answer = await configure([
      { uuid: one.agentId, ...none, agentConfigViewResource: { isSystemArmed: 'arm', somethingElse: [1] } },
      {
        uuid: null,
        hostIdentifier: two.facts.hostname.toUpperCase(),
        ipAddress: null,
        agentConfigViewResource: { isSystemArmed: 'Free' },
      },
      { uuid: null, hostIdentifier: null, ipAddress: '10.99.0.3', agentConfigViewResource: arm },
    ])
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      [
        [one, 'arm'],
        [two, 'Free'],
        [three, 'ARM'],
      ].map(([agent, word]) => ({
        uuid: (agent as TestAgent).agentId,
        hostIdentifier: (agent as TestAgent).facts.hostname,
        ipAddress: (agent as TestAgent).facts.address,
        agentConfigViewResource: { isSystemArmed: word, isSystemLocked: null, centralizedConsoleIP: null },
      })),
    ])
    expect((await one.detail()).inAction).toBe(true)
    const [command] = await taken(one)
    expect(command).toMatchObject({ kind: 'configure', mode: 'Armed', applyToPresent: false })
    expect(await taken(two)).toMatchObject([{ kind: 'configure', mode: 'Free' }])
    t.clock.advance(5_000)
    await one.checkIn({
      acks: [{ commandId: command?.id ?? '', outcome: 'confirmed', message: '' }],
      enforcement: { mode: 'Armed', policyVersion: 0, reason: '' },
    })
    expect(await one.detail()).toMatchObject({
      operationalStatus: 'Armed',
      inAction: false,
      lastConfiguered: '2031-05-04T10:11:17.000',
    })
    expect((await commandsOf(one))[0]).toMatchObject({
      state: 'confirmed',
      title: 'Arm (Free again without contact for 10 minutes)',
      createdBy: 'admin',
    })
    const audit = (await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=100')).data
    const ordered = audit.filter((row) => row.action === 'command.ordered')
    expect(ordered.map(({ entity }) => entity).toSorted()).toEqual(['2 hosts', `${two.facts.hostname} (10.1.2.3)`])
    const arming = ordered.find(({ entity }) => entity === '2 hosts')?.details
    for (const { agentId } of [one, three]) expect(arming).toContain(agentId)
  })

  it('accepts null instead of an empty list', async () => {
    expect((await configure(null)).json()).toEqual([])
    expect((await configure([])).json()).toEqual([])
  })

  it('approves attached devices, alone or with arming', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    const answer = await configure([{ uuid: agent.agentId, agentConfigViewResource: { approveAll: true } }])
    expect(answer.json()[0].agentConfigViewResource.isSystemArmed).toBe(null)
    expect(await commandsOf(agent)).toEqual([])
    const rules = (await pageOf<{ hostIdentifier: string; vid: string }>(t, `policy/rules?host=${agent.agentId}`)).data
    expect(rules).toMatchObject([{ hostIdentifier: agent.facts.hostname, vid: '413C' }])
    await configure([
      { uuid: agent.agentId, agentConfigViewResource: { ...arm, approveAll: true, applyToPresent: true } },
    ])
    expect(await taken(agent)).toMatchObject([{ mode: 'Armed', applyToPresent: true }])
  })

  it('replaces a waiting mode by a newer one', async () => {
    const agent = await enrolAgent(t)
    await configure([{ uuid: agent.agentId, agentConfigViewResource: arm }])
    t.clock.advance(10)
    await configure([{ uuid: agent.agentId, agentConfigViewResource: { isSystemArmed: 'free' } }])
    expect(await taken(agent)).toMatchObject([{ mode: 'Free' }])
    expect((await commandsOf(agent)).map((c) => [c.title, c.state, c.message])).toEqual([
      ['Arm (Free again without contact for 10 minutes)', 'cancelled', 'Replaced by a newer command.'],
      ['Free', 'delivered', ''],
    ])
  })

  describe('refuses the whole request, with 400 and a plain text, for', () => {
    let good: TestAgent
    let watched: TestAgent
    beforeAll(async () => {
      good = await enrolAgent(t)
      watched = await enrolAgent(t, { facts: { enforcement: 'observe' } })
      await Promise.all([
        enrolAgent(t, { facts: { hostname: 'twin', address: '10.98.0.1' } }),
        enrolAgent(t, { facts: { hostname: 'TWIN', address: '10.98.0.2' } }),
      ])
    })
    const item = (change: Record<string, unknown>) => ({ uuid: good.agentId, agentConfigViewResource: arm, ...change })

    it.each<[string, () => unknown[], RegExp]>([
      ['an unknown uuid', () => [item({ uuid: 'nobody' })], /body\[1\].*no agent/],
      ['an unknown host', () => [item({ uuid: null, hostIdentifier: 'nobody' })], /body\[1\].*no agent/],
      ['a host name of two', () => [item({ uuid: null, hostIdentifier: 'twin' })], /body\[1\].*2 agents match/],
      ['identities that do not agree', () => [item({ ipAddress: '10.98.0.1' })], /body\[1\].*no agent/],
      ['no identity', () => [item({ uuid: null })], /body\[1\].*identifies no agent/],
      ['the same agent twice', () => [item({}), item({ uuid: null, hostIdentifier: good.facts.hostname })], /again/],
      ['an empty item', () => [item({ agentConfigViewResource: {} })], /requests nothing/],
      ['no resource', () => [item({ agentConfigViewResource: null })], /requests nothing/],
      ['another mode', () => [item({ agentConfigViewResource: { isSystemArmed: 'maybe' } })], /ARM or free/],
      ['a host that is only monitored', () => [item({ uuid: watched.agentId })], /is only monitored/],
      ['an unknown key', () => [item({ uuids: [] })], /uuids is unknown/],
    ])('%s', async (_what, items, text) => {
      const first = await enrolAgent(t)
      const answer = await configure([{ uuid: first.agentId, agentConfigViewResource: arm }, ...items()])
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8'])
      expect(answer.body).toMatch(text)
      expect(await commandsOf(first)).toEqual([])
    })

    it('a host without an agent', async () => {
      const polled = await enrolAgent(t)
      await t.db.execute(sql`update agent_rows set agentless = true where agent_id = ${polled.agentId}::uuid`)
      const answer = await configure([{ uuid: polled.agentId, agentConfigViewResource: arm }], {
        accept: 'application/json',
      })
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'validation_failed'])
      expect(answer.json().detail).toContain('without an agent')
    })
  })

  it('requires a Manager', async () => {
    const agent = await enrolAgent(t)
    const user = await person(t, { profile: 30 })
    const manager = await person(t, { profile: 20 })
    const body = [{ uuid: agent.agentId, agentConfigViewResource: arm }]
    expect((await t.as(undefined).post(url, body)).statusCode).toBe(401)
    expect((await user.api.post(url, body)).statusCode).toBe(403)
    expect((await manager.api.post(url, body)).statusCode).toBe(200)
  })

  it('accepts 10,000 hosts in one request', async () => {
    await enrolAgent(t, { devices: [plainKeyboard()] })
    await insertFleet(t, 10_000)
    await t.db.execute(sql`update agents set enforcement = 'before-driver' where os_name = 'Fleet OS'`)
    const ids = await t.db.query<{ agent_id: string }>(sql`select agent_id from agents where os_name = 'Fleet OS'`)
    const answer = await configure(ids.map((row) => ({ uuid: row.agent_id, agentConfigViewResource: arm })))
    expect([answer.statusCode, answer.json().length]).toEqual([200, 10_000])
    await t.jobs.drain()
    expect((await pageOf(t, 'agents/commands?state=queued&PageSize=1')).recordsFiltered).toBeGreaterThanOrEqual(10_000)
  }, 120_000)
})
