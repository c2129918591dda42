import { policyKinds } from '@portcullis/contract/policy-kinds.ts'
import { capabilityKinds, classify, icons, kindPrecedence, parseReport } from '@portcullis/domain'
import { buildDevice, type DeviceSpec, hub } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const classifySpec = (spec: Partial<DeviceSpec>) => {
  const report = buildDevice({ vid: '1111', pid: '2222', ...spec })
  return classify(parseReport(report), report)
}
const kindOf = (...interfaces: string[]): string => classifySpec({ interfaces }).kind

const REPORTS = {
  keyboard: '05010906a1010507150025017501950819e029e78102256575089506190029658100c0',
  mouse: '05010902a1010901a10005091500250175019508190129088102c0c0',
  fido: '06d0f10901a1010920150026ff00750895408102c0',
  consumer: '050c0901a1011500250175019508190129088102c0',
  // A consumer control whose input items are keys of the keyboard page.
  disguised: '050c0901a10105071500256575089506190029658100c0',
  // The usage carries its page: 0x00010006.
  extended: '0b06000100a10105071500256575089506190029658100c0',
}
const hidReport = (name: keyof typeof REPORTS): string => Buffer.from(REPORTS[name], 'hex').toString('base64')

describe('classify', () => {
  it.each([
    ['03:01:01', 'Keyboard'],
    ['03:00:01', 'HID'],
    ['03:01:02', 'Mouse'],
    ['03:00:00', 'HID'],
    ['08:06:50', 'Mass Storage'],
    ['08:06:62', 'Mass Storage'],
    ['08:02:50', 'Mass Storage'],
    ['02:06:00', 'Network'],
    ['02:0d:00', 'Network'],
    ['02:0c:07', 'Network'],
    ['02:0e:00', 'Modem'],
    ['02:02:ff', 'Network'],
    ['e0:01:03', 'Network'],
    ['ef:04:01', 'Network'],
    ['02:02:01', 'Communication'],
    ['0e:01:00', 'Video'],
    ['01:01:00', 'Audio'],
    ['01:03:00', 'Audio'],
    ['07:01:02', 'Printer'],
    ['0b:00:00', 'Smart Card'],
    ['06:01:01', 'Phone'],
    ['ff:42:01', 'Phone'],
    ['e0:01:01', 'Wireless'],
    ['09:00:00', 'Hub'],
    ['58:42:00', 'HID'],
    ['fe:01:01', 'Firmware Update'],
    ['11:00:00', 'Billboard'],
    ['fe:03:01', 'Unknown'],
    ['ff:ff:ff', 'Unknown'],
  ])('classifies %s as %s', (code, kind) => {
    expect(kindOf(code)).toBe(kind)
  })

  it('names a device by the kind with the highest precedence, whatever the order of its interfaces', () => {
    const codes = new Map([
      ['Hub', '09:00:00'],
      ['Keyboard', '03:01:01'],
      ['Phone', '06:01:01'],
      ['Printer', '07:01:02'],
      ['Smart Card', '0b:00:00'],
      ['Video', '0e:01:00'],
      ['Imaging', '06:02:01'],
      ['Mass Storage', '08:06:50'],
      ['Network', 'e0:01:03'],
      ['Mouse', '03:01:02'],
      ['Audio', '01:01:00'],
      ['Wireless', 'e0:01:01'],
      ['Communication', '02:02:00'],
      ['HID', '03:00:00'],
      ['Billboard', '11:00:00'],
      ['Firmware Update', 'fe:01:01'],
      ['Unknown', 'fe:03:01'],
    ])
    expect([...codes.keys()]).toEqual(kindPrecedence.filter((kind) => codes.has(kind)))
    // Rules use the kinds of the contract, because the console does not contain the classification.
    expect([...policyKinds]).toEqual([...capabilityKinds])
    expect(new Set(kindPrecedence)).toEqual(new Set(icons.map((i) => i.name).filter((name) => name !== 'NO_DEV')))
    fc.assert(
      fc.property(fc.subarray([...codes], { minLength: 1 }), fc.infiniteStream(fc.nat(1000)), (chosen, random) => {
        const [first] = chosen.map(([kind]) => kind)
        // The button of a web cam does not make it a keyboard.
        const expected = first === 'Keyboard' && chosen.some(([kind]) => kind === 'Video') ? 'Video' : first
        const shuffled = chosen.map(([, code]) => ({ code, key: random.next().value })).sort((a, b) => a.key - b.key)
        expect(kindOf(...shuffled.map((s) => s.code))).toBe(expected)
      }),
    )
  })

  it('returns the icon number and the codes of the interface that determined the kind', () => {
    expect(classifySpec({ interfaces: ['01:01:00', '03:01:01'] })).toMatchObject({
      icon: 1,
      kinds: ['Keyboard', 'Audio'],
      classCode: 3,
      subclassCode: 1,
      protocolCode: 1,
    })
    expect(new Set(icons.map((i) => i.icon)).size).toBe(icons.length)
  })

  it('uses the interfaces and not the device class', () => {
    expect(classifySpec({ deviceCode: '09:00:00', interfaces: ['03:01:01'] }).kinds).toEqual(['Keyboard'])
    expect(classifySpec({ deviceCode: '09:00:00', interfaces: [] }).kind).toBe('Hub')
    expect(classifySpec({ deviceCode: '00:00:00', interfaces: [] }).kinds).toEqual(['Unknown'])
    const report = hub({ interfaces: ['09:00:00', '03:01:01'] })
    expect(classify(parseReport(report), report)).toMatchObject({ kind: 'Hub', kinds: ['Hub', 'Keyboard'] })
  })

  it('reads report descriptors if the interface does not declare its function', () => {
    const of = (name: keyof typeof REPORTS) =>
      classifySpec({ interfaces: ['03:00:00'], reportDescriptors: [hidReport(name)] })
    expect(of('keyboard').kind).toBe('Keyboard')
    expect(of('extended').kind).toBe('Keyboard')
    expect(of('disguised').kind).toBe('Keyboard')
    expect(of('mouse').kind).toBe('Mouse')
    expect(of('fido')).toMatchObject({ kind: 'Security Key', isSecurityKey: true })
    expect(of('consumer')).toMatchObject({ kind: 'Media Control', isSecurityKey: false })
  })

  it('assigns report descriptors in interface order, and ignores them if the numbers differ', () => {
    const interfaces = ['03:00:00', '08:06:50', '03:00:00']
    const ordered = classifySpec({ interfaces, reportDescriptors: [hidReport('consumer'), hidReport('mouse')] })
    expect(ordered.kinds).toEqual(['Mass Storage', 'Mouse', 'Media Control'])
    expect(ordered.capabilities).toEqual(['Mass Storage', 'Mouse', 'HID'])
    const partial = classifySpec({ interfaces, reportDescriptors: [hidReport('keyboard')] })
    expect(partial.kinds).toEqual(['Keyboard', 'Mass Storage'])
  })

  it('distinguishes cameras from phones with the same code', () => {
    expect(classifySpec({ vid: '04A9', interfaces: ['06:01:01'] }).kind).toBe('Imaging')
    expect(classifySpec({ product: 'Digital Camera', interfaces: ['06:01:01'] }).kind).toBe('Imaging')
    expect(classifySpec({ vid: '0FCE', pid: '0166', interfaces: ['ff:ff:00'] }).kind).toBe('Phone')
    expect(classifySpec({ product: 'MTP device', interfaces: ['ff:ff:00'] }).kind).toBe('Phone')
  })

  it('names HID devices by their report descriptors, and keeps the kinds that rules use', () => {
    const report = (page: number, usage: number): string =>
      Buffer.from([0x06, page & 0xff, page >> 8, 0x09, usage, 0xa1, 0x01, 0xc0]).toString('base64')
    const of = (page: number, usage: number, ...more: string[]) =>
      classifySpec({
        interfaces: ['03:00:00'],
        reportDescriptors: [report(page, usage)],
        ...(more[0] ? { vid: more[0] } : {}),
      })
    const named: [number, number, string][] = [
      [0x0d, 0x01, 'Tablet'],
      [0x0d, 0x02, 'Tablet'],
      [0x0d, 0x04, 'Touchscreen'],
      [0x01, 0x05, 'Game Controller'],
      [0x0c, 0x01, 'Media Control'],
      [0x84, 0x04, 'UPS'],
      [0x20, 0x01, 'Sensor'],
      [0x8c, 0x02, 'Barcode Scanner'],
      [0xff00, 0x01, 'HID'],
    ]
    for (const [page, usage, kind] of named)
      expect(of(page, usage), kind).toMatchObject({ kind, capabilities: ['HID'] })
    // A pen tablet that also moves the pointer; a key of an unknown vendor that also types.
    const pen = classifySpec({
      interfaces: ['03:00:00', '03:01:02'],
      reportDescriptors: [report(0x0d, 2), hidReport('mouse')],
    })
    expect(pen).toMatchObject({ kind: 'Tablet', kinds: ['Tablet', 'Mouse'] })
    const posing = {
      interfaces: ['03:01:01', '03:00:00'],
      reportDescriptors: [hidReport('keyboard'), hidReport('fido')],
    }
    expect(classifySpec(posing)).toMatchObject({ kind: 'Security Key', capabilities: ['Keyboard', 'HID'] })
    expect(classifySpec({ ...posing, vid: '1050', pid: '0407' })).toMatchObject({ kind: 'Security Key' })
  })

  it.each<[string, Partial<DeviceSpec>, string]>([
    ['a fingerprint reader by its id', { vid: '27C6', pid: '5385', interfaces: ['ff:00:00'] }, 'Biometric'],
    ['one with CDC interfaces', { vid: '27C6', pid: '5840', interfaces: ['02:02:01', '0a:00:00'] }, 'Biometric'],
    ['a modem by MBIM', { interfaces: ['02:0e:00', '0a:00:02'] }, 'Modem'],
    ['a modem with AT commands and a network interface', { interfaces: ['02:06:00', '0a:00:00', '02:02:01'] }, 'Modem'],
    [
      'a modem of a maker of modules that also has audio',
      { vid: '2CB7', pid: '0104', interfaces: ['ff:ff:30', '01:01:00'] },
      'Modem',
    ],
    ['no modem in a gadget', { vid: '1D6B', pid: '0104', interfaces: ['02:06:00', '0a:00:00', '02:02:01'] }, 'Network'],
    ['a phone that offers audio', { interfaces: ['06:01:01', '01:01:00', '01:02:00'] }, 'Phone'],
    [
      'a phone whose second configuration has audio',
      { interfaces: ['06:01:01'], moreConfigurations: [['01:01:00']] },
      'Phone',
    ],
    ['a printer with virtual media', { interfaces: ['07:01:02', '08:06:50', 'ff:ff:ff'] }, 'Printer'],
    [
      'an authenticator that types',
      { vid: '1050', pid: '0407', interfaces: ['03:01:01', '03:00:00', '0b:00:00'] },
      'Security Key',
    ],
    [
      'a pen tablet by its maker',
      { vid: '256C', pid: '006D', interfaces: ['03:00:00', '03:01:01', '03:01:02'] },
      'Tablet',
    ],
    ['an adapter by its own words', { product: '802.11ac NIC', interfaces: ['ff:ff:ff'] }, 'Wireless'],
    ['a keyboard, whatever its words', { product: 'Bluetooth adapter', interfaces: ['03:01:01'] }, 'Keyboard'],
  ])('names %s', (_, spec, kind) => {
    expect(classifySpec(spec).kind).toBe(kind)
  })

  it('uses the product name in the knowledge if interfaces do not identify the device', () => {
    const report = buildDevice({ vid: '1111', pid: '2222', interfaces: ['ff:ff:ff'] })
    expect(classify(parseReport(report), report, 'Fingerprint Reader')).toMatchObject({
      kind: 'Biometric',
      capabilities: ['Unknown'],
    })
    const stick = buildDevice({ vid: '1111', pid: '2222', interfaces: ['08:06:50'] })
    expect(classify(parseReport(stick), stick, 'Fingerprint Reader').kind).toBe('Mass Storage')
  })

  it('includes all configurations', () => {
    expect(classifySpec({ interfaces: ['ff:ff:00'], moreConfigurations: [['02:06:00', '0a:00:00']] }).kinds).toEqual([
      'Network',
    ])
  })
})

