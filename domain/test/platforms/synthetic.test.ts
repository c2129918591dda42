import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { decide, isSynthetic, type ParsedDescriptors, parseReport, policyDevice } from '@portcullis/domain'
import { plainKeyboard, storageStick, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { type SaidOfDevice, syntheticReport } from '../../src/platforms/synthetic.ts'
import { genuineDevices } from '../genuine-devices.ts'
import { evaluate } from '../knowledge-data.ts'

/** Returns the report of a Mac or Windows host: without descriptors, optionally with interfaces. */
const polled = (report: DeviceReport, interfaces: 'known' | 'unknown'): DeviceReport => {
  const parsed = parseReport(report)
  const { descriptors: _, reportDescriptors: __, configuration: ___, ...rest } = report
  const functions = parsed.configurations[0]?.interfaces.filter((i) => i.alternate === 0) ?? []
  const said: SaidOfDevice = {
    ...rest,
    vid: Number.parseInt(parsed.vid, 16),
    pid: Number.parseInt(parsed.pid, 16),
    bcdDevice: parsed.bcdDevice,
    deviceCode: [parsed.deviceClass, parsed.deviceSubclass, parsed.deviceProtocol],
  }
  if (interfaces === 'known')
    said.interfaces = functions.map((i) => ({ number: i.number, code: [i.class, i.subclass, i.protocol] }))
  return syntheticReport(said)
}

const flipped = (report: DeviceReport, at: number): ParsedDescriptors => {
  const bytes = Buffer.from(report.descriptors, 'base64')
  bytes[at] = 0
  return parseReport({ descriptors: bytes.toString('base64') })
}

describe('synthetic descriptors', () => {
  it('are distinguished from real ones and never complete', () => {
    for (const report of [plainKeyboard(), storageStick(), unifyingReceiver1207()]) {
      expect(isSynthetic(parseReport(report))).toBe(false)
      for (const interfaces of ['known', 'unknown'] as const) {
        const parsed = parseReport(polled(report, interfaces))
        expect(parsed).toMatchObject({ isComplete: false, problems: [], maxPacketSize0: 0 })
        expect(isSynthetic(parsed)).toBe(true)
      }
    }
  })

  it('cannot be imitated by a device with an endpoint', () => {
    const bytes = Buffer.from(plainKeyboard().descriptors, 'base64')
    bytes.fill(0, 2, 4)
    bytes[7] = 0
    const parsed = parseReport({ descriptors: bytes.toString('base64') })
    expect([isSynthetic(parsed), parsed.maxPacketSize0]).toEqual([false, 0])
    expect(isSynthetic(flipped(plainKeyboard(), 7))).toBe(false)
  })

  it('never pass as a hub or match an allow rule by kind', () => {
    const hub = syntheticReport({ portPath: '1-1', vid: 1, pid: 2, bcdDevice: 0, deviceCode: [9, 0, 0] })
    const withInterface = syntheticReport({
      ...{ portPath: '1-1', vid: 1, pid: 2, bcdDevice: 0, deviceCode: [9, 0, 0] },
      interfaces: [{ number: 0, code: [9, 0, 0] }],
    })
    for (const report of [hub, withInterface, polled(storageStick(), 'known')]) {
      const device = policyDevice(parseReport(report), report, null)
      expect(device).toMatchObject({ isHub: false, mayType: true })
      const allow = { id: 'a', effect: 'allow', level: 'global', kinds: ['Hub', 'Mass Storage'] } as const
      expect(decide([{ ...allow, kinds: [...allow.kinds] }], device, 0)).toMatchObject({ effect: 'block' })
    }
  })

  it('still reveal an imitation with an extra function', () => {
    const withStorage = polled(unifyingReceiver1207({ interfaces: ['03:01:01', '03:01:02', '08:06:50'] }), 'known')
    expect(evaluate(withStorage).attackTool).toMatchObject({ level: 'confirmed' })
  })
})

describe('genuine devices', () => {
  it.each(['known', 'unknown'] as const)('are not imitations when polled with interfaces %s', (interfaces) => {
    for (const report of genuineDevices()) {
      const whole = evaluate(report)
      const part = evaluate(polled(report, interfaces))
      expect([part.parsed.vid, part.parsed.pid, part.attackTool]).toEqual([
        ...[whole.parsed.vid, whole.parsed.pid],
        whole.attackTool && expect.objectContaining({ name: whole.attackTool.name }),
      ])
      expect(part.parsed.problems).toEqual([])
    }
  })
})
