import {
  buildDevice,
  flipperBadUsb,
  hostileStrings,
  hostileTexts,
  hub,
  networkAdapter,
  phone,
  plainKeyboard,
  plainMouse,
  rubberDucky,
  spoofedUnifying,
  storageStick,
  unifyingReceiver1207,
  webcam,
  yubiKey,
} from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { evaluate, knowledge } from './knowledge-data.ts'

const ids = (report: ReturnType<typeof plainKeyboard>): string[] =>
  evaluate(report).vulnerabilities.map((v) => `${v.id} ${v.confidence}`)

const KEYJACK = 'Bastille #13 (KeyJack) firmware'

describe('names', () => {
  it('come from usb.ids, then from the supplement', () => {
    expect(knowledge.vendorName('046D')).toBe('Logitech, Inc.')
    expect(knowledge.productName('046D', 'C52B')).toBe('Unifying Receiver')
    for (const vid of ['303A', '2E8A', '1B4F', '38EB', '3346', '345F', '1209', '1D50'])
      expect(knowledge.vendorName(vid), vid).toBeTruthy()
    expect(knowledge.productName('3346', '1009')).toBe('NanoKVM')
    expect(knowledge.vendorName('FFF1')).toBeNull()
    expect(knowledge.vendorName('F000'), 'an unassigned VID').toBeNull()
    expect(knowledge.productName('046D', 'FFF1')).toBeNull()
    expect(knowledge.info).toMatchObject({ usbIds: '2025.07.26' })
    expect(knowledge.info.products).toBeGreaterThan(20_000)
  })

  it('do not treat the class list as products', () => {
    // After the vendors, usb.ids lists classes, languages and countries with the same indentation.
    expect(knowledge.vendorName('C 00')).toBeNull()
    expect(knowledge.info.vendors).toBeLessThan(4000)
  })
})

const typing = Buffer.from(
  '05010906a101050719042928150025017501952581029501750381 03c0'.replace(' ', ''),
  'hex',
).toString('base64')

