import { describe, expect, it } from 'vitest'
import { behaviour, looksLikeController } from '../src/behaviour.ts'
import { hobbyKeyboard } from '../src/hobby-stack.ts'
import { type Kind, parseReport } from '../src/index.ts'
import { buildDevice, type DeviceSpec, type InterfaceSpec } from '../src/testing.ts'

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
const typesAndStores: Kind[] = ['Keyboard', 'Mass Storage']

describe('a keyboard with a disk or network', () => {
  const controller = 'server management controllers provide a virtual keyboard and virtual media'
  const fixed = 'the device is built into the host'
  const tablet = 'pen tablets often include a small disk with their driver'
  const key = 'authenticators from this vendor can type and store data'
  const modem = 'modems often include a small disk with their driver'
  const cd = 'its only disk is a CD-ROM, which often contains drivers'
  const cdOnly = { interfaces: ['03:01:01', '08:02:50'] }
  it.each<[string, Partial<DeviceSpec>, Kind[], reason: string | null]>([
    ['of no known maker', {}, typesAndStores, null],
    ['of a server controller', { product: 'Virtual Media' }, typesAndStores, controller],
    ['of a server controller, by its maker', { manufacturer: 'Avocent' }, typesAndStores, controller],
    ['that only has the name of one', { product: 'Virtual Media', removable: 'removable' }, typesAndStores, null],
    ['inside the host', { removable: 'fixed' }, typesAndStores, fixed],
    ['that is a tablet', {}, [...typesAndStores, 'Tablet'], tablet],
    ['of a maker of tablets', { vid: '056A' }, typesAndStores, tablet],
    ['that says tablet', { product: 'Pen Display' }, typesAndStores, tablet],
    ['of a maker of tablets, by name', { manufacturer: 'HUION' }, typesAndStores, tablet],
    ['that says digitizer', { product: 'Digitizer' }, typesAndStores, tablet],
    ['of XPPen', { manufacturer: 'XPPen' }, typesAndStores, tablet],
    ['that is an authenticator', { vid: '1050', pid: '0407' }, typesAndStores, key],
    ['that is a modem', { vid: '12D1', pid: '1506' }, typesAndStores, modem],
    ['that is a board', { vid: '2341' }, typesAndStores, 'developer boards provide a disk for programs'],
    ['whose disk is a CD-ROM', cdOnly, typesAndStores, cd],
    ['with a CD-ROM and a disk', { interfaces: ['08:02:50', '08:06:50'] }, typesAndStores, null],
    ['with a CD-ROM and network', cdOnly, [...typesAndStores, 'Network'], null],
    ['with no disk after all', { interfaces: ['03:01:01'] }, typesAndStores, null],
    [
      'of a Mac that may be inside',
      { vid: '05AC', pid: '8600' },
      typesAndStores,
      'the internal bridge of a Mac combines these functions',
    ],
    ['of a Mac that cannot be inside', { vid: '05AC', pid: '8600', removable: 'removable' }, typesAndStores, null],
  ])('%s', (_, spec, kinds, reason) => {
    const text = kinds.includes('Network') ? 'mass storage and network' : 'mass storage'
    expect(behaviour(subjectOf(spec, kinds))).toEqual({
      level: reason === null ? 'confirmed' : 'suspected',
      name: `Keyboard with ${text}`,
      evidence: [`one device combines a keyboard and ${text}`, ...(reason === null ? [] : [reason])],
      source: 'behaviour of the device',
    })
  })

  it('is not a finding for the bridge chip of a Mac', () => {
    expect(behaviour(subjectOf({ vid: '05AC', pid: '8600', removable: 'fixed' }, typesAndStores))).toBeNull()
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
  const falseHub = suspected('False hub', 'claims to be a hub but does not have the descriptors of a hub')
  const root = suspected('False root hub', 'claims to be a root hub but is plugged into a port')
  const bridge = suspected('Keyboard with a debug bridge', 'one device combines a keyboard and an Android debug bridge')
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
    const found = behaviour(subjectOf(spec, kinds))
    expect(found).toEqual(expected === null ? null : { ...expected, source: 'behaviour of the device' })
  })

  it('does not report a false hub if the descriptors are truncated', () => {
    const subject = subjectOf({ interfaces: ['09:00:00', '01:01:00'] }, ['Hub'])
    expect(behaviour({ ...subject, parsed: { ...subject.parsed, isComplete: false } })).toBeNull()
  })
})

