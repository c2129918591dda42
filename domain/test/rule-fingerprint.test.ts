import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { parseReport, policyDevice, ruleMatches } from '@portcullis/domain'
import { buildDevice, storageStick, webcam } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const of = (report: DeviceReport) => policyDevice(parseReport(report), report, null)
const print = (report: DeviceReport): string => of(report).ruleFingerprint

/** Interface and endpoint descriptors of a disk at a port of one speed; `uas`: with the second alternate setting. */
const disk = (isSuper: boolean, uas: boolean, more: readonly number[] = []): DeviceReport => {
  const size = isSuper ? [0x00, 0x04] : [0x00, 0x02]
  const companion = isSuper ? [6, 0x30, 15, 0, 0, 0] : []
  const pair = [7, 5, 0x81, 2, ...size, 0, ...companion, 7, 5, 0x02, 2, ...size, 0, ...companion]
  const body = [9, 4, 0, 0, 2, 8, 6, 0x50, 0, ...pair, ...(uas ? [9, 4, 0, 1, 2, 8, 6, 0x62, 0, ...pair] : []), ...more]
  const bytes = [
    ...[
      18,
      1,
      isSuper ? 0x20 : 0x10,
      isSuper ? 3 : 2,
      0,
      0,
      0,
      isSuper ? 9 : 64,
      0x6d,
      0x15,
      0x61,
      0x05,
      0x02,
      0x01,
      1,
      2,
      3,
      1,
    ],
    ...[
      9,
      2,
      (9 + body.length) & 255,
      (9 + body.length) >> 8,
      more.length > 0 ? 2 : 1,
      1,
      0,
      0xc0,
      isSuper ? 112 : 250,
    ],
    ...body,
  ]
  return {
    ...{ portPath: isSuper ? '2-1' : '1-4', speedMbps: isSuper ? 5_000 : 480 },
    descriptors: Buffer.from(bytes).toString('base64'),
    ...{ manufacturer: 'Example', product: 'Enclosure USB3.0', serial: 'D1' },
  }
}

describe('the fingerprint of a rule', () => {
  it('is the same at every speed, with other packet sizes, power, transport and firmware', () => {
    const prints = [disk(true, true), disk(true, false), disk(false, true), disk(false, false)].map(print)
    expect(new Set(prints).size).toBe(1)
    const exact = [disk(true, true), disk(false, true)].map((one) => of(one).fingerprintWithoutRevision)
    expect(new Set(exact).size).toBe(2)
    expect(print({ ...disk(false, false), product: 'Enclosure USB2.0' })).toBe(prints[0])
    expect(print({ ...disk(false, false), serial: 'D2' })).toBe(prints[0])
  })

  it('is that of a sound card whose version of the audio class depends on the speed', () => {
    const card = (interfaces: string[]) => buildDevice({ vid: '1234', pid: '0001', product: 'Card', interfaces })
    expect(print(card(['01:01:00', '01:02:00']))).toBe(print(card(['01:01:20', '01:02:20'])))
  })

  it('differs for each property that a rule binds', () => {
    const base = { vid: '1234', pid: '0001', manufacturer: 'M', product: 'P', serial: 'S', interfaces: ['08:06:50'] }
    const { serial: _, ...without } = base
    const prints = [
      base,
      { ...base, vid: '1235' },
      { ...base, pid: '0002' },
      { ...base, manufacturer: 'N' },
      { ...base, product: 'Q' },
      { ...base, manufacturer: 'P', product: 'M' },
      without,
      { ...base, deviceCode: 'ef:02:01' },
      { ...base, interfaces: ['08:06:50', '03:01:01'] },
      { ...base, interfaces: ['08:06:50', '03:01:02'] },
      { ...base, interfaces: ['08:06:50', '02:06:00'] },
      { ...base, interfaces: ['e0:01:01'] },
      { ...base, interfaces: ['e0:01:03'] },
      { ...base, interfaces: ['09:00:00'] },
    ].map((spec) => print(buildDevice(spec)))
    expect(new Set(prints).size).toBe(prints.length)
  })

  it('covers every byte of descriptors that cannot be read to their end', () => {
    const cut = (n: number) => {
      const report = disk(false, true)
      return { ...report, descriptors: Buffer.from(report.descriptors, 'base64').subarray(0, -n).toString('base64') }
    }
    expect(new Set([disk(false, true), cut(1), cut(8), cut(9)].map(print)).size).toBe(4)
  })

  it('does not depend on any byte that the speed decides', () => {
    const report = webcam()
    const parsed = parseReport(report)
    expect(parsed.isComplete).toBe(true)
    const byte = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(byte, byte, byte, byte, (usb, size, power, interval) => {
        const bytes = Buffer.from(report.descriptors, 'base64')
        bytes[2] = usb
        bytes[7] = size
        for (let at = 18; at < bytes.length; at += bytes[at] as number) {
          if (bytes[at + 1] === 2) bytes[at + 8] = power
          if (bytes[at + 1] === 5) bytes.set([size, power, interval], at + 4)
        }
        expect(print({ ...report, descriptors: bytes.toString('base64'), speedMbps: usb })).toBe(print(report))
      }),
    )
  })

  it('holds together with the one that older agents compare', () => {
    const [fast, slow] = [of(disk(true, true)), of(disk(false, true))]
    const rule = { id: 'r', effect: 'allow', level: 'host', fingerprint: fast.fingerprintWithoutRevision } as const
    expect(ruleMatches(rule, slow)).toBe(false)
    expect(ruleMatches({ ...rule, ruleFingerprint: fast.ruleFingerprint }, slow)).toBe(true)
    const keyboard = of(disk(false, true, [9, 4, 1, 0, 1, 3, 1, 1, 0, 7, 5, 0x83, 3, 8, 0, 10]))
    expect(ruleMatches({ ...rule, ruleFingerprint: fast.ruleFingerprint }, keyboard)).toBe(false)
    // Records of older versions have no such fingerprint.
    const { ruleFingerprint: _, ...old } = of(storageStick())
    expect(ruleMatches(rule, old as typeof slow)).toBe(false)
  })
})
