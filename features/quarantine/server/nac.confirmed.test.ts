import { buildDevice } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { EnrolOptions, TestAgent } from '@portcullis/server/test/builders.ts'
import { macsOf, type NacTest, nacHost, startNac, stepsOf } from '@portcullis/server/test/nac.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DeviceReport } from '#features/contract.ts'

let n: NacTest
const tool: DeviceReport = {
  ...buildDevice({
    ...{ vid: '1234', pid: '5679', interfaces: ['03:01:01', '08:06:50'], remoteWakeup: false, selfPowered: true },
  }),
  portPath: '1-5',
}
beforeAll(async () => {
  n = await startNac()
  await n.useIse({ ISE_AUTO_QUARANTINE: 'true', ISE_MAX_PER_10_MINUTES: '100' })
})
beforeEach(() => {
  n.t.clock.advance(10 * 60_000)
  Object.assign(n.ise.knobs, { monitoring: 'works', liesAbout: null })
})
afterAll(() => n.close())

/** Plugs an attack tool into a host, and runs the watch for 40 seconds. */
const attack = async (agent: TestAgent) => {
  await agent.plug(tool)
  await n.pass(40_000)
  return n.quarantineOf(agent)
}
const host = (options: EnrolOptions & { nics?: number } = {}) => nacHost(n.t, options)
const addressOf = (agent: TestAgent): string => agent.state.from ?? ''

