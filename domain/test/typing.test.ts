import { describe, expect, it } from 'vitest'
import { createAttackTools } from '../src/attack-tools.ts'
import { type AttackToolRow, classify, type Kind, parseReport } from '../src/index.ts'
import { buildDevice, type DeviceSpec, type InterfaceSpec } from '../src/testing.ts'
import { areEnough, canType, marksOf } from '../src/typing.ts'

const keys = Buffer.from(
  '05010906a101050719e029e71500250175019508810295017508810395067508150025650507190029658100c0',
  'hex',
).toString('base64')
const pointer = Buffer.from('05010902a1010901a1000930093115812 57f750895028106c0c0'.replace(' ', ''), 'hex').toString(
  'base64',
)
const inward = { address: 0x81, maxPacketSize: 8 }
const outward = { address: 0x01, maxPacketSize: 8 }
const boot = (...endpoints: object[]): InterfaceSpec => ({ code: '03:01:01', endpoints: endpoints as never })
const plain = (...endpoints: object[]): InterfaceSpec => ({ code: '03:00:00', endpoints: endpoints as never })
const reportOf = (spec: Partial<DeviceSpec>) =>
  buildDevice({ vid: '4321', pid: '0010', manufacturer: 'Maker', product: 'Keys', speedMbps: 12, ...spec })
const subjectOf = (spec: Partial<DeviceSpec>) => {
  const report = reportOf(spec)
  const parsed = parseReport(report)
  return { parsed, report, kinds: classify(parsed, report).kinds }
}

const leonardo: AttackToolRow = {
  ...{ id: 'r', group: 'board', vid: '2341', pid: '8036' },
  ...{ name: 'Arduino Leonardo', kind: 'k', source: 'src' },
}
const tools = createAttackTools([{ ...leonardo, group: 'policy', name: 'Other' }, leonardo], [])
const findingOf = (spec: Partial<DeviceSpec>) => tools.assess(subjectOf(spec)).finding

describe('a device can type', () => {
  it.each<[string, Partial<DeviceSpec>, boolean]>([
    ['as a boot keyboard', { interfaces: ['03:01:01'] }, true],
    ['by keyboard items in its report descriptor', { interfaces: ['03:00:00'], reportDescriptors: [keys] }, true],
    [
      'by them at one of two interfaces',
      { interfaces: ['03:01:02', '03:00:00'], reportDescriptors: [pointer, keys] },
      true,
    ],
    ['not by the protocol without the boot subclass', { interfaces: ['03:00:01'] }, false],
    ['not by another report descriptor', { interfaces: ['03:00:01'], reportDescriptors: [pointer] }, false],
    ['not by its name', { interfaces: ['03:00:00'], product: 'USB Keyboard' }, false],
    ['not as a boot mouse', { interfaces: ['03:01:02'] }, false],
    ['not by the numbers of another class', { interfaces: ['ff:01:01'] }, false],
  ])('%s', (_, spec, is) => {
    expect(canType(subjectOf(spec))).toBe(is)
  })
})

