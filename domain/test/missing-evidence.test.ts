import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { evidenceGaps } from '@portcullis/contract/missing-evidence.ts'
import { hidFunctions, isUsageDescriptor, missingEvidence, parseReport, usageDescriptor } from '@portcullis/domain'
import { buildDevice, type DeviceSpec, networkAdapter, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { syntheticReport } from '../src/platforms/synthetic.ts'
import { windowsReports } from '../src/platforms/windows.ts'
import { evaluate } from './knowledge-data.ts'

const missingOf = (report: DeviceReport) => missingEvidence(parseReport(report), report)
/** Report descriptors with a field: a keyboard and media keys. */
const keyboard = Buffer.from('05010906a101050719e029e715002501750195088102c0', 'hex').toString('base64')
const media = Buffer.from('050c0901a10115002501750195018102c0', 'hex').toString('base64')
const linuxKeyboard = () => plainKeyboard({ reportDescriptors: [keyboard, media] })
/** The same keyboard through its hub on Windows, which returns usages in place of report descriptors. */
const windowsKeyboard = () =>
  plainKeyboard({ reportDescriptors: [usageDescriptor([[1, 6]]), usageDescriptor([[12, 1]])] })
/** The same keyboard on Windows if its hub returns nothing, or as a feed or a poll shows it. */
const nodes = [
  {
    InstanceId: 'USB\\VID_413C&PID_2113\\5&2AB01C3&0&3',
    HardwareID: ['USB\\VID_413C&PID_2113&REV_0110'],
    CompatibleID: ['USB\\DevClass_00&SubClass_00&Prot_00', 'USB\\COMPOSITE'],
    BusReportedDeviceDesc: 'Dell KB216 Wired Keyboard',
  },
  ...['03_SubClass_01&Prot_01', '03_SubClass_00&Prot_00'].map((code, i) => ({
    InstanceId: `USB\\VID_413C&PID_2113&MI_0${i}\\6&1&0&000${i}`,
    CompatibleID: [`USB\\Class_${code.replace('_Sub', '&Sub')}`],
    Parent: 'USB\\VID_413C&PID_2113\\5&2AB01C3&0&3',
  })),
]
const polledKeyboard = () => windowsReports(nodes)[0]?.report as DeviceReport
const verdictOf = (report: DeviceReport) => {
  const { kind, capabilities, attackTool, vulnerabilities } = evaluate(report)
  return { kind, capabilities, attackTool, vulnerabilities }
}

describe('missing evidence', () => {
  it('is empty for a device with readable descriptors', () => {
    for (const report of [linuxKeyboard(), storageStick(), networkAdapter()]) expect(missingOf(report)).toEqual([])
  })

  it('is the only difference between the verdicts of one keyboard on Linux and on Windows', () => {
    expect(verdictOf(windowsKeyboard())).toEqual(verdictOf(linuxKeyboard()))
    expect(verdictOf(polledKeyboard())).toEqual(verdictOf(linuxKeyboard()))
    expect(missingOf(linuxKeyboard())).toEqual([])
    expect(missingOf(windowsKeyboard())).toEqual(['report-descriptors'])
    expect(missingOf(polledKeyboard())).toEqual(Object.keys(evidenceGaps))
  })

  it('names the evidence that macOS does not return', () => {
    const said = { portPath: '1-1', vid: 0x0781, pid: 0x5581, bcdDevice: 1, manufacturer: 'SanDisk', product: 'Ultra' }
    const report = syntheticReport({ ...said, speedMbps: 480, removable: 'removable' })
    expect(missingOf(report)).toEqual(['descriptors', 'strings'])
  })

  it('names the report descriptors and the configuration of a device that Linux blocked', () => {
    const {
      configuration: _,
      reportDescriptors: __,
      ...blocked
    } = plainKeyboard({
      ...{ configuration: 'Default', reportDescriptors: [keyboard, media], authorized: false },
    })
    expect(missingOf(blocked)).toEqual(['report-descriptors', 'strings'])
    expect(missingOf(plainKeyboard({ reportDescriptors: [keyboard] }))).toEqual(['report-descriptors'])
  })

  it('names a string that the device declares but the host did not return', () => {
    for (const name of ['manufacturer', 'product'] as const) {
      const { [name]: _, ...report } = storageStick()
      expect(missingOf(report)).toEqual(['strings'])
      expect(missingOf({ ...report, [name]: ' \u0000 ' })).toEqual(['strings'])
    }
    expect(missingOf(buildDevice({ vid: '1234', pid: '5678', speedMbps: 12, interfaces: ['08:06:50'] }))).toEqual([])
  })

  it('names incomplete descriptors, whatever the device sends', () => {
    const bytes = Buffer.from(storageStick().descriptors, 'base64')
    for (const part of [bytes.subarray(0, 18), bytes.subarray(0, 30), Buffer.alloc(0)])
      expect(missingOf({ ...storageStick(), descriptors: part.toString('base64') })).toContain('descriptors')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(fc.base64String(), { maxLength: 3 }), (raw, hid) => {
        const found = missingOf({
          ...{ portPath: '1-1', descriptors: Buffer.from(raw).toString('base64'), reportDescriptors: hid },
        })
        expect(Object.keys(evidenceGaps).filter((gap) => found.some((one) => one === gap))).toEqual(found)
      }),
    )
  })

  it('does not depend on the port, serial number or state, which differ among devices that share a verdict', () => {
    const change: fc.Arbitrary<Partial<DeviceSpec>> = fc.record({
      portPath: fc.constantFrom('1-1', '2-3.4'),
      serial: fc.constantFrom('1', 'ABC'),
      authorized: fc.boolean(),
    })
    fc.assert(
      fc.property(
        fc.constantFrom(linuxKeyboard, windowsKeyboard, polledKeyboard, storageStick),
        change,
        (of, other) => {
          const { serial: _, ...report } = of()
          expect(missingOf({ ...report, ...other } as DeviceReport)).toEqual(missingOf(report))
        },
      ),
    )
  })
})

describe('a report descriptor of usages only', () => {
  it('declares its usages and is recognised', () => {
    const text = usageDescriptor([
      [1, 6],
      [0xf1d0, 1],
    ])
    expect(hidFunctions(Buffer.from(text, 'base64'))).toMatchObject({ keyboard: true, fido: true, mouse: false })
    const longer = Buffer.concat([Buffer.from(text, 'base64'), Buffer.from(media, 'base64')]).toString('base64')
    expect([text, longer, media, ''].map(isUsageDescriptor)).toEqual([true, false, false, false])
  })
})
