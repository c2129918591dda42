import type { DeviceReport } from '@portcullis/contract'
import { createAttackTools, type GenuineRow, parseReport } from '@portcullis/domain'
import { buildDevice, type DeviceSpec } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { judge } from './knowledge-data.ts'

const boot = (packet: number) => ({
  code: '03:01:01',
  endpoints: [{ address: 0x81, maxPacketSize: packet, interval: 10 }],
})
const genuine: DeviceSpec = {
  vid: 'AAA1',
  pid: '0001',
  bcdDevice: '0110',
  maxPacketSize0: 8,
  maxPowerMa: 100,
  speedMbps: 1.5,
  manufacturer: 'Maker',
  product: 'Keys',
  interfaces: [boot(8), '03:00:00'],
}
const row: GenuineRow = {
  vid: 'AAA1',
  pid: '0001',
  name: 'Maker Keys',
  classes: ['03'],
  interfaceSets: ['03:00:00 03:01:01'],
  serial: 'never',
  maxSpeedMbps: 12,
  ep0: [8],
  bcdMajor: ['01'],
  bcd: ['0110'],
  powerMa: [100],
  bootPacket: [8],
  manufacturer: '^Maker$',
  product: '^Keys$',
  samples: 5,
  source: 'our own',
}
const findingOf = (change: Partial<DeviceSpec>, of: Partial<GenuineRow> = {}) => {
  const report = buildDevice({ ...genuine, ...change })
  return createAttackTools([], [{ ...row, ...of }]).assess({ parsed: parseReport(report), report, kinds: [] }).finding
}

describe('a device compared with the genuine product that has its VID and PID', () => {
  it.each<[string, Partial<DeviceSpec>, string | null]>([
    ['is the same', {}, null],
    ['has another name', { product: 'Keys 2' }, null],
    ['has another revision', { bcdDevice: '0120' }, null],
    ['is an unknown revision with another set of interfaces', { bcdDevice: '0120', interfaces: [boot(8)] }, null],
    ['is a known revision with another set of interfaces', { interfaces: [boot(8)] }, 'suspected'],
    [
      'is an unknown revision that differs in more than that',
      { bcdDevice: '0120', interfaces: [boot(8)], maxPowerMa: 500 },
      'suspected',
    ],
    ['differs in two small ways', { product: 'Keys 2', maxPowerMa: 500 }, null],
    [
      'differs in three small ways',
      { product: 'Keys 2', maxPowerMa: 500, interfaces: [boot(16), '03:00:00'] },
      'suspected',
    ],
    ['has a serial number and runs too fast', { serial: 'A', speedMbps: 480 }, 'confirmed'],
    ['stores and has a serial number', { serial: 'A', interfaces: [boot(8), '03:00:00', '08:06:50'] }, 'confirmed'],
  ])('%s', (_, change, level) => {
    expect(findingOf(change)?.level ?? null).toBe(level)
  })

  it('reports the number of differing fields and lists them', () => {
    const finding = findingOf({ interfaces: [boot(8)] })
    expect(finding?.name).toBe('Differs from genuine Maker Keys (1 of 9 fields)')
    expect(finding?.evidence).toEqual(['interfaces are 03:01:01 instead of 03:00:00 03:01:01'])
    expect(findingOf({ serial: 'A', speedMbps: 480 })?.name).toBe('Imitation of Maker Keys')
  })

  it('has a lower level for an unknown revision if few devices were recorded', () => {
    const change = { bcdDevice: '0120', serial: 'A', speedMbps: 480 }
    expect(findingOf(change)?.level).toBe('confirmed')
    expect(findingOf(change, { samples: 2 })?.level).toBe('suspected')
    expect(findingOf({ bcdDevice: '0120', interfaces: [boot(8)], maxPowerMa: 500 }, { samples: 2 })).toBeNull()
  })
})

describe('a keyboard from a hobby USB stack', () => {
  const stack = (spec: Partial<DeviceSpec>): DeviceReport =>
    buildDevice({ vid: '1234', pid: '0001', bcdDevice: '0100', speedMbps: 12, ...spec })
  const out = { address: 0x01, maxPacketSize: 8, interval: 4 }
  const inward = (packet: number) => ({ address: 0x81, maxPacketSize: packet, interval: 4 })
  const keyboard = (...endpoints: object[]) => ({ code: '03:01:01', endpoints: endpoints as never })

  it.each<[string, DeviceReport]>([
    ['a Linux gadget at high speed', stack({ speedMbps: 480, interfaces: [keyboard(inward(8), out)] })],
    ['one with the packets of TinyUSB', stack({ maxPowerMa: 100, interfaces: [keyboard(inward(16))] })],
    [
      'one that is nameless, self-powered and has long packets',
      stack({ selfPowered: true, maxPowerMa: 500, bcdDevice: '2400', interfaces: [keyboard(inward(16))] }),
    ],
    ['one with a name of one letter', stack({ manufacturer: 'a', product: 'b', interfaces: [keyboard(inward(8))] })],
    [
      'one that names its stack',
      stack({ manufacturer: 'LeafLabs', product: 'Maple', interfaces: [keyboard(inward(8))] }),
    ],
  ])('is %s', (_, report) => {
    expect(judge(report).attackTool).toMatchObject({ level: 'suspected', name: 'Keyboard from a hobby USB stack' })
  })

  it.each<[string, DeviceReport]>([
    [
      'of a maker of mechanical keyboards',
      stack({ vid: '3434', product: 'Keychron K2', interfaces: [keyboard(inward(16), out)] }),
    ],
    ['that names its firmware', stack({ manufacturer: 'QMK', interfaces: [keyboard(inward(16), out)] })],
    [
      'of an office',
      stack({
        bcdDevice: '0110',
        maxPacketSize0: 8,
        speedMbps: 1.5,
        product: 'USB Keyboard',
        interfaces: [boot(8), '03:00:00'],
      }),
    ],
    ['with common habits only', stack({ maxPowerMa: 500, interfaces: [keyboard(inward(8))] })],
    ['inside the host', stack({ removable: 'fixed', speedMbps: 480, interfaces: [keyboard(inward(8), out)] })],
  ])('is not detected %s', (_, report) => {
    expect(judge(report).attackTool).toBeNull()
  })

  it('is not reported for a host without endpoint data', () => {
    const report = stack({ maxPacketSize0: 0, bcdUsb: 0, interfaces: [{ code: '03:01:01', endpoints: [] }] })
    expect(judge(report).attackTool).toBeNull()
  })
})