describe('a keyboard built like a development board', () => {
  const asleep = { remoteWakeup: false }
  const typing = { reportDescriptors: [keys] }
  const [cannotWake, hasPower] = [
    'it cannot wake the host, as nearly all keyboards can',
    'it claims to have its own power supply',
  ]
  const [isOut, isFast] = ['its keyboard has an output endpoint', 'it does so at high speed, as Linux gadgets do']
  const notBoot = 'its only HID interface is not a boot keyboard'
  const grouped = 'it is a composite device with grouped interfaces'
  const serialPort = 'it combines a keyboard and a serial port'
  const serial: InterfaceSpec[] = ['02:02:01', '0a:00:00']
  it.each<[string, Partial<DeviceSpec>, string[]]>([
    [
      'that cannot wake the host and has its own power',
      { ...asleep, selfPowered: true, interfaces: [boot(inward)] },
      [cannotWake, hasPower],
    ],
    [
      'that cannot wake the host, with an output endpoint',
      { ...asleep, interfaces: [boot(inward, outward)] },
      [cannotWake, isOut],
    ],
    [
      'with an output endpoint at the second keyboard',
      { ...asleep, interfaces: [boot(inward), boot(inward, outward)] },
      [cannotWake, isOut],
    ],
    [
      'that cannot wake the host and is not a boot keyboard',
      { ...asleep, ...typing, interfaces: [plain(inward)] },
      [cannotWake, notBoot],
    ],
    [
      'that cannot wake the host, with grouped interfaces',
      { ...asleep, deviceCode: 'ef:02:01', interfaces: [boot(inward)] },
      [cannotWake, grouped],
    ],
    [
      'that cannot wake the host, with a serial port',
      { ...asleep, interfaces: [boot(inward), ...serial] },
      [cannotWake, serialPort],
    ],
    [
      'at high speed, with an output endpoint',
      { speedMbps: 480, interfaces: [boot(inward, outward)] },
      [isOut, isFast],
    ],
    [
      'with grouped interfaces, a serial port and no boot keyboard',
      { ...typing, deviceCode: 'ef:02:01', remoteWakeup: true, interfaces: [...serial, plain(inward)] },
      [notBoot, grouped, serialPort],
    ],
  ])('is suspected: %s', (_, spec, evidence) => {
    expect(areEnough(marksOf(subjectOf(spec)))).toBe(true)
    expect(findingOf(spec)).toEqual({
      ...{ level: 'suspected', name: 'Keyboard built like a development board', evidence },
      source: 'structure of the descriptors',
    })
  })

  it.each<[string, Partial<DeviceSpec>, string[]]>([
    ['an output endpoint of another type', { interfaces: [boot(inward, { ...outward, attributes: 2 })] }, [cannotWake]],
    ['a second input endpoint', { interfaces: [boot(inward, { ...inward, address: 0x80 })] }, [cannotWake]],
    ['an output endpoint of unknown speed', { speedMbps: undefined as never }, [cannotWake, isOut]],
    ['its own power, if it can wake the host', { remoteWakeup: true, selfPowered: true }, [isOut]],
    [
      'two HID interfaces that are no boot keyboards',
      { ...typing, interfaces: [plain(inward), plain(inward)] },
      [cannotWake],
    ],
    ['a network port', { interfaces: [boot(inward), '02:06:00', '0a:00:00'] }, [cannotWake]],
    ['its own interface with the numbers of a serial port', { interfaces: [boot(inward), 'ff:02:01'] }, [cannotWake]],
  ])('has no mark for %s', (_, spec, evidence) => {
    const marks = marksOf(subjectOf({ ...asleep, interfaces: [boot(inward, outward)], ...spec }))
    expect(marks.map((mark) => mark.evidence)).toEqual(evidence)
  })

  it('is named after the board that has its ids', () => {
    const { vid, pid } = leonardo as { vid: string; pid: string }
    const spec = { vid, pid, deviceCode: 'ef:02:01', remoteWakeup: true, ...typing }
    expect(findingOf({ ...spec, interfaces: [...serial, plain(inward)] })).toEqual({
      ...{ level: 'suspected', name: 'Arduino Leonardo, acting as a keyboard' },
      ...{ evidence: [notBoot, grouped, serialPort], source: 'structure of the descriptors' },
    })
  })

  it('combined with a disk is confirmed, unless its ids are those of a board', () => {
    const gadget = { ...asleep, interfaces: [boot(inward, outward), '08:06:50'] }
    expect(findingOf(gadget)).toMatchObject({
      level: 'confirmed',
      name: 'Keyboard with mass storage',
    })
    expect(findingOf({ ...gadget, vid: '239A' })?.level).toBe('suspected')
    expect(findingOf({ interfaces: ['03:01:01', '08:06:50'] })?.level).toBe('suspected')
  })

  const sure = { ...asleep, selfPowered: true, interfaces: [boot(inward, outward)] }
  it.each<[string, Partial<DeviceSpec>]>([
    ['an office keyboard', { interfaces: ['03:01:01', '03:00:00'] }],
    ['one at high speed, as in a virtual machine', { speedMbps: 480, interfaces: ['03:01:01'] }],
    ['one that only has an output endpoint', { interfaces: [boot(inward, outward), '03:00:00'] }],
    ['a card reader that types and cannot wake the host', { ...asleep, interfaces: ['03:01:01'] }],
    ['one inside the host', { ...sure, removable: 'fixed' }],
    ['the controller of a server', { ...sure, manufacturer: 'OpenBMC', product: 'virtual_input' }],
    ['a security key', { ...sure, vid: '1050', pid: '0407' }],
    [
      'a security key by its report descriptor',
      { ...sure, interfaces: [...sure.interfaces, '03:00:00'], reportDescriptors: [keys, 'BtDxCQGhAcA='] },
    ],
    ['a tablet', { ...sure, vid: '256C' }],
    ['a camera with a button', { ...sure, speedMbps: 480, interfaces: ['0e:01:00', '0e:02:00', ...sure.interfaces] }],
    ['a headset', { ...sure, interfaces: ['01:01:00', '01:02:00', ...sure.interfaces] }],
    ['a wireless adapter', { ...sure, interfaces: ['e0:01:01', ...sure.interfaces] }],
    ['a card reader for smart cards', { ...sure, interfaces: ['0b:00:00', ...sure.interfaces] }],
    ['a keyboard with firmware of the community', { ...sure, vid: '1D50', manufacturer: 'ZMK Project' }],
    ['a pad on a chip vendor id', { ...sure, vid: '239A', product: 'Macropad RP2040' }],
    ['what cannot type', { ...sure, interfaces: ['03:01:02'] }],
  ])('is not %s', (_, spec) => {
    expect(marksOf(subjectOf({ ...sure, vid: '239A', product: 'Board' }))).not.toEqual([])
    expect(findingOf(spec)).toBeNull()
  })

  it.each<Kind>([
    ...(['Hub', 'Audio', 'Video', 'Wireless', 'Smart Card', 'Security Key', 'Tablet', 'Touchscreen'] as const),
    ...(['Game Controller', 'Barcode Scanner', 'Modem'] as const),
  ])('is not a keyboard with another function: %s', (kind) => {
    const subject = subjectOf(sure)
    expect(marksOf({ ...subject, kinds: ['Keyboard', kind] })).toEqual([])
    expect(marksOf({ ...subject, kinds: ['Keyboard'] })).not.toEqual([])
  })

  it('does not depend on the speed of the port', () => {
    const at = (speedMbps: number, bcdUsb: number, maxPacketSize0: number, maxPowerMa: number) =>
      findingOf({
        ...{ ...sure, speedMbps, bcdUsb, maxPacketSize0, maxPowerMa },
        interfaces: [boot({ ...inward, maxPacketSize: maxPacketSize0 })],
      })
    expect(at(12, 0x0110, 8, 100)).toEqual(at(12, 0x0210, 64, 500))
    expect(at(12, 0x0110, 8, 100)?.level).toBe('suspected')
  })

  it('is not suspected because of truncated descriptors', () => {
    const subject = subjectOf(sure)
    expect(marksOf(subject)).not.toEqual([])
    expect(marksOf({ ...subject, parsed: { ...subject.parsed, isComplete: false } })).toEqual([])
  })
})
