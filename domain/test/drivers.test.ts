import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BoundInterface,
  capabilityKinds,
  claimsHub,
  classify,
  createAttackTools,
  decide,
  driverMismatch,
  driverScopeOf,
  driversOf,
  holdsPort,
  isKnownDriver,
  isOutdated,
  isPlainHub,
  mismatchText,
  parseReport,
  part,
  policyDevice,
} from '../src/index.ts'
import {
  buildDevice,
  type Change,
  hub,
  networkAdapter,
  phone,
  plainKeyboard,
  storageStick,
  unifyingReceiver1207,
  webcam,
  yubiKey,
} from '../src/testing.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const bound = (number: number, driver: string | null, ...hidDrivers: string[]): BoundInterface => ({
  configuration: 1,
  number,
  driver,
  hidDrivers,
})
const asHub = { by: 'kinds' as const, kinds: ['Hub' as const] }
const identity = { by: 'identity' as const }
const found = (report: DeviceReport, scope: typeof asHub | typeof identity, ...interfaces: BoundInterface[]) =>
  driverMismatch(parseReport(report), report, interfaces, scope)
const decisionOf = (report: DeviceReport) => decide([], policyDevice(parseReport(report), report, null), now)

const interruptIn = { address: 0x81, attributes: 3 }
const hubWith = (change: Change) => hub({ interfaces: ['09:00:00'], ...change })

describe('a hub', () => {
  it('is recognised with one or several transaction translators, at any speed', () => {
    for (const genuine of [
      hub(),
      hubWith({}),
      hubWith({ deviceCode: '09:00:03', bcdUsb: 0x0300, maxPacketSize0: 9, speedMbps: 5000 }),
      hubWith({ interfaces: [{ code: '09:00:00', endpoints: [{ address: 0x81, attributes: 0x13 }] }] }),
    ])
      expect(decisionOf(genuine)).toMatchObject({ effect: 'allow', source: 'hub' })
  })

  it.each<[string, DeviceReport]>([
    ['of a vendor class', hubWith({ deviceCode: 'ff:00:00', vid: '0BDA', pid: '8150' })],
    ['of a class by interface', hubWith({ deviceCode: '00:00:00', vid: '04B8', pid: '0602', bcdDevice: '0110' })],
    ['with a second configuration', hubWith({ moreConfigurations: [['03:01:01']] })],
    ['with a second configuration like the first', hubWith({ moreConfigurations: [['09:00:00']] })],
    ['with a second interface', hubWith({ interfaces: ['09:00:00', '09:00:00'] })],
    ['with a keyboard', hubWith({ interfaces: ['09:00:00', '03:01:01'] })],
    ['without endpoints', hubWith({ interfaces: [{ code: '09:00:00', endpoints: [] }] })],
    [
      'with two endpoints',
      hubWith({ interfaces: [{ code: '09:00:00', endpoints: [interruptIn, { address: 0x82 }] }] }),
    ],
    [
      'with a bulk endpoint',
      hubWith({ interfaces: [{ code: '09:00:00', endpoints: [{ address: 0x81, attributes: 2 }] }] }),
    ],
    ['with an endpoint out', hubWith({ interfaces: [{ code: '09:00:00', endpoints: [{ address: 0x01 }] }] })],
    [
      'with an invalid second setting',
      hubWith({
        interfaces: [
          { code: '09:00:01', number: 0 },
          { code: '08:06:50', number: 0, alternate: 1 },
        ],
      }),
    ],
    [
      'with a third setting',
      hubWith({ interfaces: [0, 1, 2].map((alternate) => ({ code: '09:00:01', number: 0, alternate })) }),
    ],
  ])('is not recognised, and is suspicious if it can act: %s', (_what, report) => {
    expect(decisionOf(report)).toMatchObject({ effect: 'block', source: 'default' })
    const parsed = parseReport(report)
    const { finding } = createAttackTools([], []).assess({
      parsed,
      report,
      kinds: classify(parsed, report).capabilities,
    })
    // Without an endpoint it cannot act, so it is not a finding.
    const canAct = parsed.configurations.some((c) => c.interfaces.some((i) => i.class !== 9 || i.endpoints.length > 0))
    expect(finding?.level ?? 'none').toMatch(canAct ? /suspected|confirmed/ : /none/)
    expect(claimsHub(parsed)).toBe(true)
  })

  it('no descriptors pass as a hub unless hub is the only driver by class', () => {
    // Most fields are those of a genuine hub, so that many descriptors pass or differ in one field.
    const mostly = <T>(genuine: T, other: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 9, arbitrary: fc.constant(genuine) }, { weight: 1, arbitrary: other })
    const code = mostly('09:00:00', fc.constantFrom('09:00:01', '03:01:01', '08:06:50', 'ff:ff:00'))
    const endpoint = fc.record({
      address: mostly(0x81, fc.constantFrom(0x01, 0x82)),
      attributes: mostly(3, fc.nat(3)),
    })
    const setting = fc.record({
      code,
      number: mostly(0, fc.nat(1)),
      alternate: mostly(0, fc.nat(2)),
      endpoints: fc.oneof(
        { weight: 9, arbitrary: fc.array(endpoint, { minLength: 1, maxLength: 1 }) },
        { weight: 1, arbitrary: fc.array(endpoint, { maxLength: 2 }) },
      ),
    })
    const spec = fc.record({
      deviceCode: mostly('09:00:00', fc.constantFrom('09:00:01', '00:00:00', 'ff:ff:ff', 'ef:02:01')),
      interfaces: fc.oneof(
        { weight: 6, arbitrary: fc.array(setting, { minLength: 1, maxLength: 1 }) },
        { weight: 4, arbitrary: fc.array(setting, { maxLength: 3 }) },
      ),
      moreConfigurations: fc.oneof(
        { weight: 9, arbitrary: fc.array(fc.array(code), { maxLength: 0 }) },
        { weight: 1, arbitrary: fc.array(fc.array(code, { maxLength: 2 }), { maxLength: 1 }) },
      ),
    })
    let passed = 0
    fc.assert(
      fc.property(spec, (change) => {
        const report = hub(change)
        const parsed = parseReport(report)
        if (decisionOf(report).source !== 'hub') return
        passed++
        const settings = parsed.configurations[0]?.interfaces ?? []
        expect([parsed.deviceClass, parsed.configurations.length, new Set(settings.map((i) => i.number)).size]).toEqual(
          [9, 1, 1],
        )
        for (const i of settings)
          expect([i.class, i.endpoints.map((e) => [e.address & 0x80, e.attributes & 3])]).toEqual([9, [[0x80, 3]]])
      }),
      { numRuns: 20_000 },
    )
    expect(passed).toBeGreaterThan(2_000)
  })
})