describe('a keyboard from a hobby USB stack', () => {
  const inward = (packet = 8) => ({ address: 0x81, maxPacketSize: packet, interval: 4 })
  const outward = { address: 0x01, maxPacketSize: 8, interval: 4 }
  const keys = (...endpoints: object[]): InterfaceSpec => ({ code: '03:01:01', endpoints: endpoints as never })
  const plain: Partial<DeviceSpec> = {
    ...{ vid: 'AAA1', bcdDevice: '0110', maxPacketSize0: 8, maxPowerMa: 100, speedMbps: 12 },
    ...{ manufacturer: 'Maker', product: 'Keys', interfaces: [keys(inward()), '03:00:00'] },
  }
  const find = (change: Partial<DeviceSpec>, kinds: Kind[] = ['Keyboard']) =>
    hobbyKeyboard(subjectOf({ ...plain, ...change }, kinds))
  const letter = 'its name is a single letter'
  const vendor = (vid: string) => `vendor id ${vid} is common in hobby projects`
  const packets = (n: number) => `its boot keyboard sends packets of ${n} bytes instead of 8`
  const output = 'its boot keyboard has an output endpoint, as in Linux gadgets and LUFA'
  const powered = 'it claims to be self-powered'
  const { manufacturer: _, product: __, ...nameless } = plain

  /** A device with two points for its name, so that one more is enough. */
  const named: Partial<DeviceSpec> = { product: 'K' }
  it.each<[string, Partial<DeviceSpec>, evidence: string[] | null]>([
    ['a plain keyboard', {}, null],
    ['a name of one letter alone', named, null],
    ['at high speed', { ...named, speedMbps: 480 }, ['the keyboard runs at 480 Mbit/s', letter]],
    ['at full speed', { ...named, speedMbps: 479 }, null],
    ['at high speed, without boot protocol', { ...named, speedMbps: 480, interfaces: ['03:00:00', '03:00:00'] }, null],
    ['longer packets', { ...named, interfaces: [keys(inward(16)), '03:00:00'] }, [packets(16), letter]],
    [
      'the longest of its packets',
      { ...named, interfaces: [keys(inward(16), { ...inward(64), address: 0x82 }), '03:00:00'] },
      [packets(64), letter],
    ],
    ['packets per microframe do not count', { ...named, interfaces: [keys(inward(0x0808)), '03:00:00'] }, null],
    [
      'longer packets elsewhere',
      { ...named, interfaces: [keys(inward()), { code: '03:00:00', endpoints: [{ ...inward(64), address: 0x82 }] }] },
      null,
    ],
    ['an output endpoint', { ...named, interfaces: [keys(inward(), outward), '03:00:00'] }, [output, letter]],
    [
      'long packets out only',
      { ...named, interfaces: [keys(inward(), { ...outward, maxPacketSize: 64 }), '03:00:00'] },
      [output, letter],
    ],
    [
      'revision 0100',
      { ...named, bcdDevice: '0100', maxPacketSize0: 64 },
      ['it has revision 0100 and control packets of 64 bytes', letter],
    ],
    ['revision 0100 with small control packets', { ...named, bcdDevice: '0100' }, null],
    ['another revision', { ...named, maxPacketSize0: 64 }, null],
    [
      'a single interface',
      { ...named, maxPacketSize0: 64, interfaces: [keys(inward())] },
      ['it has a single interface and control packets of 64 bytes', letter],
    ],
    ['a single interface with small control packets', { ...named, interfaces: [keys(inward())] }, null],
    ['self-powered', { ...named, selfPowered: true }, [powered, letter]],
    [
      '500 mA with a single interface',
      { ...named, maxPowerMa: 500, interfaces: [keys(inward())] },
      ['it requests 500 mA with a single interface', letter],
    ],
    ['500 mA with two', { ...named, maxPowerMa: 500 }, null],
    [
      'the name of a stack',
      { product: 'TinyUSB Keys', selfPowered: true },
      [powered, 'its name is that of a stack or board: "Maker TinyUSB Keys"'],
    ],
    [
      'the maker of a stack',
      { manufacturer: 'Dean Camera', selfPowered: true },
      [powered, 'its name is that of a stack or board: "Dean Camera Keys"'],
    ],
    ['the name of a stack further behind', { product: 'My TinyUSB', selfPowered: true }, null],
    ...['16C0', '1209', '1EAF', 'CAFE', 'F055', '4242', '1D6B'].map((vid): [string, Partial<DeviceSpec>, string[]] => [
      `vendor ${vid}`,
      { ...named, vid },
      [letter, vendor(vid)],
    ]),
    [
      'a serial port',
      { ...named, interfaces: [keys(inward()), '02:02:01'] },
      [letter, 'it combines a keyboard and a serial port'],
    ],
    ['with a network interface', { ...named, interfaces: [keys(inward()), '02:06:00'] }, null],
    ['with an interface of another class', { ...named, interfaces: [keys(inward()), '0a:02:00'] }, null],
    [
      'several small ones',
      { selfPowered: true, maxPowerMa: 500, interfaces: [keys(inward(16))] },
      [packets(16), powered, 'it requests 500 mA with a single interface'],
    ],
    [
      'several common ones only',
      { selfPowered: true, maxPowerMa: 500, maxPacketSize0: 64, bcdDevice: '0100', interfaces: [keys(inward())] },
      null,
    ],
  ])('%s', (_what, change, evidence) => {
    expect(find(change)).toEqual(
      evidence === null
        ? null
        : {
            level: 'suspected',
            name: 'Keyboard from a hobby USB stack',
            evidence,
            source:
              'defaults in the source code of V-USB, LUFA, PluggableUSB, TinyUSB, Maple, CH55xduino and Linux gadgets',
          },
    )
  })

  it('may have no name', () => {
    const of = (spec: Partial<DeviceSpec>) => {
      const report = buildDevice({ pid: '0010', portPath: '1-1', vid: 'CAFE', ...nameless, ...spec })
      return hobbyKeyboard({ parsed: parseReport(report), report, kinds: ['Keyboard'] })?.evidence
    }
    const long = { vid: 'CAFE', interfaces: [keys(inward(16)), '03:00:00'] }
    expect(of(long)).toEqual([packets(16), 'it has no name', vendor('CAFE')])
    expect([of({ ...long, manufacturer: 'Maker' }), of({ ...long, product: 'Keys' })]).toEqual([undefined, undefined])
  })

  it.each(['iManufacturer', 'iProduct'] as const)('has a name if %s exists but cannot be read', (key) => {
    const spec = { pid: '0010', portPath: '1-1', ...nameless, vid: 'CAFE', interfaces: [keys(inward(16)), '03:00:00'] }
    const report = buildDevice(spec)
    const parsed = { ...parseReport(report), iManufacturer: 0, iProduct: 0, [key]: 1 }
    expect(hobbyKeyboard({ parsed, report, kinds: ['Keyboard'] })).toBeNull()
  })

  it('has a name if the host reports one, whatever its descriptors say', () => {
    const spec = { ...plain, vid: 'CAFE', pid: '0010', portPath: '1-1', interfaces: [keys(inward(16)), '03:00:00'] }
    const report = buildDevice(spec as never)
    const parsed = { ...parseReport(report), iManufacturer: 0, iProduct: 0 }
    expect(hobbyKeyboard({ parsed, report, kinds: ['Keyboard'] })).toBeNull()
  })

  it('has HID version 1.01', () => {
    const subject = subjectOf({ ...plain, ...named }, ['Keyboard'])
    const withVersion = (bcdHid: number) => ({
      ...subject,
      parsed: {
        ...subject.parsed,
        configurations: subject.parsed.configurations.map((c) => ({
          ...c,
          interfaces: c.interfaces.map((i, n) => ({
            ...i,
            hid: (n === 0 ? undefined : { ...i.hid, bcdHid }) as never,
          })),
        })),
      },
    })
    expect(hobbyKeyboard(withVersion(0x0101))?.evidence).toEqual([
      'its HID version is 1.01, as in V-USB, PluggableUSB and f_hid',
      letter,
    ])
    expect(hobbyKeyboard(withVersion(0x0111))).toBeNull()
  })

  const sure: Partial<DeviceSpec> = { ...named, interfaces: [keys(inward(16), outward), '03:00:00'] }
  it.each<[string, Partial<DeviceSpec>, Kind[]]>([
    ['if it is not a keyboard', sure, ['Mouse']],
    ['if it is inside the host', { ...sure, removable: 'fixed' }, ['Keyboard']],
    ['if no endpoints are known', { ...named, vid: 'CAFE', interfaces: [keys(), '08:06:50'] }, ['Keyboard']],
    ['if no HID interface types', { ...named, vid: 'CAFE', interfaces: ['03:01:02'] }, ['Keyboard']],
    ...[
      'FEED',
      '3434',
      '3297',
      '4653',
      '4B42',
      '5957',
      '6D66',
      '8968',
      'A103',
      'C2AB',
      'CB10',
      'D010',
      'FC32',
      '320F',
      '342D',
      '36B0',
      '3151',
      '1D50',
      '1EA7',
    ].map((vid): [string, Partial<DeviceSpec>, Kind[]] => [
      `if vendor ${vid} makes such keyboards`,
      { ...sure, vid },
      ['Keyboard'],
    ]),
    ['if its maker says so', { ...sure, manufacturer: 'ZMK Project' }, ['Keyboard']],
    ['if its product says so', { ...sure, manufacturer: 'K', product: 'Moonlander' }, ['Keyboard']],
  ])('is not detected %s', (_what, change, kinds) => {
    expect(find(sure)).not.toBeNull()
    expect(find(change, kinds)).toBeNull()
  })

  it('is not detected by an adjacent serial port if its keys use bulk transfers', () => {
    const bulk = keys({ ...inward(), attributes: 2 })
    expect(find({ ...named, interfaces: [bulk, '02:02:01'] })).toBeNull()
  })

  it('may lack the boot protocol', () => {
    const interfaces: InterfaceSpec[] = ['03:00:00', '03:00:00']
    expect(find({ ...named, vid: 'CAFE', interfaces })?.evidence).toEqual([letter, vendor('CAFE')])
  })

  it('has a configuration', () => {
    const subject = subjectOf({ ...plain, ...sure }, ['Keyboard'])
    expect(hobbyKeyboard({ ...subject, parsed: { ...subject.parsed, configurations: [] } })).toBeNull()
  })

  it('is not detected in truncated descriptors', () => {
    const subject = subjectOf({ ...plain, ...sure }, ['Keyboard'])
    expect(hobbyKeyboard({ ...subject, parsed: { ...subject.parsed, isComplete: false } })).toBeNull()
  })
})