describe('an automatic quarantine by Cisco ISE', () => {
  it('awaits approval for machines that a hostile host reports as its own', async () => {
    const agent = await host({ nics: 4 })
    for (const [i, mac] of macsOf(agent).entries()) n.ise.see(mac, `192.0.2.${i + 1}`)
    const q = await attack(agent)
    expect(q).toMatchObject({ state: 'waiting', awaitsApproval: true, expiresAt: null, targets: [] })
    expect(stepsOf(q)).toEqual(['asked', 'waiting'])
    for (const [i, mac] of macsOf(agent).entries())
      expect(q.timeline.at(-1)?.message).toContain(
        `The host connects from ${addressOf(agent)}, but ISE sees ${mac} at 192.0.2.${i + 1}.`,
      )
    expect(n.ise.changes).toEqual([])
    expect(await n.all('&awaitsApproval=true')).toMatchObject([{ id: q.id }])
    const events = await n.t.db.query<{ details: string }>(
      sql`select e.details from events e where e.agent_id = ${agent.agentId}::uuid and e.description = 'Quarantine awaits approval'`,
    )
    expect(events).toMatchObject([{ details: expect.stringContaining('192.0.2.1') }])

    await n.ok('nac/quarantines/approve', { ids: [q.id] })
    await n.run()
    expect(await n.quarantineOf(agent)).toMatchObject({ state: 'verified', targets: macsOf(agent) })
  }, 30_000)

  it('covers the address of the host, and the others after approval', async () => {
    const [approved, dismissed] = [await host({ nics: 2 }), await host({ nics: 2 })]
    for (const agent of [approved, dismissed]) {
      n.seen(agent)
      const [own, other] = macsOf(agent) as [string, string]
      const q = await attack(agent)
      expect(q).toMatchObject({ state: 'verified', targets: [own], unconfirmed: [other], awaitsApproval: true })
      expect(q.timeline.find(({ step }) => step === 'waiting')?.message).toBe(`ISE has no live session of ${other}.`)
      expect(stepsOf(q).filter((step) => step === 'waiting')).toHaveLength(1)
    }
    await n.ok('nac/quarantines/approve', { ids: [(await n.quarantineOf(approved)).id] })
    await n.ok('nac/quarantines/dismiss', { ids: [(await n.quarantineOf(dismissed)).id] })
    await n.run()
    expect(await n.quarantineOf(approved)).toMatchObject({
      state: 'verified',
      targets: macsOf(approved),
      unconfirmed: [],
      awaitsApproval: false,
    })
    expect(await n.quarantineOf(dismissed)).toMatchObject({
      state: 'verified',
      targets: macsOf(dismissed).slice(0, 1),
      macs: macsOf(dismissed).slice(0, 1),
      unconfirmed: [],
      awaitsApproval: false,
    })
    // Nothing is left to decide.
    const { id } = await n.quarantineOf(dismissed)
    expect(await n.ok('nac/quarantines/dismiss', { ids: [id] })).toMatchObject({ accepted: [], unchanged: [id] })
  }, 30_000)

  it.each([
    ['has no session', () => undefined, /ISE has no live session of/],
    [
      'sees a session that ended',
      (agent: TestAgent, mac: string) => n.ise.see(mac, addressOf(agent), { status: 'Stop' }),
      /ISE has no live session of/,
    ],
    [
      'knows no address of the session',
      (_: TestAgent, mac: string) => n.ise.see(mac, ''),
      /but ISE sees .* at no address/,
    ],
    [
      'knows no switch',
      (agent: TestAgent, mac: string) => n.ise.see(mac, addressOf(agent), { nas: '' }),
      /does not know at which switch/,
    ],
    [
      'sees another machine at the address since',
      (agent: TestAgent, mac: string) => {
        n.ise.see(mac, addressOf(agent))
        n.ise.see('0A:00:00:00:00:01', addressOf(agent))
      },
      /ISE sees 0A:00:00:00:00:01/,
    ],
    [
      'sees the address at another port, too',
      (agent: TestAgent, mac: string) => {
        n.ise.see(mac, addressOf(agent), { port: 'Gi1/0/1' })
        const there = { user: '', address: addressOf(agent), nas: '10.0.0.1', port: 'Gi1/0/48', server: '', mac }
        n.ise.knobs.liesAbout = there
      },
      /Gi1\/0\/48\), not only/,
    ],
    [
      'answers about another machine than asked',
      (agent: TestAgent, mac: string) => n.ise.see(mac, addressOf(agent), { mac: '0A:00:00:00:00:02' }),
      /but ISE sees/,
    ],
    [
      'does not show sessions to the user',
      (agent: TestAgent) => {
        n.seen(agent)
        n.ise.knobs.monitoring = 'refuses'
      },
      /Add the user to the group MnT Admin/,
    ],
  ])('awaits approval if ISE %s', async (_, prepare, why) => {
    const agent = await host()
    prepare(agent, macsOf(agent)[0] as string)
    const q = await attack(agent)
    expect(q).toMatchObject({ state: 'waiting', error: '', timeline: [{ step: 'asked' }, { step: 'waiting' }] })
    expect(q.timeline.at(-1)?.message).toMatch(why)
    expect(n.ise.policyOf(macsOf(agent)[0] as string)).toBeUndefined()
  })

  it('is retried while the monitoring node fails, and then awaits approval', async () => {
    const [mended, broken] = [await host(), await host()]
    for (const agent of [mended, broken]) n.seen(agent)
    n.ise.knobs.monitoring = 'fails'
    expect(await attack(mended)).toMatchObject({ state: 'wanted', error: expect.stringContaining('500') })
    n.ise.knobs.monitoring = 'works'
    n.t.clock.advance(300_000)
    await n.run()
    expect(await n.quarantineOf(mended)).toMatchObject({ state: 'verified' })

    n.ise.knobs.monitoring = 'fails'
    await attack(broken)
    for (let i = 0; i < 3; i++) {
      n.t.clock.advance(300_000)
      await n.run()
    }
    expect(await n.quarantineOf(broken)).toMatchObject({ state: 'waiting', targets: [] })
  }, 30_000)

  it('follows a host to a new address', async () => {
    const agent = await host()
    n.seen(agent)
    await agent.plug(tool)
    agent.state.from = '10.250.0.1'
    await agent.checkIn()
    n.seen(agent)
    await n.pass(40_000)
    expect(await n.quarantineOf(agent)).toMatchObject({ state: 'verified', awaitsApproval: false })
  })

  it('awaits approval if several hosts connect from one address', async () => {
    const agent = await host()
    const neighbour = await host({ from: addressOf(agent) })
    n.seen(agent)
    const q = await attack(agent)
    expect(q).toMatchObject({ state: 'waiting' })
    expect(q.timeline.at(-1)?.message).toBe(
      `${neighbour.facts.hostname} connects from ${addressOf(agent)}, too: it may be the address of a proxy or router.`,
    )
  })

  it('awaits approval for a host that connects over IPv6', async () => {
    const agent = await host({ from: '2001:db8::7' })
    n.seen(agent)
    const q = await attack(agent)
    expect([q.state, q.timeline.at(-1)?.message]).toEqual(['waiting', expect.stringContaining('by IPv4 address only')])
  })

  it('awaits approval for a host that lost contact', async () => {
    const agent = await host()
    n.seen(agent)
    await agent.plug(tool)
    n.t.clock.advance(10 * 60_000)
    await n.t.server.ingest.sweep()
    await n.pass(40_000)
    const q = await n.quarantineOf(agent)
    expect([q.state, q.timeline.at(-1)?.message]).toEqual(['waiting', expect.stringContaining('is disconnected')])
  })
})

it.each([
  ['does not know the machine', () => undefined, /CounterACT does not know/],
  [
    'sees the machine at another address',
    (_: TestAgent, mac: string) => n.cact.addHost(mac, '192.0.2.40'),
    /but CounterACT sees .* at 192\.0\.2\.40/,
  ],
  [
    'sees another machine at the address',
    (agent: TestAgent, mac: string) => {
      n.cact.addHost('0A:00:00:00:00:03', addressOf(agent))
      n.cact.addHost(mac, addressOf(agent))
    },
    /CounterACT sees 0A:00:00:00:00:03, not/,
  ],
])('an automatic quarantine by CounterACT awaits approval if it %s', async (_, prepare, why) => {
  await n.useCact({ CACT_AUTO_QUARANTINE: 'true', CACT_MAX_PER_10_MINUTES: '100' })
  const agent = await host()
  const changes = n.cact.changes.length
  prepare(agent, macsOf(agent)[0] as string)
  await attack(agent)
  const q = await n.quarantineOf(agent, 'cact')
  expect([q.state, q.timeline.at(-1)?.message]).toEqual(['waiting', expect.stringMatching(why)])
  expect(n.cact.changes).toHaveLength(changes)
})
