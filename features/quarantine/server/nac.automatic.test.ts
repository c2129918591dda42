// Invariant: A quarantine counts as in force only after it was read back. A flood takes no more hosts off the
//   network than the limit.

import { buildDevice, plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp } from '@portcullis/server/test/app.ts'
import { pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { macsOf, type NacTest, nacHost, startNac, stepsOf } from '@portcullis/server/test/nac.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DeviceReport } from '#features/contract.ts'

let n: NacTest
/** A device that types and stores files, unlike any honest device. */
const tool = (portPath = '1-5'): DeviceReport => ({
  ...buildDevice({
    ...{ vid: '1234', pid: '5679', interfaces: ['03:01:01', '08:06:50'] },
    // As in gadgets: it cannot wake the host, and has its own power supply.
    ...{ remoteWakeup: false, selfPowered: true },
  }),
  portPath,
})
beforeAll(async () => {
  n = await startNac()
  await n.useIse({ ISE_AUTO_QUARANTINE: 'true', ISE_EXCLUDE_TAGS: 'Lab, VIP', ISE_MAX_PER_10_MINUTES: '3' })
})
// Quarantines of the previous test no longer count for the limit.
beforeEach(() => n.t.clock.advance(10 * 60_000))
afterAll(() => n.close())

const of = (agent: TestAgent) => n.all(`&uuid=${agent.agentId}`)
const plugged = async (options: Parameters<typeof nacHost>[1] = {}): Promise<TestAgent> => {
  const agent = await nacHost(n.t, options)
  n.seen(agent)
  await agent.plug(tool())
  return agent
}
/** Runs the watch: a device is seen in the next run, and counts 30 s later. */
const settle = () => n.pass(40_000)

describe('a confirmed attack tool', () => {
  it('quarantines its host after 30 seconds, and releases it when detached', async () => {
    const agent = await nacHost(n.t, { devices: [plainKeyboard({ portPath: '1-1' })] })
    n.seen(agent)
    await agent.plug(tool())
    expect((await agent.peripherals()).find((one) => one.severity === 50)?.isKnownAttackTool).toBe(true)
    await n.pass(30_000)
    expect(await of(agent)).toEqual([])
    await n.pass(10_000)
    const [q] = await of(agent)
    expect(q).toMatchObject({
      state: 'verified',
      isAutomatic: true,
      by: 'system',
      reason: expect.stringMatching(/Attack tool 1234:5679/),
    })
    expect(q?.expiresAt).not.toBeNull()
    expect(n.ise.policyOf(macsOf(agent)[0] as string)).toBe('Quarantine')
    const { data } = await pageOf<{ action: string; userName: string }>(n.t, 'events/GetAuditsIntegration?PageSize=30')
    expect(data).toContainEqual(expect.objectContaining({ action: 'nac.quarantined', userName: 'system' }))
    await settle()
    expect((await of(agent)).map(({ state }) => state)).toEqual(['verified'])

    await agent.unplug('1-5')
    await n.pass(5_000)
    const [released] = await of(agent)
    expect(released).toMatchObject({ state: 'cleared', isActive: false })
    expect(released?.timeline.find(({ step }) => step === 'clear')).toMatchObject({
      message: 'The device was detached.',
      by: 'system',
    })
    expect(n.ise.policyOf(macsOf(agent)[0] as string)).toBeUndefined()
    // Attached again, it is a cause again.
    await agent.plug(tool())
    await settle()
    expect((await of(agent)).map(({ state }) => state)).toEqual(['verified', 'cleared'])
  }, 30_000)

  it('causes nothing if it is detached earlier, nor do suspected tools or other devices', async () => {
    const [quick, other] = [await plugged(), await nacHost(n.t, { devices: [plainKeyboard({ portPath: '1-2' })] })]
    await n.pass(25_000)
    await quick.unplug('1-5')
    await n.pass(5_000)
    // Detached and attached again: the time starts from zero.
    await quick.plug(tool())
    await n.pass(25_000)
    await quick.unplug('1-5')
    await settle()
    expect([await of(quick), await of(other)]).toEqual([[], []])
  }, 30_000)

  it('releases its host when a person approves it', async () => {
    const agent = await plugged()
    await settle()
    expect((await of(agent))[0]?.state).toBe('verified')
    await n.ok('peripherals/command', {
      opCode: 'APPROVE',
      peripheralsIds: [{ uuid: agent.agentId, vid: '1234', pid: '5679' }],
      overrideAttackTool: true,
      reason: 'red team',
    })
    await n.pass(5_000)
    const [q] = await of(agent)
    expect([q?.state, q?.timeline.find(({ step }) => step === 'clear')?.message]).toEqual([
      'cleared',
      'The device was approved.',
    ])
    await settle()
    expect(await of(agent)).toHaveLength(1)
  }, 30_000)

  it('does not quarantine a cleared host again for the same attachment', async () => {
    const agent = await plugged()
    await settle()
    await n.ok('nac/quarantines/clear', { ids: (await of(agent)).map(({ id }) => id) })
    await n.run()
    await settle()
    expect((await of(agent)).map(({ state }) => state)).toEqual(['cleared'])
  }, 30_000)

  it('on a removed host has its quarantine cleared', async () => {
    const agent = await plugged()
    await settle()
    await n.ok('agents/deleteAgents', [agent.agentId])
    await n.pass(5_000)
    const [q] = await of(agent)
    expect([q?.state, n.ise.policyOf(macsOf(agent)[0] as string)]).toEqual(['cleared', undefined])
    expect(q?.timeline.find(({ step }) => step === 'clear')?.message).toBe('The host was removed.')
  }, 30_000)

  it('on a host with an excluded tag causes nothing', async () => {
    const agent = await plugged()
    await n.ok('generalconfig/addhashtags', { hashtags: ['vip'], elementIds: [agent.agentId], entityType: 'Agent' })
    await settle()
    expect(await of(agent)).toEqual([])
    await n.ok('generalconfig/deletehashtags', { hashtags: ['vip'], elementIds: [agent.agentId], entityType: 'Agent' })
    await n.pass(5_000)
    expect((await of(agent))[0]?.state).toBe('verified')
  }, 30_000)

  it('on more hosts than allowed within ten minutes waits for approval', async () => {
    const agents = await Promise.all(Array.from({ length: 5 }, () => plugged()))
    await settle()
    const states = async () => (await Promise.all(agents.map(of))).map(([q]) => q?.state)
    expect((await states()).toSorted()).toEqual(['verified', 'verified', 'verified', 'waiting', 'waiting'])
    const waiting = (await n.all('&state=waiting')).filter((q) => agents.some((agent) => agent.agentId === q.uuid))
    expect(waiting[0]?.timeline.at(-1)).toMatchObject({
      step: 'waiting',
      message: expect.stringMatching(/3 addresses were quarantined within ten minutes/),
    })
    const [one, two] = waiting.map(({ id }) => id) as [string, string]
    const events = await n.t.db.query<{ n: number }>(
      sql`select count(*)::int as n from events e where e.description = 'Quarantine awaits approval' and e.agent_id = any(${waiting.map(({ uuid }) => uuid)}::uuid[])`,
    )
    expect(events[0]?.n).toBe(2)
    expect(await n.ok('nac/quarantines/approve', { ids: [one] })).toMatchObject({ accepted: [one] })
    expect(await n.ok('nac/quarantines/dismiss', { ids: [two] })).toMatchObject({ accepted: [two] })
    expect(await n.ok('nac/quarantines/approve', { ids: [one, two] })).toMatchObject({
      accepted: [],
      unchanged: [one, two].toSorted(),
    })
    await n.run()
    // Later runs do not change this, even after the ten minutes.
    n.t.clock.advance(10 * 60_000)
    await settle()
    expect((await states()).toSorted()).toEqual(['dismissed', 'verified', 'verified', 'verified', 'verified'])
    const approved = (await n.all()).find(({ id }) => id === one)
    expect(approved && stepsOf(approved)).toEqual([
      'asked',
      'waiting',
      'approved',
      'applying',
      'applied',
      'verified',
      'attributes',
    ])
  }, 60_000)

  it('is counted once by concurrent replicas', async () => {
    const replica = await startTestApp({ database: n.t.database, clock: n.t.clock, keyDir: n.t.keyDir })
    try {
      const agents = await Promise.all(Array.from({ length: 5 }, () => plugged()))
      for (let i = 0; i < 8; i++) {
        n.t.clock.advance(5_000)
        await Promise.all([
          n.t.server.quarantine.watch(),
          replica.server.quarantine.watch(),
          n.t.server.quarantine.watch(),
        ])
      }
      await Promise.all([n.run(), replica.server.quarantine.run()])
      const rows = (await Promise.all(agents.map(of))).flat()
      expect(rows.map(({ state }) => state).toSorted()).toEqual([
        'verified',
        'verified',
        'verified',
        'waiting',
        'waiting',
      ])
      const applied = n.ise.changes.filter(({ mac }) => agents.some((agent) => macsOf(agent).includes(mac)))
      expect(applied).toHaveLength(3)
    } finally {
      await replica.close()
    }
  }, 60_000)

  it('on a host whose addresses another host also reports waits for approval', async () => {
    const victim = await nacHost(n.t)
    const agent = await plugged({ facts: { nics: victim.facts.nics } })
    await settle()
    const [q] = await of(agent)
    expect(q).toMatchObject({
      state: 'waiting',
      timeline: [{ step: 'asked' }, { step: 'waiting', message: expect.stringContaining(victim.facts.hostname) }],
    })
    expect(n.ise.policyOf(macsOf(victim)[0] as string)).toBeUndefined()
    await agent.unplug('1-5')
    await n.pass(5_000)
    expect((await of(agent))[0]).toMatchObject({ state: 'dismissed', isActive: false })
  }, 30_000)

  it('on a host with more than four addresses waits for approval, and the limit counts addresses', async () => {
    const many = await plugged({ nics: 5 })
    const [two, more] = [await plugged({ nics: 2 }), await plugged({ nics: 2 })]
    await settle()
    const story = async (agent: TestAgent) => (await of(agent))[0]
    expect(await story(many)).toMatchObject({
      state: 'waiting',
      timeline: [{ step: 'asked' }, { step: 'waiting', message: expect.stringMatching(/reports 5 addresses/) }],
    })
    const pair = [await story(two), await story(more)]
    expect(pair.map((q) => q?.state).toSorted()).toEqual(['verified', 'waiting'])
    expect(pair.find((q) => q?.state === 'waiting')?.timeline.at(-1)?.message).toMatch(
      /^2 addresses were quarantined within ten minutes\. It has 2 more, but only 3 are allowed/,
    )
  }, 30_000)

  it('does not quarantine an excluded address', async () => {
    const agent = await nacHost(n.t)
    const [mac] = macsOf(agent) as [string]
    await n.useIse({ ISE_NEVER_ADDRESSES: mac })
    await agent.plug(tool())
    await settle()
    expect((await of(agent))[0]).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/excluded from quarantine/),
    })
    expect(n.ise.policyOf(mac)).toBeUndefined()
    await n.useIse({ ISE_NEVER_ADDRESSES: '' })
  }, 30_000)

  it('is not given up during some hours of wrong setup', async () => {
    const agent = await nacHost(n.t)
    n.seen(agent)
    await n.useIse({ ISE_PASSWORD: 'wrong' })
    await agent.plug(tool())
    await settle()
    const wanted = (await of(agent))[0]
    expect(wanted).toMatchObject({
      state: 'wanted',
      error: expect.stringMatching(/rejected the user name or password/),
    })
    expect(wanted && stepsOf(wanted)).toEqual(['asked', 'delayed'])
    const tries = async (count: number) => {
      for (let i = 0; i < count; i++) {
        n.t.clock.advance(300_000)
        await n.run()
      }
    }
    await tries(20)
    expect((await of(agent))[0]?.state).toBe('wanted')
    await n.useIse()
    await tries(1)
    expect((await of(agent))[0]).toMatchObject({ state: 'verified', error: '' })

    const other = await nacHost(n.t)
    await n.useIse({ ISE_PASSWORD: 'wrong' })
    await other.plug(tool())
    await settle()
    await tries(54)
    expect((await of(other))[0]).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/rejected the user name or password/),
    })
    await n.useIse()
  }, 60_000)

  it('on a host without an address fails with a cure', async () => {
    const agent = await nacHost(n.t, { facts: { nics: [] } })
    await agent.plug(tool())
    await settle()
    expect((await of(agent))[0]).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/Isolate it at its switch/),
    })
    await agent.unplug('1-5')
    await n.pass(5_000)
    expect((await of(agent))[0]?.state).toBe('cleared')
  }, 30_000)
})