describe('attack tools', () => {
  it.each([
    ['keyboard', plainKeyboard()],
    ['mouse', plainMouse()],
    ['stick', storageStick()],
    ['hub', hub()],
    ['phone', phone()],
    ['webcam', webcam()],
    ['network adapter', networkAdapter()],
    ['genuine receiver', unifyingReceiver1207()],
    [
      'newer receiver',
      unifyingReceiver1207({ bcdDevice: '2411', configuration: 'RQR24.11_B0036', maxPacketSize0: 32 }),
    ],
    ['receiver of an unknown branch', unifyingReceiver1207({ bcdDevice: '4201', maxPacketSize0: 64 })],
    ['YubiKey, keyboard and smart card', yubiKey()],
    ['J-Link', buildDevice({ vid: '1366', pid: '1050', interfaces: ['02:02:01', '0a:00:00', 'ff:ff:ff'] })],
    ['Black Magic Probe', buildDevice({ vid: '1D50', pid: '6018', interfaces: ['02:02:00', '0a:00:00', 'fe:01:01'] })],
    [
      'Arduino Leonardo as serial port',
      buildDevice({ vid: '2341', pid: '8036', interfaces: ['02:02:01', '0a:00:00'] }),
    ],
    ['Pico in its boot loader', buildDevice({ vid: '2E8A', pid: '0003', interfaces: ['08:06:50', 'ff:00:00'] })],
    ['BeagleBone', buildDevice({ vid: '1D6B', pid: '0104', interfaces: ['02:0d:00', '08:06:50', '02:02:01'] })],
    ['STM32 serial port', buildDevice({ vid: '0483', pid: '5740', product: 'STM32 VCP', interfaces: ['02:02:01'] })],
    ['CP2102 bridge', buildDevice({ vid: '10C4', pid: 'EA60', interfaces: ['ff:00:00'] })],
    ['DataTraveler 150', buildDevice({ vid: '0951', pid: '1621', serial: '5B', interfaces: ['08:06:50'] })],
    ['RTL8152', buildDevice({ vid: '0BDA', pid: '8152', serial: '00E04C360001', interfaces: ['ff:ff:00'] })],
    ['Apple keyboard', buildDevice({ vid: '05AC', pid: '021E', interfaces: ['03:01:01', '03:00:00'] })],
    ['two-interface C529', buildDevice({ vid: '046D', pid: 'C529', interfaces: ['03:01:01', '03:01:02'] })],
    ['LTE modem', buildDevice({ vid: '12D1', pid: '1506', interfaces: ['ff:02:01', '02:06:00', '08:06:50'] })],
    ['BMC keyboard', buildDevice({ vid: '046B', pid: 'FF10', interfaces: ['03:01:01', '03:01:02'] })],
    ['HDMI grabber', buildDevice({ vid: '534D', pid: '2109', interfaces: ['0e:01:00', '01:01:00', '03:00:00'] })],
    ['headset', buildDevice({ vid: '0B0E', pid: '0422', interfaces: ['01:01:00', '01:02:00', '03:00:00'] })],
    ['bar-code scanner', buildDevice({ vid: '05E0', pid: '1200', interfaces: ['03:01:01', '02:02:01', '0a:00:00'] })],
  ])('has no finding for a %s', (_, report) => {
    expect(evaluate(report).attackTool).toBeNull()
  })

  it.each([
    ['Rubber Ducky', rubberDucky(), 'suspected', 'Rubber Ducky'],
    ['Flipper', flipperBadUsb(), 'confirmed', 'Flipper'],
    [
      'Flipper with other power',
      flipperBadUsb({ maxPowerMa: 100, selfPowered: false, bcdDevice: '2400' }),
      'suspected',
      'Flipper',
    ],
    [
      'Flipper by name',
      buildDevice({ vid: '0483', pid: '5740', product: 'Flipper Anna', interfaces: ['02:02:01'] }),
      'suspected',
      'Flipper',
    ],
    ['Bash Bunny', buildDevice({ vid: 'F000', pid: 'FF10', interfaces: ['08:06:50'] }), 'suspected', 'Bash Bunny'],
    [
      'Bash Bunny in a mode of the range',
      buildDevice({
        vid: 'F000',
        pid: 'FF05',
        remoteWakeup: false,
        selfPowered: true,
        interfaces: ['03:01:01', '08:06:50'],
      }),
      'confirmed',
      'Bash Bunny',
    ],
    [
      'any product of F000',
      buildDevice({ vid: 'F000', pid: '1234', interfaces: ['03:01:01'] }),
      'suspected',
      'Bash Bunny',
    ],
    ['P4wnP1', buildDevice({ vid: '1D6B', pid: '1347', interfaces: ['02:02:ff'] }), 'suspected', 'P4wnP1'],
    ['Proxmark', buildDevice({ vid: '9AC4', pid: '4B8F', interfaces: ['02:02:01'] }), 'suspected', 'Proxmark3'],
    [
      'Leonardo that types',
      buildDevice({
        ...{
          vid: '2341',
          pid: '8036',
          manufacturer: 'Arduino LLC',
          product: 'Arduino Leonardo',
          reportDescriptors: [typing],
        },
        interfaces: ['02:02:01', '0a:00:00', '03:00:00'],
      }),
      'suspected',
      'default name',
    ],
    ['O.MG cable', buildDevice({ vid: 'D3C0', pid: 'D34D', interfaces: ['03:01:01'] }), 'suspected', 'O.MG'],
    [
      'Digispark',
      buildDevice({ vid: '16C0', pid: '27DB', manufacturer: 'digistump.com', interfaces: ['03:01:01'] }),
      'suspected',
      'Digispark',
    ],
    [
      'PiKVM',
      buildDevice({
        vid: '1D6B',
        pid: '0104',
        manufacturer: 'PiKVM',
        interfaces: ['03:01:01', '03:00:02', '08:06:50'],
      }),
      'suspected',
      'PiKVM',
    ],
    [
      'TinyPilot by serial',
      buildDevice({ vid: '1D6B', pid: '0104', serial: '6b65796d696d6570690', interfaces: ['03:01:01'] }),
      'suspected',
      'TinyPilot',
    ],
    [
      'NanoKVM',
      buildDevice({ vid: '3346', pid: '1009', product: 'NanoKVM', interfaces: ['03:00:01', '03:00:02', '08:06:50'] }),
      'confirmed',
      'NanoKVM',
    ],
    ['receiver that stores', spoofedUnifying(), 'confirmed', 'Unifying'],
    [
      'receiver that only stores in addition',
      unifyingReceiver1207({ interfaces: ['03:01:01', '03:01:02', '03:00:00', '08:06:50'] }),
      'confirmed',
      'Unifying',
    ],
    [
      'JetKVM as Dell keyboard',
      buildDevice({
        vid: '413C',
        pid: '2011',
        manufacturer: 'Dell Inc.',
        product: 'Multimedia Pro Keyboard',
        serial: '3&1a2b3c4&0&1',
        speedMbps: 480,
        interfaces: ['03:01:01', '03:00:02', '08:06:50'],
      }),
      'confirmed',
      'JetKVM',
    ],
    [
      'stick that types',
      buildDevice({ vid: '0951', pid: '1621', interfaces: ['08:06:50', '03:01:01'] }),
      'suspected',
      'Keyboard with mass storage',
    ],
    [
      'keyboard with storage',
      plainKeyboard({ pid: 'FFF1', interfaces: ['03:01:01', '08:06:50'] }),
      'suspected',
      'Keyboard with mass storage',
    ],
    [
      'keyboard with network',
      plainKeyboard({ pid: 'FFF1', interfaces: ['03:01:01', '02:0d:00'] }),
      'suspected',
      'Keyboard with network',
    ],
    ['hub that types', hub({ interfaces: ['09:00:00', '03:01:01'] }), 'confirmed', 'Hub with hidden functions'],
    [
      'mouse with storage',
      plainMouse({ pid: 'FFF1', interfaces: ['03:01:02', '08:06:50'] }),
      'suspected',
      'Input device with mass storage',
    ],
    ['root hub at a port', hub({ vid: '1D6B', pid: '0002' }), 'suspected', 'False root hub'],
  ])('finds a %s', (_, report, level, name) => {
    const { attackTool } = evaluate(report)
    expect(attackTool).toMatchObject({ level })
    expect(attackTool?.name).toContain(name)
    expect(attackTool?.evidence.length).toBeGreaterThan(0)
    expect(attackTool?.source).not.toBe('')
  })

  it('includes the evidence', () => {
    expect(evaluate(spoofedUnifying()).attackTool?.evidence).toContain(
      'one device combines a keyboard and mass storage',
    )
    expect(evaluate(flipperBadUsb()).attackTool?.evidence).toContain('1 interface')
  })

  it('cleans quoted texts', () => {
    const report = buildDevice({
      vid: '0483',
      pid: '5740',
      product: 'Flipper \u202e\u0000\nx',
      interfaces: ['02:02:01'],
    })
    expect(evaluate(report).attackTool?.evidence.join()).toContain('product is "Flipper  x"')
  })

  it.each(Object.keys(hostileTexts) as (keyof typeof hostileTexts)[])(
    'is not moved by hostile strings: %s',
    (variant) => {
      expect(evaluate(hostileStrings(variant))).toMatchObject({
        kind: 'Mass Storage',
        attackTool: null,
        vulnerabilities: [],
      })
    },
  )
})

