import { cleanText } from '@portcullis/domain'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { contextOf } from '@portcullis/server/test/capability-app.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RiskNotification, UncommonPeripheral } from '#features/contract.ts'
import type { UsableViolation } from '#features/devices/server/insights/index.ts'
import { createCasesRead } from './cases.read.ts'
import { createCases } from './cases.service.ts'
import type { AlertsContext } from './context.ts'
import { createWatchers } from './watchers.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
  await insertFleet(t, 1_200)
})
afterAll(() => t.close())

const notices = async (kind: string): Promise<RiskNotification[]> =>
  (await (await t.admin()).get(`/prime/webui/systemNotification/riskNotifications?kind=${kind}`)).json()
const eventsOf = async (code: string): Promise<number> =>
  (await t.db.query<{ n: number }>(sql`select count(*)::int as n from events e where e.code = ${Number(code)}::int`))[0]
    ?.n ?? 0

const hour = 3_600_000

describe('disconnected hosts', () => {
  it('are reported once, merged if many, and again after a check-in', async () => {
    const seen = (at: number, host: number) =>
      t.db.execute(sql`
        update agent_heartbeats h set last_seen = ${new Date(at)}, connected = ${false}
        from agent_rows r where r.agent_id = h.agent_id and r.address = ${`10.0.0.${host}`}`)
    await t.db.execute(sql`update agent_heartbeats set connected = true, last_seen = ${new Date(t.clock.now())}`)
    await seen(t.clock.now() - 71 * hour, 1)
    await t.alerts.watch.silence()
    expect(await eventsOf('0x120013')).toBe(0)
    await seen(t.clock.now() - 73 * hour, 1)
    await t.alerts.watch.silence()
    await t.alerts.watch.silence()
    await t.alerts.run()
    expect(await eventsOf('0x120013')).toBe(1)
    const [notice] = await notices('agentSilent')
    expect(notice).toMatchObject({ count: 1, description: expect.stringContaining('No check-in for 3 days') })
    await seen(t.clock.now(), 1)
    await t.alerts.watch.silence()
    expect(await eventsOf('0x120014')).toBe(1)
    // After a check-in the alert is closed without a person.
    await t.alerts.run()
    expect(await notices('agentSilent')).toEqual([])
    const story = (await (await t.admin()).get(`/prime/webui/systemNotification/notices/${notice?.id}`)).json()
    expect(story.dismissedBy).toBe('system')
    expect(story.history[0]).toMatchObject({ by: 'system', action: 'ended', detail: 'The host checks in again.' })
    await seen(t.clock.now() - 80 * hour, 1)
    await t.alerts.watch.silence()
    await t.alerts.run()
    expect((await notices('agentSilent')).map(({ id, count }) => [id, count])).toEqual([[notice?.id, 2]])
    // An outage: all hosts at once make one alert with their number.
    await t.db.execute(
      sql`update agent_heartbeats set connected = false, last_seen = ${new Date(t.clock.now() - 80 * hour)}`,
    )
    await t.alerts.watch.silence()
    await t.alerts.run()
    expect(await eventsOf('0x120013')).toBe(1_201)
    const alerts = await notices('agentSilent')
    expect(alerts.map(({ entityType, count, hostsCount }) => [entityType, count, hostsCount])).toEqual([
      ['Many', 1_199, 1_199],
      ['Agent', 2, 1],
    ])
    expect(alerts[0]?.title).toBe('1,199 hosts stopped checking in')
    // The link of the alert lists its hosts.
    const listed = await (await t.admin()).get(`/prime/webui/agents?Alert=${alerts[0]?.id}&PageSize=1`)
    expect(listed.json().recordsFiltered).toBe(1_199)
    expect((await (await t.admin()).get('/prime/webui/agents?Alert=x')).statusCode).toBe(400)
  })
})

