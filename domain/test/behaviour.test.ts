import { describe, expect, it } from 'vitest'
import { behaviour as behaviourOf, looksLikeController } from '../src/behaviour.ts'
import { type Kind, parseReport } from '../src/index.ts'
import { buildDevice, type DeviceSpec } from '../src/testing.ts'
import { marksOf } from '../src/typing.ts'

const subjectOf = (spec: Partial<DeviceSpec>, kinds: Kind[] = []) => {
  const report = buildDevice({
    vid: 'AAA1',
    pid: '0010',
    portPath: '1-1',
    interfaces: ['03:01:01', '08:06:50'],
    ...spec,
  })
  return { parsed: parseReport(report), report, kinds }
}
const behaviour = (subject: ReturnType<typeof subjectOf>) => behaviourOf(subject, marksOf(subject))
const typesAndStores: Kind[] = ['Keyboard', 'Mass Storage']

describe('a keyboard with a disk or network', () => {
  const cdOnly = { interfaces: ['03:01:01', '08:02:50'] }
  it.each<[string, Partial<DeviceSpec>, Kind[], level: string | null]>([
    ['of no known maker', {}, typesAndStores, 'suspected'],
    [
      'that cannot wake the host, self-powered',
      { remoteWakeup: false, selfPowered: true },
      typesAndStores,
      'confirmed',
    ],
    ['of a server controller', { product: 'Virtual Media' }, typesAndStores, null],
    ['of a server controller, by its maker', { manufacturer: 'Avocent' }, typesAndStores, null],
    [
      'that only has the name of one',
      { product: 'Virtual Media', removable: 'removable' },
      typesAndStores,
      'suspected',
    ],
    ['inside the host', { removable: 'fixed' }, typesAndStores, null],
    ['that is a tablet', {}, [...typesAndStores, 'Tablet'], null],
    ['of a maker of tablets', { vid: '056A' }, typesAndStores, null],
    ['that says tablet', { product: 'Pen Display' }, typesAndStores, null],
    ['that says digitizer', { product: 'Digitizer' }, typesAndStores, null],
    ['of a maker of tablets, by a name in one word', { manufacturer: 'XPPen' }, typesAndStores, null],
    ['that is a modem by its functions', {}, [...typesAndStores, 'Modem'], null],
    ['of a maker of tablets, by name', { manufacturer: 'HUION' }, typesAndStores, null],
    ['that is an authenticator', { vid: '1050', pid: '0407' }, typesAndStores, null],
    ['that is a modem', { vid: '12D1', pid: '1506' }, typesAndStores, null],
    ['that is a board', { vid: '2341' }, typesAndStores, 'suspected'],
    ['whose disk is a CD-ROM', cdOnly, typesAndStores, null],
    ['with a CD-ROM and a disk', { interfaces: ['03:01:01', '08:02:50', '08:06:50'] }, typesAndStores, 'suspected'],
    ['with a CD-ROM and network', cdOnly, [...typesAndStores, 'Network'], 'suspected'],
    ['with a disk by its name', { interfaces: ['03:01:01'] }, typesAndStores, 'suspected'],
    ['that is a keyboard by its name', { interfaces: ['08:06:50'] }, typesAndStores, null],
    ['of a Mac that may be inside', { vid: '05AC', pid: '8600' }, typesAndStores, null],
    [
      'of a Mac that cannot be inside',
      { vid: '05AC', pid: '8600', removable: 'removable' },
      typesAndStores,
      'suspected',
    ],
  ])('%s', (_, spec, kinds, level) => {
    const text = kinds.includes('Network') ? 'mass storage and network' : 'mass storage'
    const evidence = [`one device combines a keyboard and ${text}`]
    expect(behaviour(subjectOf(spec, kinds))).toEqual(
      level === null ? null : { level, name: `Keyboard with ${text}`, evidence, source: 'behaviour of the device' },
    )
  })

  it.each<[string, Partial<DeviceSpec>, boolean]>([
    ['OpenBMC', { manufacturer: 'OpenBMC', product: 'virtual_input' }, true],
    ['OpenBMC, by product', { product: 'OpenBMC' }, true],
    ['one word', { product: 'VirtualMedia' }, true],
    ['a device without names', {}, false],
    ['a name only both texts together would have', { manufacturer: 'virtual', product: 'keyboard' }, true],
    ['a stick', { manufacturer: 'SanDisk', product: 'Ultra' }, false],
  ])('may be the controller of a server: %s', (_, spec, is) => {
    expect(looksLikeController(subjectOf(spec))).toBe(is)
  })
})

