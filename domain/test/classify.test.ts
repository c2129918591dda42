import { policyKinds } from '@portcullis/contract'
import { classify, hidFunctions, icons, kindPrecedence, parseReport } from '@portcullis/domain'
import { buildDevice, type DeviceSpec, hub } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const classifySpec = (spec: Partial<DeviceSpec>) => {
  const report = buildDevice({ vid: '1111', pid: '2222', ...spec })
  return classify(parseReport(report), report)
}
const kindOf = (...interfaces: string[]): string => classifySpec({ interfaces }).kind

const REPORTS = {
  keyboard: [0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0x05, 0x07, 0x19, 0xe0, 0x29, 0xe7, 0x81, 0x02, 0xc0],
  mouse: [0x05, 0x01, 0x09, 0x02, 0xa1, 0x01, 0x09, 0x01, 0xa1, 0x00, 0x05, 0x09, 0x81, 0x02, 0xc0, 0xc0],
  fido: [0x06, 0xd0, 0xf1, 0x09, 0x01, 0xa1, 0x01, 0x09, 0x20, 0x81, 0x02, 0xc0],
  consumer: [0x05, 0x0c, 0x09, 0x01, 0xa1, 0x01, 0x81, 0x02, 0xc0],
  // A vendor collection whose input items are keys of the keyboard page.
  disguised: [0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0x05, 0x07, 0x19, 0x00, 0x29, 0x65, 0x81, 0x00, 0xc0],
  // The usage carries its page: 0x00010006.
  extended: [0x0b, 0x06, 0x00, 0x01, 0x00, 0xa1, 0x01, 0xc0],
}
const hidReport = (name: keyof typeof REPORTS): string => Buffer.from(REPORTS[name]).toString('base64')

describe('classify', () => {
  it.each([
    ['03:01:01', 'Keyboard'],
    ['03:00:01', 'Keyboard'],
    ['03:01:02', 'Mouse'],
    ['03:00:00', 'HID'],
    ['08:06:50', 'Mass Storage'],
    ['08:06:62', 'Mass Storage'],
    ['08:02:50', 'Mass Storage'],
    ['02:06:00', 'Network'],
    ['02:0d:00', 'Network'],
    ['02:0c:07', 'Network'],
    ['02:0e:00', 'Network'],
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
    ['fe:01:01', 'Unknown'],
    ['11:00:00', 'Unknown'],
    ['ff:ff:ff', 'Unknown'],
  ])('takes %s for %s', (code, kind) => {
    expect(kindOf(code)).toBe(kind)
  })

  it('names a device by the first kind in the order of precedence, in whatever order its interfaces stand', () => {
    const codes = new Map([
      ['Hub', '09:00:00'],
      ['Keyboard', '03:01:01'],
      ['Mass Storage', '08:06:50'],
      ['Network', '02:06:00'],
      ['Mouse', '03:01:02'],
      ['Video', '0e:01:00'],
      ['Audio', '01:01:00'],
      ['Printer', '07:01:02'],
      ['Smart Card', '0b:00:00'],
      ['Phone', '06:01:01'],
      ['Imaging', '06:02:01'],
      ['Wireless', 'e0:01:01'],
      ['Communication', '02:02:01'],
      ['HID', '03:00:00'],
      ['Unknown', 'fe:01:01'],
    ])
    expect([...codes.keys()]).toEqual([...kindPrecedence])
    // Rules name kinds by the wire's own list, which the console has without the code that classifies.
    expect([...policyKinds]).toEqual([...kindPrecedence])
    fc.assert(
      fc.property(fc.subarray([...codes], { minLength: 1 }), fc.infiniteStream(fc.nat(1000)), (chosen, random) => {
        const expected = chosen[0]?.[0]
        const shuffled = chosen.map(([, code]) => ({ code, key: random.next().value })).sort((a, b) => a.key - b.key)
        expect(kindOf(...shuffled.map((s) => s.code))).toBe(expected)
      }),
    )
  })

  it('gives the icon number and the codes of the interface that decided', () => {
    expect(classifySpec({ interfaces: ['01:01:00', '03:01:01'] })).toMatchObject({
      icon: 1,
      kinds: ['Keyboard', 'Audio'],
      classCode: 3,
      subclassCode: 1,
      protocolCode: 1,
    })
    expect(new Set(icons.map((i) => i.icon)).size).toBe(16)
  })

  it('believes interfaces, not the device class', () => {
    expect(classifySpec({ deviceCode: '09:00:00', interfaces: ['03:01:01'] }).kinds).toEqual(['Keyboard'])
    expect(classifySpec({ deviceCode: '09:00:00', interfaces: [] }).kind).toBe('Hub')
    expect(classifySpec({ deviceCode: '00:00:00', interfaces: [] }).kinds).toEqual(['Unknown'])
    const report = hub({ interfaces: ['09:00:00', '03:01:01'] })
    expect(classify(parseReport(report), report)).toMatchObject({ kind: 'Hub', kinds: ['Hub', 'Keyboard'] })
  })

  it('reads report descriptors where the interface does not say', () => {
    const of = (name: keyof typeof REPORTS) =>
      classifySpec({ interfaces: ['03:00:00'], reportDescriptors: [hidReport(name)] })
    expect(of('keyboard').kind).toBe('Keyboard')
    expect(of('extended').kind).toBe('Keyboard')
    expect(of('disguised').kind).toBe('Keyboard')
    expect(of('mouse').kind).toBe('Mouse')
    expect(of('fido')).toMatchObject({ kind: 'HID', isSecurityKey: true })
    expect(of('consumer')).toMatchObject({ kind: 'HID', isSecurityKey: false })
  })

  it('counts report descriptors in interface order, and trusts none when their number does not fit', () => {
    const interfaces = ['03:00:00', '08:06:50', '03:00:00']
    const ordered = classifySpec({ interfaces, reportDescriptors: [hidReport('consumer'), hidReport('mouse')] })
    expect(ordered.kinds).toEqual(['Mass Storage', 'Mouse', 'HID'])
    const partial = classifySpec({ interfaces, reportDescriptors: [hidReport('keyboard')] })
    expect(partial.kinds).toEqual(['Keyboard', 'Mass Storage'])
  })

  it('tells cameras from phones behind the same code', () => {
    expect(classifySpec({ vid: '04A9', interfaces: ['06:01:01'] }).kind).toBe('Imaging')
    expect(classifySpec({ product: 'Digital Camera', interfaces: ['06:01:01'] }).kind).toBe('Imaging')
    expect(classifySpec({ vid: '0FCE', pid: '0166', interfaces: ['ff:ff:00'] }).kind).toBe('Phone')
    expect(classifySpec({ product: 'MTP device', interfaces: ['ff:ff:00'] }).kind).toBe('Phone')
  })

  it('looks at all configurations', () => {
    expect(classifySpec({ interfaces: ['ff:ff:00'], moreConfigurations: [['02:06:00', '0a:00:00']] }).kinds).toEqual([
      'Network',
    ])
  })
})

describe('hidFunctions', () => {
  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(Object.keys(hidFunctions(bytes))).toEqual(['keyboard', 'mouse', 'fido'])
      }),
    )
  })
})
