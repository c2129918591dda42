import { plainKeyboard, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DeviceReport, SpoofedIdentity } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const spoofed = async (): Promise<SpoofedIdentity[]> => {
  t.clock.advance(1_000)
  const answer = await (await t.admin()).get('/prime/webui/agents/RiskInsights/SpoofedIdentities')
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().data
}
/** A model without genuine descriptors. */
const pid = 'FFF1'
const keyboards = (count: number, bus: number): DeviceReport[] =>
  Array.from({ length: count }, (_, i) => plainKeyboard({ pid, portPath: `${bus}-${i + 1}` }))

describe('spoofed identities', () => {
  it('are suspected if 95 % of at least 20 devices agree, and change no severity of a host', async () => {
    const odd = await enrolAgent(t, {
      devices: [
        plainKeyboard({ pid, portPath: '1-1', interfaces: ['03:01:01', '03:00:00', 'ff:00:00'], maxPowerMa: 500 }),
      ],
    })
    await enrolAgent(t, { devices: keyboards(18, 2) })
    expect(await spoofed()).toEqual([])
    await enrolAgent(t, { devices: keyboards(1, 3) })
    const [row, ...others] = await spoofed()
    expect(others).toEqual([])
    expect(row).toMatchObject({
      level: 'suspected',
      basis: 'consensus',
      vid: '413C',
      pid,
      agentsCount: 1,
      peripheralsCount: 1,
      consensus: { devices: 20, share: 0.95 },
    })
    expect(row?.agents).toEqual([expect.objectContaining({ uuid: odd.agentId })])
    expect(row?.evidence[0]).toContain('19 of 20 devices of 413C:FFF1')
    expect(row?.diff.filter((d) => d.differs)).toEqual([
      { field: 'Interfaces', device: '03:00:00 03:01:01 ff:00:00', expected: '03:00:00 03:01:01', differs: true },
      { field: 'Interface classes', device: '03, ff', expected: '03', differs: true },
      { field: 'Power draw', device: '500 mA', expected: '100 mA', differs: true },
    ])
    expect(await odd.detail()).toMatchObject({ severity: 10, hasKnownAttackTools: false })
    // With a second one of that kind, 19 of 21 are no longer a consensus.
    const second = await enrolAgent(t, {
      devices: [plainKeyboard({ pid, portPath: '1-1', interfaces: ['03:01:01', 'ff:00:00'] })],
    })
    expect(await spoofed()).toEqual([])
    await second.unplug('1-1')
    expect(await spoofed()).toHaveLength(1)
    await odd.unplug('1-1')
    expect(await spoofed()).toEqual([])
  })

  it('are suspected if only one host has a different fingerprint with the same interfaces', async () => {
    const model = { pid: 'FFF2' }
    const usual = Array.from({ length: 20 }, (_, i) => plainKeyboard({ ...model, portPath: `4-${i + 1}` }))
    await enrolAgent(t, { devices: usual })
    const odd = await enrolAgent(t, {
      devices: [plainKeyboard({ ...model, portPath: '1-1', maxPowerMa: 500, bcdDevice: '0190' })],
    })
    // A different revision is not suspicious.
    await enrolAgent(t, { devices: [plainKeyboard({ ...model, portPath: '1-1', bcdDevice: '0190' })] })
    const found = (await spoofed()).filter((row) => row.pid === model.pid)
    expect(found).toMatchObject([{ level: 'suspected', basis: 'consensus', agentsCount: 1 }])
    expect(found[0]?.agents).toEqual([expect.objectContaining({ uuid: odd.agentId })])
    expect(found[0]?.evidence).toEqual(['Power draw: 500 mA; 21 of 22 devices of 413C:FFF2 have 100 mA'])
    // At a port of another speed, a device of the usual kind requests other power.
    const faster = { ...model, portPath: '1-1', maxPowerMa: 896, maxPacketSize0: 9, bcdUsb: 0x0300, speedMbps: 5000 }
    const elsewhere = await enrolAgent(t, { devices: [plainKeyboard(faster)] })
    const suspects = (await spoofed()).filter((row) => row.pid === model.pid).flatMap((row) => row.agents)
    expect(suspects.map(({ uuid }) => uuid)).not.toContain(elsewhere.agentId)
    await odd.unplug('1-1')
    expect((await spoofed()).filter((row) => row.pid === model.pid)).toEqual([])
  })

  it('are confirmed by properties that the genuine product cannot have, shown next to its own', async () => {
    await enrolAgent(t, {
      devices: [
        unifyingReceiver1207({ portPath: '1-1' }),
        unifyingReceiver1207({
          portPath: '1-2',
          serial: '3&1a2b3c4&0&1',
          speedMbps: 480,
          interfaces: ['03:01:01', '03:01:02', '08:06:50'],
        }),
      ],
    })
    const [row, ...others] = await spoofed()
    expect(others).toEqual([])
    expect(row).toMatchObject({ level: 'confirmed', basis: 'genuine', vid: '046D', pid: 'C52B', consensus: null })
    const differences = new Map(row?.diff.filter((d) => d.differs).map((d) => [d.field, [d.device, d.expected]]))
    expect(differences.get('Interface classes')).toEqual(['03, 08', '03'])
    expect(row?.evidence.join('; ')).toContain('mass storage')
  })
})