describe('drivers', () => {
  it('a hub may have only the hub driver, whatever the kernel bound', () => {
    const others = capabilityKinds.flatMap((kind) => driversOf(kind).usb).filter((name) => name !== 'hub')
    fc.assert(
      fc.property(fc.constantFrom(...others, 'made_up'), (driver) => {
        expect(found(hub(), asHub, bound(0, driver))?.bound).toEqual([{ interface: 0, claims: 'Hub', driver }])
      }),
    )
    expect(found(hub(), asHub, bound(0, 'hub'))).toBeNull()
    expect(found(hub(), asHub, bound(0, null))).toBeNull()
    const lie = found(hub({ vid: '0BDA', pid: '8150' }), asHub, bound(0, 'rtl8150'))
    expect(lie && mismatchText(lie)).toBe('claims hub, bound rtl8150')
  })

  it('no driver is allowed for hubs and another kind', () => {
    for (const kind of capabilityKinds) if (kind !== 'Hub') expect(driversOf(kind).usb).not.toContain('hub')
    expect(driversOf('Hub')).toEqual({ usb: ['hub'], hid: [] })
  })

  it('include the drivers of genuine devices', () => {
    for (const [report, ...interfaces] of [
      [plainKeyboard(), bound(0, 'usbhid', 'hid-generic'), bound(1, 'usbhid', 'hid-generic')],
      [unifyingReceiver1207(), bound(0, 'usbhid', 'logitech-djreceiver'), bound(2, 'usbhid', 'logitech-djreceiver')],
      [storageStick(), bound(0, 'usb-storage')],
      [storageStick(), bound(0, 'uas')],
      [webcam(), bound(0, 'uvcvideo'), bound(1, 'uvcvideo'), bound(2, 'snd-usb-audio'), bound(3, 'snd-usb-audio')],
      [yubiKey(), bound(0, 'usbhid', 'hid-generic'), bound(1, 'usbhid', 'hid-generic'), bound(2, 'usbfs')],
      [phone(), bound(0, 'usbfs')],
      [networkAdapter(), bound(0, 'r8152')],
      [
        networkAdapter(),
        { ...bound(0, 'cdc_ether'), configuration: 2 },
        { ...bound(1, 'cdc_ether'), configuration: 2 },
      ],
      [buildDevice({ vid: '0403', pid: '6001', interfaces: ['ff:ff:ff'] }), bound(0, 'ftdi_sio')],
      [
        buildDevice({ vid: '2341', pid: '0043', interfaces: ['02:02:01', '0a:00:00'] }),
        bound(0, 'cdc_acm'),
        bound(1, 'cdc_acm'),
      ],
      [buildDevice({ vid: '03F0', pid: '0001', interfaces: ['07:01:02'] }), bound(0, 'usblp')],
    ] as const) {
      const kinds = classify(parseReport(report), report).capabilities
      expect(driverMismatch(parseReport(report), report, interfaces, { by: 'kinds', kinds })).toBeNull()
      expect(driverMismatch(parseReport(report), report, interfaces, identity)).toBeNull()
    }
  })

  it.each<[what: string, vid: string, pid: string, codes: string[], driver: string, ...hid: string[]]>([
    ['security key', '1A2B', '4287', ['03:00:00'], 'usbhid', 'hid-u2fzero'],
    ['headset', '1A2B', '0014', ['01:01:00', '03:00:00'], 'usbhid', 'cmedia_hs100b'],
    ['touch screen', '1A2B', '0050', ['03:00:00'], 'usbhid', 'hid-accutouch'],
    ['touch pad', '1A2B', '120B', ['03:01:02'], 'usbhid', 'hid-alps'],
    ['remote control', '1A2B', 'F767', ['03:01:01'], 'usbhid', 'LC RC1000MCE'],
    ['fan controller', '1A2B', 'F00D', ['03:00:00'], 'usbhid', 'aquacomputer_d5next'],
    ['tablet', '1A2B', '0004', ['03:01:02'], 'usb_acecad'],
    ['radio', '1A2B', '818A', ['03:00:00'], 'radio-si470x'],
    ['serial adapter', '1A2B', '5500', ['03:00:00'], 'cypress_m8'],
    ['parallel adapter', '1A2B', '0002', ['07:01:02'], 'uss720'],
    ['contactless reader', '1A2B', '2200', ['0b:00:00'], 'pn533_usb'],
    ['network adapter', '1A2B', '7830', ['02:06:00'], 'MOSCHIP usb-ethernet driver'],
    ['camera', '1A2B', '0305', ['0e:01:00'], 'Philips webcam'],
  ])('a genuine %s keeps its driver', (_what, vid, pid, codes, driver, ...hid) => {
    const report = buildDevice({ vid, pid, interfaces: codes })
    const number = codes.length - 1
    const kinds = classify(parseReport(report), report).capabilities
    for (const scope of [identity, { by: 'kinds' as const, kinds }])
      expect(driverMismatch(parseReport(report), report, [bound(number, driver, ...hid)], scope)).toBeNull()
  })

  it('that no listed kernel has are reported, and hold a port only if kinds are the basis', () => {
    expect([isKnownDriver('hid-next-year'), isKnownDriver('hid-generic'), isKnownDriver('LC RC1000MCE')]).toEqual([
      false,
      true,
      true,
    ])
    const byKinds = { by: 'kinds' as const, kinds: ['Keyboard' as const, 'HID' as const] }
    const report = plainKeyboard()
    const parsed = parseReport(report)
    const newer = driverMismatch(parsed, report, [bound(0, 'usbhid', 'hid-next-year')], identity)
    expect(newer && mismatchText(newer)).toBe('claims keyboard, bound the unknown driver hid-next-year')
    expect([holdsPort(newer, identity), holdsPort(newer, byKinds)]).toEqual([null, newer])
    expect(holdsPort(null, byKinds)).toBeNull()
    // A device with many interfaces does not push the driver that decides out of the evidence.
    const ids = Array.from({ length: 20 }, (_, number) => bound(number, null, 'hid-next-year'))
    const many = driverMismatch(parsed, report, [...ids, bound(20, null, 'hid-other'), bound(21, 'rtl8150')], identity)
    expect(holdsPort(many, identity)?.bound).toMatchObject([{ interface: 21, driver: 'rtl8150' }])
    expect([many?.bound.length, many?.bound.slice(0, 3).map(({ driver }) => driver)]).toEqual([
      16,
      ['rtl8150', 'hid-next-year', 'hid-other'],
    ])
    // A known driver of another kind holds the port beside an unknown one.
    const both = driverMismatch(parsed, report, [bound(0, 'usbhid', 'hid-next-year'), bound(1, 'rtl8150')], identity)
    expect([holdsPort(both, identity), part('unknown', both)].map((one) => one?.bound.map((b) => b.driver))).toEqual([
      ['rtl8150'],
      ['hid-next-year'],
    ])
    expect(newer && mismatchText({ ...newer, kernel: '7.4.1' })).toBe(
      'claims keyboard, bound the unknown driver hid-next-year (kernel 7.4.1)',
    )
    const asHubs = driverMismatch(parseReport(hub()), hub(), [bound(0, 'next_year')], asHub)
    expect(holdsPort(asHubs, asHub)).toEqual(asHubs)
  })

  it('that only the table of an older agent lacks are no contradiction', () => {
    const of = (claims: 'HID' | 'Keyboard', driver: string) => ({ bound: [{ interface: 0, claims, driver }] })
    const older = of('HID', 'hid-u2fzero')
    expect([isOutdated(older), part('known', older), mismatchText(older)]).toEqual([
      true,
      null,
      'claims hid, bound the unknown driver hid-u2fzero',
    ])
    // A camera has a USB driver with the name of a keyboard driver on the HID bus.
    for (const lie of [of('Keyboard', 'sunplus'), of('Keyboard', 'mcp2221'), of('HID', 'rtl8150')])
      expect([isOutdated(lie), part('unknown', lie)]).toEqual([false, null])
  })

  it('a driver of another kind is a mismatch on the USB bus and on the HID bus', () => {
    for (const [report, one] of [
      [plainKeyboard(), bound(0, 'usb-storage')],
      [plainKeyboard(), bound(0, 'usbhid', 'mcp2221')],
      [storageStick(), bound(0, 'rtl8150')],
      [storageStick(), bound(0, 'usbhid')],
      [webcam(), bound(2, 'uvcvideo')],
      [phone(), bound(0, 'cdc_ether')],
      // The descriptors do not contain this interface.
      [storageStick(), bound(4, 'usb-storage')],
    ] as const)
      expect(found(report, identity, one)?.bound).toHaveLength(1)
  })

  it('of a vendor-specific interface depend on the identity or the allowed kinds', () => {
    const odd = buildDevice({ vid: '1234', pid: '0001', interfaces: ['ff:00:00'] })
    const by = (...kinds: ('Unknown' | 'Communication')[]) => ({ by: 'kinds' as const, kinds })
    const [parsed, interfaces] = [parseReport(odd), [bound(0, 'cp210x')]]
    expect(driverMismatch(parsed, odd, interfaces, identity)).toBeNull()
    expect(driverMismatch(parsed, odd, interfaces, by('Unknown'))?.bound[0]?.driver).toBe('cp210x')
    expect(driverMismatch(parsed, odd, interfaces, by('Unknown', 'Communication'))).toBeNull()
  })

  it('only the hub driver is not a mismatch for a device that passes as a hub', () => {
    const change = fc.record({ vid: fc.constantFrom('0BDA', '04B8'), pid: fc.constantFrom('8150', '0602', '5411') })
    const names = fc.constantFrom('hub', 'rtl8150', 'usb-storage', 'usbhid', 'uvcvideo', 'cdc_acm')
    fc.assert(
      fc.property(change, fc.nat(1), names, (ids, number, driver) => {
        const report = hub(ids)
        expect(isPlainHub(parseReport(report))).toBe(true)
        expect(found(report, asHub, bound(number, driver)) === null).toBe(driver === 'hub' && number === 0)
      }),
    )
  })

  it.each([
    ['remote control', '0471', '0602', ['ff:5d:01', '58:42:00'], 'ati_remote2'],
    ['remote control', '06CD', '0202', ['ff:5d:01', '58:42:00'], 'keyspan_remote'],
    ['radio remote control', '0BC7', '0004', ['58:42:00'], 'ati_remote'],
    ['console remote control', '045E', '0284', ['58:42:00'], 'xbox_remote'],
    ['infrared receiver', '0471', '0815', ['ff:5d:01'], 'mceusb'],
    ['media center display', '15C2', 'FFDC', ['ff:5d:01'], 'imon'],
    ['infrared receiver', '0E9C', '0000', ['ff:5d:01'], 'streamzap'],
    ['telephone', '0D8C', '000E', ['ff:5d:01'], 'cm109'],
    ['telephone', '6993', 'B001', ['ff:5d:01'], 'yealink'],
    ['passenger control unit', '04D8', '0082', ['58:42:00'], 'ims_pcu'],
    ['macro keys of a tablet', '08CA', '0001', ['ff:5d:01'], 'aiptek'],
    ['knob', '077D', '0410', ['58:42:00'], 'powermate'],
    ['game controller', '045E', '028E', ['ff:5d:01'], 'xpad'],
    ['keyboard', '045E', '0000', ['ff:5d:01'], 'usbkbd'],
  ] as const)('a rule for HID alone does not accept a %s (%s:%s)', (_what, vid, pid, interfaces, driver) => {
    const report = buildDevice({ vid, pid, interfaces: [...interfaces] })
    const [parsed, device] = [parseReport(report), policyDevice(parseReport(report), report, null)]
    const rule = (...kinds: ('HID' | 'Keyboard' | 'Unknown')[]) =>
      ({ id: 'r', effect: 'allow', level: 'global', kinds, reason: 'test' }) as const
    const withKeyboard = rule('HID', 'Keyboard')
    expect(decide([rule('HID')], device, now).effect).toBe('block')
    expect(decide([withKeyboard], device, now).effect).toBe('allow')
    expect(driverMismatch(parsed, report, [bound(0, driver)], driverScopeOf(rule('HID'), device))?.bound).toEqual([
      { interface: 0, claims: 'HID', driver },
    ])
    if (driver === 'usbkbd') return
    expect(driverMismatch(parsed, report, [bound(0, driver)], driverScopeOf(withKeyboard, device))).toBeNull()
    expect(driverMismatch(parsed, report, [bound(0, driver)], identity)).toBeNull()
    expect(driverMismatch(parsed, report, [bound(0, driver)], driverScopeOf({ pid }, device))).toBeNull()
  })

  it('drivers that send keys are allowed only for keyboards', () => {
    for (const driver of ['ati_remote', 'xpad', 'mceusb', 'em28xx', 'dvb_usb_dib0700', 'snd-usb-caiaq'])
      expect(capabilityKinds.filter((kind) => driversOf(kind).usb.includes(driver))).toEqual(['Keyboard'])
    for (const [code, driver] of [
      ['0e:01:00', 'em28xx'],
      ['01:01:00', 'snd-usb-caiaq'],
    ] as const) {
      const report = buildDevice({ vid: '1234', pid: '0001', interfaces: [code] })
      const { capabilities } = classify(parseReport(report), report)
      expect(
        driverMismatch(parseReport(report), report, [bound(0, driver)], { by: 'kinds', kinds: capabilities }),
      ).not.toBeNull()
    }
  })

  it('a rule with only a vendor limits a device to the drivers of its claimed kinds', () => {
    const scopeOf = (report: DeviceReport, rule: Parameters<typeof driverScopeOf>[0]) =>
      driverScopeOf(rule, policyDevice(parseReport(report), report, null))
    const byVendor = (report: DeviceReport, ...interfaces: BoundInterface[]) =>
      driverMismatch(parseReport(report), report, interfaces, scopeOf(report, {}))
    const odd = buildDevice({ vid: '0BDA', pid: '8150', interfaces: ['ff:00:00'] })
    expect(byVendor(odd, bound(0, 'rtl8150'))?.bound).toEqual([{ interface: 0, claims: 'Unknown', driver: 'rtl8150' }])
    for (const named of [{ pid: '8150' }, { fingerprint: '0'.repeat(32) }])
      expect(driverMismatch(parseReport(odd), odd, [bound(0, 'rtl8150')], scopeOf(odd, named))).toBeNull()
    const both = buildDevice({ vid: '0BDA', pid: '1234', interfaces: ['02:06:00', 'ff:00:00'] })
    expect(byVendor(both, bound(0, 'cdc_ether'), bound(1, 'r8152'))).toBeNull()
    expect(byVendor(both, bound(1, 'usb-storage'))).not.toBeNull()
    // Genuine devices keep their drivers.
    for (const [report, ...interfaces] of [
      [plainKeyboard(), bound(0, 'usbhid', 'hid-generic'), bound(1, 'usbhid', 'hid-generic')],
      [networkAdapter(), bound(0, 'r8152')],
      [webcam(), bound(0, 'uvcvideo'), bound(2, 'snd-usb-audio')],
      [buildDevice({ vid: '045E', pid: '028E', interfaces: ['ff:5d:01', 'ff:5d:03'] }), bound(0, 'xpad')],
    ] as const)
      expect(byVendor(report, ...interfaces)).toBeNull()
  })
})