describe('findings of the insights', () => {
  const host = async (n: number) => {
    const [row] = await t.db.query<{ agent_id: string; host: string }>(
      sql`select r.agent_id, r.host from agent_rows r where r.address = ${`10.0.0.${n}`}`,
    )
    return { uuid: row?.agent_id as string, hostIdentifier: row?.host as string, localIpAddress: '' }
  }
  let rare: UncommonPeripheral[] | null = []
  let violating: UsableViolation[] = []
  let common = new Map<string, number>()
  const resolved: number[] = []
  const watchers = () => {
    const context = contextOf<AlertsContext>({
      db: t.db,
      clock: t.clock,
      events: t.events,
      settings: t.settings,
      hint: async () => undefined,
      insights: {
        uncommonNow: async () => rare,
        usableViolations: async () => violating,
        commonOf: async (models: readonly string[]) => new Map([...common].filter(([model]) => models.includes(model))),
      },
    })
    return createWatchers(context, createCases(context, createCasesRead(t.db)), async (_tx, news) => {
      resolved.push(...news.filter((one) => one.news === 'resolved').map(({ alertId }) => alertId))
    })
  }
  const historyOf = async (id: number | undefined) =>
    (await (await t.admin()).get(`/prime/webui/systemNotification/notices/${id}`)).json().history

  it('are reported when they begin, and again when they return', async () => {
    const one = {
      vid: '1D50',
      pid: '60FC',
      guiVid: 'OpenMoko',
      guiPid: 'HackRF',
      devIcon: 98,
      interfaces: 'ff',
    } as UncommonPeripheral
    const tool = { ...one, pid: '60FD', isKnownAttackTool: true }
    rare = [
      { ...one, agents: [await host(5)] },
      { ...tool, agents: [await host(5)] },
    ]
    await watchers().uncommon()
    await watchers().uncommon()
    expect(await eventsOf('0x110013')).toBe(1)
    rare = [{ ...one, agents: [await host(5), await host(6)] }]
    await watchers().uncommon()
    expect(await eventsOf('0x110013')).toBe(2)
    // Too few hosts for this insight: nothing is forgotten.
    rare = null
    await watchers().uncommon()
    rare = [{ ...one, agents: [await host(5)] }]
    await watchers().uncommon()
    expect(await eventsOf('0x110013')).toBe(2)
    rare = [{ ...one, agents: [await host(5), await host(6)] }]
    await watchers().uncommon()
    expect(await eventsOf('0x110013')).toBe(3)
    await t.alerts.run()
    expect(await notices('uncommon')).toMatchObject([
      {
        count: 3,
        entityType: 'Model',
        entityId: '1D50:60FC',
        title: 'OpenMoko HackRF (uncommon) on 2 hosts',
      },
    ])
    // The alert ends when the model is common, and not when the device was only unplugged.
    const [alert] = await notices('uncommon')
    rare = []
    await watchers().uncommon()
    expect(await notices('uncommon')).toHaveLength(1)
    common = new Map([['1D50:60FC', 1_200]])
    await watchers().uncommon()
    await watchers().uncommon()
    expect(await notices('uncommon')).toEqual([])
    expect(resolved).toEqual([alert?.id])
    expect((await historyOf(alert?.id))[0]).toMatchObject({
      by: 'system',
      action: 'ended',
      detail: 'The model is no longer uncommon: 1,200 hosts have it.',
    })
    expect(await eventsOf('0x130033')).toBe(1)
    // A rare shape of a common model is still uncommon.
    rare = [{ ...one, agents: [await host(5)] }]
    await watchers().uncommon()
    await t.alerts.run()
    expect(await notices('uncommon')).toMatchObject([{ id: alert?.id, state: 'open', count: 4 }])
  })

  it('about the allowlist are reported when they last, one alert per model', async () => {
    const one = async (n: number, serial: string): Promise<UsableViolation> => ({
      agentId: (await host(n)).uuid,
      deviceId: `USB\\VID_0781&PID_5567\\${serial}`,
      vid: '0781',
      pid: '5567',
      serial,
      vendor: 'SanDisk',
      product: 'Cruzer',
      icon: 3,
      isDue: false,
    })
    violating = [await one(7, 'A1'), await one(7, 'B2'), await one(8, 'C3')]
    await watchers().violations()
    await t.alerts.run()
    expect(await notices('whitelistViolation')).toEqual([])
    // One of them was blocked in the meantime.
    t.clock.advance(91_000)
    violating = violating.slice(0, 2)
    await watchers().violations()
    await watchers().violations()
    await t.alerts.run()
    const hostIdentifier = cleanText((await host(7)).hostIdentifier, 200)
    expect(await notices('whitelistViolation')).toMatchObject([
      {
        count: 2,
        entityId: '0781:5567',
        title: `SanDisk Cruzer (not on the allowlist) on ${hostIdentifier}`,
        hosts: [{ hostIdentifier }],
      },
    ])
    // A host that must fetch its policy is not forgotten, and a new finding waits until the host has the policy.
    const events = await eventsOf('0x110014')
    const due = { ...(await one(9, 'D4')), isDue: true }
    violating = [...violating.map((known) => ({ ...known, isDue: true })), due]
    for (let i = 0; i < 3; i++) {
      await watchers().violations()
      t.clock.advance(91_000)
    }
    violating = violating.map((known) => ({ ...known, isDue: false }))
    t.clock.advance(-91_000)
    await watchers().violations()
    expect(await eventsOf('0x110014')).toBe(events)
    t.clock.advance(91_000)
    await watchers().violations()
    expect(await eventsOf('0x110014')).toBe(events + 1)
  })

  it('come from the real insights without errors', async () => {
    await t.alerts.watch.uncommon()
    const [violation] = await notices('whitelistViolation')
    await t.alerts.watch.violations()
    expect(await notices('whitelistViolation')).toEqual([])
    expect((await historyOf(violation?.id))[0]).toMatchObject({ action: 'ended' })
  })
})
