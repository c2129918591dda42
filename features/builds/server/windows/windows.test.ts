import { randomUUID } from 'node:crypto'
import { plainKeyboard } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest, trustAccounts } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { ring, rolloutsOf, take } from '@portcullis/server/test/rollouts.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  AgentCommand,
  Command,
  getWindowsEnforcement,
  HostFacts,
  ResponseOf,
  RolloutPlan,
} from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp

beforeEach(async () => {
  t = await startTestApp({ listen: true })
})
afterEach(() => t.close())

const windows11: Partial<HostFacts> = {
  osName: 'Windows 11 Pro',
  osBuild: '10.0.22631.4317',
  enforcement: 'before-install',
}
const hosts = (count: number, change: Partial<HostFacts> = {}): Promise<TestAgent[]> =>
  Promise.all(Array.from({ length: count }, () => enrolAgent(t, { facts: { ...windows11, ...change } })))
const ids = (agents: readonly TestAgent[]): string[] => agents.map(({ agentId }) => agentId)
const post = async (path: string, body: unknown) =>
  (await t.admin()).post(`${base}/${path}`, body, { accept: 'application/json' })
const enable = async (value = 'true') => {
  const answer = await post('generalconfig/AddOrUpdateVendorA', { VENDORA_WINDOWS_ENFORCEMENT: value })
  expect(answer.statusCode, answer.body).toBe(200)
}
const armBulk = async (agents: readonly TestAgent[]) => {
  const answer = (await post('agents/bulk', { action: 'arm', uuids: ids(agents) })).json()
  await t.jobs.drain()
  return answer
}
const armOne = async ({ agentId }: TestAgent, mode = 'arm') => {
  const answer = await post('agents/configuration', [
    { uuid: agentId, agentConfigViewResource: { isSystemArmed: mode } },
  ])
  return answer.statusCode === 200 ? 'ordered' : (answer.json().code as string)
}
const previewOf = async (agents: readonly TestAgent[]) =>
  (await post('agents/bulk/preview', { action: 'arm', uuids: ids(agents) })).json()
const ordered = async (): Promise<Command[]> => (await pageOf<Command>(t, 'agents/commands?state=queued')).data
const overview = async (): Promise<ResponseOf<typeof getWindowsEnforcement>> =>
  (await (await t.admin()).get(`${base}/windows/enforcement`)).json()
const offReason = expect.stringContaining('"Windows enforcement (preview)"')
const limitReason = expect.stringContaining('import a file')

