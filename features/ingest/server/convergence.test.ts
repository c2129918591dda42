import {
  hub,
  plainKeyboard,
  plainMouse,
  rubberDucky,
  storageStick,
  unifyingReceiver1207,
} from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attachmentKinds, type CheckInRequest, type DeviceReport, eventCatalogue } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const makes: ((portPath: string) => DeviceReport)[] = [
  (portPath) => plainKeyboard({ portPath }),
  // Other fingerprints of the same model: another revision with the same shape, and one with more functions.
  (portPath) => plainKeyboard({ portPath, bcdDevice: '0200' }),
  (portPath) => plainKeyboard({ portPath, interfaces: ['03:01:01', '03:00:00', '03:00:00', '0a:00:00'] }),
  (portPath) => plainMouse({ portPath }),
  (portPath) => hub({ portPath }),
  (portPath) => rubberDucky({ portPath }),
  (portPath) => unifyingReceiver1207({ portPath }),
  // Two sticks with the same serial number are common: cheap ones share it.
  (portPath) => storageStick({ portPath, serial: 'S1' }),
  (portPath) => storageStick({ portPath, serial: 'S1', authorized: false }),
  (portPath) => storageStick({ portPath, serial: 'S2' }),
]

const port = fc.constantFrom('1-1', '1-2', '2-1', '2-1.1')
const step = fc.record({
  change: fc.oneof(
    fc.record({ make: fc.constantFrom(...makes), portPath: port }).map(({ make, portPath }) => make(portPath)),
    port,
  ),
  /** How often the report is sent. */
  times: fc.constantFrom(1, 1, 1, 2, 3),
  /** Sent again after this many later reports. */
  lateBy: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 4 }),
})

const apply = (agent: TestAgent, change: DeviceReport | string): CheckInRequest => {
  if (typeof change === 'string') {
    agent.devices.delete(change)
    return agent.body({ changes: [{ op: 'removed', at: 1, portPath: change }] })
  }
  agent.devices.set(change.portPath, change)
  return agent.body({ changes: [{ op: 'attached', at: 1, device: change }] })
}

const shown = async (agent: TestAgent) =>
  (await agent.peripherals()).map(({ deviceID, hierarchy, present, isDisabled, serialNumber, vid, pid, severity }) => ({
    deviceID,
    hierarchy,
    present,
    isDisabled,
    serialNumber,
    vid,
    pid,
    severity,
  }))

const summary = async (agent: TestAgent) => {
  const { severity, approvedAndPresent, approvedAndDisconnected, hasKnownAttackTools, riskScore } = await agent.detail()
  return { severity, approvedAndPresent, approvedAndDisconnected, hasKnownAttackTools, riskScore }
}

/** Compares the stored counters with a recount; returns the rows that differ. */
const drift = () =>
  t.server.db.query(sql`
    with n as (
      select d.model_id, d.shape_id, d.design_id, count(distinct p.agent_id) as hosts, count(*) as devices
      from peripherals p join designs d on d.design_id = p.design_id
      where p.present group by grouping sets (d.model_id, d.shape_id, d.design_id)),
    c as (
      select 'model' as what, m.model_id as id, m.hosts, m.devices from models m
      union all select 'shape', s.shape_id, s.hosts, s.devices from shapes s
      union all select 'design', d.design_id, coalesce(x.hosts, 0), coalesce(x.devices, 0)
        from designs d left join design_counts x on x.design_id = d.design_id)
    select c.*, n.hosts as true_hosts, n.devices as true_devices from c
      left join n on c.id = case c.what when 'model' then n.model_id when 'shape' then n.shape_id else n.design_id end
    where (c.hosts, c.devices) is distinct from (coalesce(n.hosts, 0)::int, coalesce(n.devices, 0)::int)`)

const arrivals = new Set<string>(attachmentKinds.map((kind) => eventCatalogue[kind].code))

describe('a host that attaches and detaches devices', () => {
  it('ends in the correct state, whatever was repeated or late', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const [clean, noisy] = await Promise.all([enrolAgent(t), enrolAgent(t)])
        const late: { at: number; request: CheckInRequest }[] = []
        for (const [i, { change, times, lateBy }] of steps.entries()) {
          expect((await clean.post(apply(clean, change))).status).toBe(200)
          const request = apply(noisy, change)
          for (const answer of await Promise.all(Array.from({ length: times }, () => noisy.post(request))))
            expect(answer.status, answer.text).toBe(200)
          if (lateBy !== null) late.push({ at: i + lateBy, request })
          for (const { at, request } of late) if (at === i) expect((await noisy.post(request)).status).toBe(200)
        }
        expect(await noisy.checkIn()).toEqual({ nextCheckInSeconds: 60 })
        expect(await shown(noisy)).toEqual(await shown(clean))
        expect(await summary(noisy)).toEqual(await summary(clean))
        if (steps.length % 3 === 0) {
          await (await t.admin()).post('/prime/webui/agents/deleteAgents', [noisy.agentId])
          expect(await drift()).toEqual([])
          return
        }
        // Whether a device moved between the two hosts depends on the order of their reports.
        const texts = async (agent: TestAgent) =>
          (await agent.events()).map((e) => [
            arrivals.has(e.eventCode) ? 'attached' : e.eventCode,
            e.details.replace(/PC-\w+/, 'PC').replace(/: last attached to .*/, ''),
          ])
        expect(await texts(noisy)).toEqual(await texts(clean))
        expect(await drift()).toEqual([])
      }),
      { numRuns: 25 },
    )
  })

  it('ends in the correct state after losses, because the server requests the inventory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 10 }), async (steps) => {
        const agent = await enrolAgent(t)
        for (const [{ change }, isLost] of steps) {
          const request = apply(agent, change)
          if (!isLost) expect((await agent.post(request)).status).toBe(200)
        }
        const answer = await agent.checkIn()
        if (answer.needInventory === true) expect(await agent.inventory()).toEqual({ nextCheckInSeconds: 60 })
        const rows = (await shown(agent)).filter((row) => row.present)
        expect(rows.map((row) => [row.hierarchy, row.serialNumber, row.isDisabled]).sort()).toEqual(
          [...agent.devices.values()].map((d) => [d.portPath, d.serial ?? '', d.authorized === false]).sort(),
        )
        expect(await drift()).toEqual([])
      }),
      { numRuns: 25 },
    )
  })

  it('shows two identical sticks, and distinguishes them when one is detached', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick(), storageStick({ portPath: '1-2' })] })
    const id = 'USB\\VID_0781&PID_5581\\4C530001230615112345'
    expect((await shown(agent)).map((row) => row.deviceID)).toEqual([id, `${id}&1-2`])
    await agent.unplug('1-1')
    expect((await shown(agent)).map((row) => [row.deviceID, row.present])).toEqual([
      [id, false],
      [`${id}&1-2`, true],
    ])
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
  })

  it('treats a device at another port as detached and attached', async () => {
    const agent = await enrolAgent(t, { devices: [hub({ portPath: '1-1' }), storageStick({ portPath: '1-1.2' })] })
    expect((await agent.peripherals())[0]?.parentDeviceID).toBe('USB\\VID_0BDA&PID_5411\\1-1')
    await agent.unplug('1-1.2')
    await agent.plug(storageStick({ portPath: '1-3' }))
    const [stick] = await agent.peripherals()
    expect([stick?.hierarchy, stick?.parentDeviceID, stick?.present]).toEqual(['1-3', null, true])
    expect(await drift()).toEqual([])
  })
})
