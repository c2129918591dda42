import { startTestApp } from '@portcullis/server/test/app.ts'
import { macsOf, type NacTest, nacHost, startNac, stepsOf } from '@portcullis/server/test/nac.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

let n: NacTest
beforeAll(async () => {
  n = await startNac({ ise: { csrf: true } })
  await n.useIse()
})
afterEach(() => {
  n.ise.state.mode = 'ok'
  n.ise.knobs.hangAfter = null
})
afterAll(() => n.close())

const appliedTo = (mac: string | undefined) =>
  n.ise.changes.filter((change) => change.operation === 'apply' && change.mac === mac).length

describe('Cisco ISE', () => {
  it('applies each host once after an outage, without loss', async () => {
    const agents = await Promise.all([nacHost(n.t), nacHost(n.t)])
    n.ise.state.mode = 'failing'
    await n.ask(agents)
    await n.run()
    const [first] = await n.all()
    expect(first).toMatchObject({ state: 'wanted', isActive: true, error: expect.stringMatching(/answered 503/) })
    expect(first && stepsOf(first)).toEqual(['asked', 'delayed'])
    for (let i = 0; i < 5; i++) {
      n.t.clock.advance(120_000)
      await n.run()
    }
    const asked = n.ise.seen.length
    // After five failures in a row, requests pause for 30 seconds, whatever is due.
    await n.ask([await nacHost(n.t)])
    await n.run()
    expect(n.ise.seen.length).toBe(asked)
    expect((await n.all())[0]?.error).toMatch(/pause for 30 seconds/)
    expect(await n.t.server.quarantine.health('ise')()).toMatchObject({ status: 'Error' })

    n.ise.state.mode = 'ok'
    n.t.clock.advance(301_000)
    await n.run()
    n.t.clock.advance(301_000)
    await n.run()
    const all = await n.all()
    expect(all.map(({ state, error }) => [state, error])).toEqual(Array(3).fill(['verified', '']))
    for (const agent of agents) expect(appliedTo(macsOf(agent)[0])).toBe(1)
    expect(all.at(-1) && stepsOf(all.at(-1) as (typeof all)[number])).toEqual([
      'asked',
      'delayed',
      'applying',
      'applied',
      'verified',
      'attributes',
    ])
    // It requires a token for each change, which is fetched on demand.
    expect(n.ise.seen.some(({ method, headers }) => method === 'PUT' && headers['x-csrf-token'] === undefined)).toBe(
      true,
    )
    expect(n.ise.seen.some(({ headers }) => headers['x-csrf-token'] === 'fetch')).toBe(true)
  }, 60_000)

  it('keeps receiving requests to release a host, even after its password changed', async () => {
    const agent = await nacHost(n.t)
    await n.ask([agent])
    await n.run()
    const { id } = await n.quarantineOf(agent)
    await n.useIse({ ISE_PASSWORD: 'not any more' })
    await n.ok('nac/quarantines/clear', { ids: [id] })
    await n.run()
    expect(await n.quarantineOf(agent)).toMatchObject({
      state: 'clearing',
      error: expect.stringMatching(/rejected the user name or password/),
    })
    await n.useIse({ ISE_ENABLED: 'false' })
    n.t.clock.advance(301_000)
    await n.run()
    expect(await n.quarantineOf(agent)).toMatchObject({
      state: 'clearing',
      error: expect.stringMatching(/switched off/),
    })
    await n.useIse()
    n.t.clock.advance(301_000)
    await n.run()
    expect([(await n.quarantineOf(agent)).state, n.ise.policyOf(macsOf(agent)[0] as string)]).toEqual([
      'cleared',
      undefined,
    ])
    expect((await agent.events()).filter(({ description }) => description === 'Quarantine failed')).toHaveLength(1)
  }, 60_000)

  it('gets at most ten requests in any second', () => {
    const times = n.ise.seen.map(({ at }) => at).toSorted((a, b) => a - b)
    expect(times.length).toBeGreaterThan(50)
    const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length))
    expect(most).toBeLessThanOrEqual(10)
  })
})

describe('a server that crashes between applying and reading back', () => {
  it('leaves the quarantine to another one, which reads back and applies nothing twice', async () => {
    const agent = await nacHost(n.t)
    const [mac] = macsOf(agent) as [string]
    n.ise.knobs.hangAfter = n.ise.changes.length
    await n.ask([agent])
    await expect.poll(() => appliedTo(mac), { timeout: 10_000 }).toBe(1)
    const replica = await startTestApp({ database: n.t.database, clock: n.t.clock, keyDir: n.t.keyDir })
    try {
      // It hangs and keeps its lease, so nobody else takes over.
      await replica.server.quarantine.run()
      n.ise.knobs.hangAfter = null
      const held = await n.quarantineOf(agent)
      expect(['applying', 'applied']).toContain(held.state)
      n.t.clock.advance(61_000)
      await replica.server.quarantine.run()
      expect(await n.quarantineOf(agent)).toMatchObject({ state: 'verified', targets: [mac] })
      expect(appliedTo(mac)).toBe(1)
      await n.run()
      const q = await n.quarantineOf(agent)
      expect([q.state, stepsOf(q)]).toEqual(['verified', ['asked', 'applying', 'applied', 'verified', 'attributes']])
    } finally {
      await replica.close()
    }
  }, 60_000)

  it('clears a quarantine that was cleared while being applied, in any order', async () => {
    const agent = await nacHost(n.t)
    const [mac] = macsOf(agent) as [string]
    n.ise.knobs.hangAfter = n.ise.changes.length
    await n.ask([agent])
    await expect.poll(() => appliedTo(mac), { timeout: 10_000 }).toBe(1)
    await n.ok('nac/quarantines/clear', { ids: [(await n.quarantineOf(agent)).id] })
    n.ise.knobs.hangAfter = null
    await n.run()
    n.t.clock.advance(61_000)
    await n.run()
    n.t.clock.advance(61_000)
    await n.run()
    expect([(await n.quarantineOf(agent)).state, n.ise.policyOf(mac)]).toEqual(['cleared', undefined])
  }, 60_000)
})