describe('while the preview is off', () => {
  it.each<[string, Partial<HostFacts>]>([
    ['by grade, build and name', {}],
    ['by its grade alone', { osName: 'Debian GNU/Linux 12', osBuild: undefined as never }],
    ['by its build alone', { osName: 'Debian GNU/Linux 12', enforcement: 'before-driver' }],
    [
      'by its name alone',
      { osName: 'Microsoft Windows 10', osBuild: undefined as never, enforcement: 'before-driver' },
    ],
  ])('refuses to arm a host that is a Windows host %s, through each door', async (_how, facts) => {
    const [windows] = (await hosts(1, facts)) as [TestAgent]
    const linux = await enrolAgent(t, { devices: [plainKeyboard()] })
    const both = [windows, linux]
    expect(await previewOf(both)).toMatchObject({
      agents: 1,
      impossible: [{ reason: offReason, agents: 1, code: 'windows_preview_off' }],
    })
    expect(await armBulk(both)).toMatchObject({
      accepted: 1,
      skipped: 1,
      refused: [{ reason: offReason, agents: 1, code: 'windows_preview_off' }],
    })
    expect(await armOne(windows)).toBe('windows_preview_off')
    const rollout = { kind: 'arm', name: 'all', rings: [{ name: 'all', sharePercent: 100 }] }
    const plan: RolloutPlan = (await post('rollouts/plan', rollout)).json()
    expect(plan.rings[0]).toMatchObject({ hosts: 2, notReady: 1, reasons: [{ reason: offReason, hosts: 1 }] })
    const { id } = await rolloutsOf(t).start(rollout)
    expect(ring(await rolloutsOf(t).advance(id), 0)).toMatchObject({ notReady: 1 })
    expect((await ordered()).map(({ uuid }) => uuid)).toEqual([linux.agentId])
  })

  it('excludes Windows hosts from the prediction', async () => {
    const [windows] = (await hosts(1)) as [TestAgent]
    await windows.plug(plainKeyboard())
    expect((await previewOf([windows])).prediction.newlyBlocked ?? { agents: 0 }).toMatchObject({ agents: 0 })
    await enable()
    const linux = await Promise.all([1, 2].map(() => enrolAgent(t)))
    expect(await previewOf([windows, ...linux])).toMatchObject({
      blocked: { agents: 1, peripherals: 1 },
      grades: [
        { enforcement: 'after-attach', agents: 2 },
        { enforcement: 'before-install', agents: 1 },
      ],
    })
  })

  it('frees Windows hosts, and turning the setting off cancels pending orders', async () => {
    await enable()
    const agents = await hosts(2)
    await armBulk(agents)
    await take(agents[0] as TestAgent)
    expect((await ordered()).map(({ uuid }) => uuid)).toEqual([agents[1]?.agentId])
    await enable('false')
    await expect.poll(ordered).toEqual([])
    expect((await agents[1]?.checkIn())?.commands).toBeUndefined()
    expect(await armOne(agents[0] as TestAgent)).toBe('windows_preview_off')
    expect(await armOne(agents[0] as TestAgent, 'free')).toBe('ordered')
    expect((await take(agents[0] as TestAgent)).map((one: AgentCommand) => one.kind)).toEqual(['configure'])
  })

  it('refuses an order that a second approver approves later', async () => {
    await enable()
    const [windows] = (await hosts(1)) as [TestAgent]
    const others = await Promise.all([1, 2, 3].map(() => enrolAgent(t)))
    const { settings } = (await (await t.admin()).get(`${base}/policy`)).json()
    await (await t.admin()).put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 2 })
    const [alice, bob] = [await person(t, { profile: 10 }), await person(t, { profile: 10 })]
    await trustAccounts(t)
    const items = [windows, ...others].map(({ agentId }, i) => ({
      uuid: agentId,
      agentConfigViewResource: { isSystemArmed: i === 0 ? 'arm' : 'free' },
    }))
    const filed = await alice.api.post(`${base}/agents/configuration`, items, { accept: 'application/json' })
    expect(filed.json().code).toBe('second_person_required')
    await enable('false')
    const [request] = (await bob.api.get(`${base}/policy/changerequests`)).json().data
    const approved = await approveRequest(bob.api, request.id)
    expect(approved.json().code).toBe('windows_preview_off')
    expect(await ordered()).toEqual([])
  })

  it('can be turned on only by an Administrator', async () => {
    const manager = await person(t, { profile: 20 })
    const answer = await manager.api.post(`${base}/generalconfig/AddOrUpdateVendorA`, {
      VENDORA_WINDOWS_ENFORCEMENT: 'true',
    })
    expect(answer.statusCode).toBe(403)
    expect(await overview()).toMatchObject({ enabled: false, hostsUnverified: 5 })
  })
})