describe('the active configuration', () => {
  const both: Partial<DeviceSpec> = { interfaces: ['03:01:02'], moreConfigurations: [['03:01:01']] }
  it.each([
    [undefined, 'Mouse'],
    [0, 'Mouse'],
    [1, 'Mouse'],
    [2, 'Keyboard'],
    [9, 'Mouse'],
  ])('%s decides the kind: %s', (configurationValue, kind) => {
    expect(classifySpec({ ...both, ...(configurationValue === undefined ? {} : { configurationValue }) }).kind).toBe(
      kind,
    )
  })

  it('has the report descriptors', () => {
    const spec: Partial<DeviceSpec> = { interfaces: ['03:00:00'], moreConfigurations: [['03:00:00', '03:00:00']] }
    const reportDescriptors = [hidReport('mouse'), hidReport('keyboard')]
    expect(classifySpec({ ...spec, reportDescriptors: reportDescriptors.slice(0, 1) }).kinds).toEqual(['Mouse', 'HID'])
    expect(classifySpec({ ...spec, reportDescriptors, configurationValue: 2 }).kinds).toEqual([
      'Keyboard',
      'Mouse',
      'HID',
    ])
  })
})

describe('devices of several kinds', () => {
  it.each<[string, Partial<DeviceSpec>, string]>([
    ['a modem with a debug bridge', { interfaces: ['ff:ff:30', 'ff:ff:40', 'ff:42:01'] }, 'Modem'],
    ['a modem with a network', { interfaces: ['02:06:00', '0a:00:00', 'ff:00:00', 'ff:00:00'] }, 'Modem'],
    ['a network adapter', { interfaces: ['02:06:00', '0a:00:00', 'ff:00:00'] }, 'Network'],
    ['a phone with files and ports', { interfaces: ['06:01:01', 'ff:42:01', 'ff:ff:30', 'ff:ff:40'] }, 'Phone'],
    ['a phone with only a debug bridge, of a modem vendor', { vid: '19D2', interfaces: ['ff:42:01'] }, 'Phone'],
    ['a modem of that vendor', { vid: '19D2', interfaces: ['ff:42:01', 'ff:00:00'] }, 'Modem'],
    [
      'Bluetooth of a laptop vendor',
      { vid: '413C', pid: '8160', product: 'Bluetooth', interfaces: ['ff:01:01'] },
      'Wireless',
    ],
    [
      'a game controller with sound',
      { product: 'Pro Controller', interfaces: ['01:01:00', '03:00:00'] },
      'Game Controller',
    ],
    ['a headset', { product: 'Headset Controller', interfaces: ['01:01:00', '03:00:00'] }, 'Audio'],
    ['lights', { product: 'LED Controller', interfaces: ['03:00:00'] }, 'HID'],
    ['a mouse with macros', { product: 'Gaming Mouse', interfaces: ['03:01:02', '03:01:01'] }, 'Mouse'],
    ['a keyboard with a mouse', { product: 'Keyboard and Mouse', interfaces: ['03:01:02', '03:01:01'] }, 'Keyboard'],
    ['a camera with a button', { interfaces: ['0e:01:00', '03:01:01'] }, 'Video'],
  ])('%s', (_, spec, kind) => {
    expect(classifySpec(spec).kind).toBe(kind)
  })
})