describe('both systems', () => {
  it('quarantine a host independently, and both release it', async () => {
    await n.useCact({ CACT_AUTO_QUARANTINE: 'true', CACT_MAX_PER_10_MINUTES: '100' })
    const agent = await nacHost(n.t, { nics: 2 })
    const [, second] = macsOf(agent) as [string, string]
    n.cact.addHost(second, agent.state.from ?? '')
    n.ise.see(second, agent.state.from ?? '')
    await agent.plug(tool('1-4'))
    await agent.plug(tool())
    await settle()
    const [fromIse, fromCact] = [await n.quarantineOf(agent), await n.quarantineOf(agent, 'cact')]
    expect([fromIse.state, fromCact.state, fromCact.targets, fromCact.policy]).toEqual([
      'verified',
      'verified',
      [second],
      'portcullis_state',
    ])
    expect(n.cact.changes.filter(({ ip }) => ip === agent.state.from)).toEqual([
      { type: 'update', ip: agent.state.from, property: 'portcullis_state', value: 'quarantine' },
    ])
    await agent.unplug('1-5')
    await n.pass(10_000)
    // Another tool is still attached, whichever was seen first.
    expect([(await n.quarantineOf(agent)).state, (await n.quarantineOf(agent, 'cact')).state]).toEqual([
      'verified',
      'verified',
    ])
    await agent.unplug('1-4')
    await n.pass(10_000)
    expect([(await n.quarantineOf(agent)).state, (await n.quarantineOf(agent, 'cact')).state]).toEqual([
      'cleared',
      'cleared',
    ])
  }, 30_000)
})