describe('the limit of five hosts of a build', () => {
  it('counts ordered and armed hosts for every way to arm', async () => {
    await enable()
    const agents = await hosts(7)
    expect(await previewOf(agents)).toMatchObject({
      agents: 5,
      impossible: [{ reason: limitReason, agents: 2, code: 'windows_limit_reached' }],
    })
    expect(await armBulk(agents)).toMatchObject({
      accepted: 5,
      skipped: 2,
      refused: [{ code: 'windows_limit_reached' }],
    })
    const armed = new Set((await ordered()).map(({ uuid }) => uuid))
    expect(armed.size).toBe(5)
    const [free = agents[0], other] = agents.filter(({ agentId }) => !armed.has(agentId)) as TestAgent[]
    expect(await armOne(free as TestAgent)).toBe('windows_limit_reached')
    const rollout = { kind: 'arm', name: 'all', rings: [{ name: 'all', sharePercent: 100 }] }
    expect((await post('rollouts/plan', rollout)).json().rings[0].reasons).toEqual([{ reason: limitReason, hosts: 2 }])
    for (const agent of agents) if (armed.has(agent.agentId)) await take(agent)
    expect(await armOne(free as TestAgent)).toBe('windows_limit_reached')
    const [first] = agents.filter(({ agentId }) => armed.has(agentId)) as [TestAgent]
    // An armed host can be ordered to arm again. A freed host no longer counts.
    expect(await armOne(first)).toBe('ordered')
    await take(first)
    expect(await armOne(first, 'free')).toBe('ordered')
    expect(await armOne(free as TestAgent)).toBe('windows_limit_reached')
    await take(first)
    expect(await armOne(free as TestAgent)).toBe('ordered')
    expect(await armOne(other as TestAgent)).toBe('windows_limit_reached')
    expect((await overview()).builds).toMatchObject([{ build: '22631', agents: 7, armed: 5, isVerified: false }])
  })

  it('counts each build separately, and a host without a build for every build', async () => {
    await enable()
    const [older, newer] = [await hosts(5, { osBuild: '10.0.19045.5247' }), await hosts(5)]
    const [unknown] = (await hosts(1, { osBuild: undefined as never })) as [TestAgent]
    expect(await armBulk(older.slice(0, 4))).toMatchObject({ accepted: 4 })
    expect(await armOne(unknown)).toBe('ordered')
    expect(await armOne(older[4] as TestAgent)).toBe('windows_limit_reached')
    expect(await armBulk(newer)).toMatchObject({ accepted: 4, skipped: 1 })
    await armOne(unknown, 'free')
    await take(unknown)
    // Nine hosts of known builds are armed.
    expect(await armOne(unknown)).toBe('windows_limit_reached')
    expect(await armOne(older[4] as TestAgent)).toBe('ordered')
  })

  it('does not exceed the limit with concurrent requests', async () => {
    await enable()
    const agents = await hosts(12)
    const outcomes = await Promise.all([
      ...agents.slice(0, 6).map((agent) => armOne(agent)),
      ...agents.slice(6).map((agent) => armBulk([agent])),
    ])
    expect(outcomes.filter((one) => one === 'ordered').length).toBeLessThanOrEqual(5)
    await t.jobs.drain()
    expect((await ordered()).length).toBe(5)
    // No host waits for an order that was refused.
    expect((await Promise.all(agents.map((agent) => agent.detail()))).filter(({ inAction }) => inAction).length).toBe(5)
  })

  it('counts an order that a host received before it was cancelled', async () => {
    await enable()
    const agents = await hosts(6)
    await armBulk(agents.slice(0, 5))
    const [first, , , , , last] = agents as [TestAgent, TestAgent, TestAgent, TestAgent, TestAgent, TestAgent]
    const taken = (await first.checkIn()).commands
    expect(taken?.length).toBe(1)
    expect((await post('agents/bulk', { action: 'cancelCommands', uuids: ids([first]) })).statusCode).toBe(200)
    await t.jobs.drain()
    expect(await armOne(last)).toBe('windows_limit_reached')
    t.clock.advance(16 * 60_000)
    expect(await armOne(last)).toBe('ordered')
  })

  it('counts an order that a host received until the host confirms a newer one', async () => {
    await enable()
    const agents = await hosts(6)
    await armBulk(agents.slice(0, 5))
    const [first, , , , , last] = agents as [TestAgent, TestAgent, TestAgent, TestAgent, TestAgent, TestAgent]
    expect((await first.checkIn()).commands?.length).toBe(1)
    // The newer order can still be cancelled.
    expect(await armOne(first, 'free')).toBe('ordered')
    expect(await armOne(last)).toBe('windows_limit_reached')
    await take(first)
    expect(await armOne(last)).toBe('ordered')
  })

  it('arms the first rings of a rollout first, and the others once the limit allows it', async () => {
    await enable()
    const rollouts = rolloutsOf(t)
    const others = await rollouts.hosts(4, 'office', windows11)
    const canary = await rollouts.hosts(3, 'canary', windows11)
    const plan: RolloutPlan = (
      await post('rollouts/plan', {
        kind: 'arm',
        name: 'test',
        rings: [
          { name: 'canary', tags: ['canary'] },
          { name: 'rest', sharePercent: 100 },
        ],
      })
    ).json()
    expect(plan.rings.map(({ ready, notReady }) => [ready, notReady])).toEqual([
      [3, 0],
      [2, 2],
    ])
    const { id } = await rollouts.start()
    for (const agent of canary) await take(agent)
    await rollouts.advance(id)
    expect(ring(await rollouts.advance(id, 60), 1)).toEqual({ commanded: 2, notReady: 2 })
    for (const agent of others) await take(agent)
    await rollouts.advance(id)
    expect(await armOne(canary[0] as TestAgent, 'free')).toBe('ordered')
    await take(canary[0] as TestAgent)
    expect(ring(await rollouts.advance(id), 1)).toEqual({ commanded: 1, done: 2, notReady: 1 })
  })
})

it('does not refuse a missing host as a Windows host', async () => {
  expect((await post('agents/bulk/preview', { action: 'arm', uuids: [randomUUID()] })).json().impossible).toEqual([
    { reason: 'This host does not exist.', agents: 1 },
  ])
})