describe('vulnerabilities', () => {
  it('of a receiver with firmware 12.07 match exactly', () => {
    expect(ids(unifyingReceiver1207())).toEqual([
      KEYJACK,
      'CVE-2019-13055 firmware',
      'CVE-2019-13052 model',
      'CVE-2019-13053 model',
    ])
    expect(evaluate(unifyingReceiver1207()).vulnerabilities[1]).toMatchObject({
      cvss: null,
      source: expect.stringContaining('CVE-2019-13055'),
    })
  })

  it.each([
    ['1201', true, true, false],
    ['1203', true, true, false],
    ['1204', false, true, false],
    ['1205', false, true, true],
    ['1207', false, true, false],
    ['1208', false, false, false],
    ['1210', false, false, false],
    ['2401', false, true, false],
    ['2403', false, true, true],
    ['2405', false, true, false],
    ['2406', false, false, false],
    ['2411', false, false, false],
    ['3000', false, false, false],
  ])(
    'of a receiver with bcdDevice %s: MouseJack %s, KeyJack %s, first fix only %s',
    (bcdDevice, mouseJack, keyJack, firstFix) => {
      const found = ids(unifyingReceiver1207({ bcdDevice }))
      expect(found.includes('CVE-2016-10761 firmware')).toBe(mouseJack)
      expect(found.includes(KEYJACK)).toBe(keyJack)
      expect(found.includes('Bastille #11 firmware')).toBe(firstFix)
      // No fix was ever published for these two.
      expect(found).toContain('CVE-2019-13052 model')
      expect(found).toContain('CVE-2019-13053 model')
    },
  )

  it('of a YubiKey do not include firmware 5.7', () => {
    expect(ids(yubiKey())).toEqual(['CVE-2024-45678 firmware'])
    expect(ids(yubiKey({ bcdDevice: '0570' }))).toEqual([])
    expect(ids(yubiKey({ bcdDevice: '0434' }))).toEqual(['CVE-2017-15361 firmware'])
    expect(ids(yubiKey({ bcdDevice: '0435' }))).toEqual([])
  })

  it('match by model if the firmware is unknown, and by family if only the vendor is known', () => {
    const kvm = buildDevice({ vid: '3346', pid: '1009', product: 'NanoKVM', interfaces: ['03:01:01'] })
    expect(ids(kvm)).toEqual(['CVE-2026-32296 model'])
    const comet = ids(buildDevice({ vid: '38EB', pid: '0104', interfaces: ['03:01:01'] }))
    expect(comet.length).toBeGreaterThan(0)
    expect(comet.every((text) => text.endsWith(' family'))).toBe(true)
  })

  it('by product name require the name', () => {
    const webcamOf = (product: string) => ids(webcam({ vid: '17EF', pid: '4831', manufacturer: 'Lenovo', product }))
    expect(webcamOf('Lenovo 510 FHD Webcam')).toEqual(['CVE-2025-4371 model'])
    expect(webcamOf('Lenovo 500 FHD Webcam')).toEqual([])
    expect(
      ids(buildDevice({ vid: '18D1', pid: '5026', product: 'Titan Security Key', interfaces: ['03:00:00'] })),
    ).toEqual(['CVE-2021-3011 model'])
    expect(ids(phone())).toEqual([])
  })

  it('name several brands with the same ID once', () => {
    expect(ids(buildDevice({ vid: '062A', pid: '4101', interfaces: ['03:01:01', '03:01:02'] }))).toEqual([
      'KeySniffer Bastille #10 model',
    ])
  })

  it('are not reported for a device that cannot be that product', () => {
    expect(ids(spoofedUnifying())).toEqual([])
  })

  it.each([
    ['keyboard', plainKeyboard()],
    ['mouse', plainMouse()],
    ['stick', storageStick()],
    ['phone', phone()],
    ['hub', hub()],
  ])('of a plain %s do not exist', (_, report) => {
    expect(ids(report)).toEqual([])
  })
})