describe('other behaviour', () => {
  const suspected = (name: string, evidence: string) => ({ level: 'suspected', name, evidence: [evidence] })
  const hub: Partial<DeviceSpec> = { deviceCode: '09:00:00', interfaces: ['09:00:00'] }
  const bare = (code: string, ...addresses: number[]) => ({
    code,
    endpoints: addresses.map((address) => ({ address })),
  })
  const falseHub = suspected('False hub', 'claims to be a hub but does not have the descriptors of a hub')
  const root = suspected('False root hub', 'claims to be a root hub but is plugged into a port')
  const bridge = suspected('Keyboard with debug bridge', 'one device combines a keyboard and debug bridge')
  const hidden = (what: string) => ({
    ...{ level: 'confirmed', name: 'Hub with hidden functions' },
    evidence: [`one device combines a hub and ${what}`],
  })
  const mouse = (name: string) => suspected('Input device with mass storage', `named "${name}" but has mass storage`)
  const mouseWith: Kind[] = ['Mouse', 'Mass Storage']
  it.each<[string, Partial<DeviceSpec>, Kind[], object | null]>([
    ['a keyboard', { interfaces: ['03:01:01'] }, ['Keyboard'], null],
    ['a keyboard with a debug bridge', { interfaces: ['03:01:01', 'ff:42:01'] }, ['Keyboard'], bridge],
    ['a debug bridge', { interfaces: ['ff:42:01'] }, ['Phone'], null],
    ['a keyboard with a boot loader', { interfaces: ['03:01:01', 'ff:42:03'] }, ['Keyboard'], null],
    ['a keyboard with another own interface', { interfaces: ['03:01:01', 'ff:41:01'] }, ['Keyboard'], null],
    ['a keyboard with another class', { interfaces: ['03:01:01', 'fe:42:01'] }, ['Keyboard'], null],
    ['a hub', hub, ['Hub'], null],
    ['a hub that types', hub, ['Hub', 'Keyboard'], hidden('keyboard')],
    ['a hub that stores and connects', hub, ['Hub', 'Mass Storage', 'Network'], hidden('mass storage and network')],
    ['a hub with a sound card', hub, ['Hub', 'Audio'], null],
    ['a false hub', { interfaces: ['09:00:00', '01:01:00'] }, ['Hub', 'Audio'], falseHub],
    ['a hub without endpoints', { ...hub, interfaces: [bare('09:00:00')] }, ['Hub'], null],
    [
      'a false hub that acts in one of two configurations',
      { ...hub, interfaces: [bare('09:00:00')], moreConfigurations: [[bare('09:00:00'), bare('01:01:00')]] },
      ['Hub', 'Audio'],
      falseHub,
    ],
    ['a hub with two endpoints', { ...hub, interfaces: [bare('09:00:00', 0x81, 0x82)] }, ['Hub'], falseHub],
    ['a mouse that stores', { product: 'Wireless Receiver' }, mouseWith, mouse('Wireless Receiver')],
    [
      'a mouse that stores, with a long name',
      { product: `mouse ${'x'.repeat(90)}` },
      mouseWith,
      mouse(`mouse ${'x'.repeat(74)}`),
    ],
    ['a disk with a mouse', { product: 'Disk' }, mouseWith, null],
    ['a disk with a mouse, without a name', {}, mouseWith, null],
    ['a mouse', { product: 'Mouse' }, ['Mouse'], null],
    ['a disk called mouse', { product: 'Mouse' }, ['Mass Storage'], null],
    ['a root hub at a port', { vid: '1D6B', pid: '0002', ...hub }, ['Hub'], root],
    ['a root hub', { vid: '1D6B', pid: '0002', portPath: 'usb1', ...hub }, ['Hub'], null],
  ])('%s', (_, spec, kinds, expected) => {
    const interfaces = kinds.includes('Keyboard') ? ['03:01:01'] : ['03:01:02', '08:06:50']
    const found = behaviour(subjectOf({ interfaces, ...spec }, kinds))
    expect(found).toEqual(expected === null ? null : { ...expected, source: 'behaviour of the device' })
  })

  it('does not report a false hub if the descriptors are truncated', () => {
    const subject = subjectOf({ interfaces: ['09:00:00', '01:01:00'] }, ['Hub'])
    expect(behaviour({ ...subject, parsed: { ...subject.parsed, isComplete: false } })).toBeNull()
  })
})
