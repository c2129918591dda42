import { interfaceSet, parseReport } from '@portcullis/domain'
import { describe, expect, it } from 'vitest'
import { readPoll } from '../../src/platforms/index.ts'
import { parsePlist } from '../../src/platforms/tree.ts'
import { evaluate } from '../knowledge-data.ts'
import { macAnswer, plist, type Value } from './macos-host.ts'

const devicesOf = (output: Buffer) => {
  const { platform, reading } = readPoll(output)
  expect(platform).toBe('macos')
  if (!reading.ok) throw new Error(reading.message)
  return reading.devices.map((report) => ({ ...report, ...parseReport(report), report }))
}

/** A storage device as macOS 26 reports it. */
const stick = {
  _name: 'Ultra',
  USBDeviceKeyVendorID: '0x0781',
  USBDeviceKeyProductID: '0x5581',
  USBDeviceKeyVendorName: 'SanDisk',
  USBDeviceKeySerialNumber: '4C530001230615112345',
  USBDeviceKeyProductVersion: '0x0100',
  USBDeviceKeyLinkSpeed: '5 Gb/s',
  USBKeyHardwareType: 'Removable',
  USBKeyLocationID: '0x01100000',
}
const host = (...items: object[]) =>
  JSON.stringify({
    SPUSBDataType: [],
    SPUSBHostDataType: [
      { _name: 'USB 3.1 Bus', Driver: 'AppleT8112USBXHCI', USBKeyLocationID: '0x01000000', _items: items },
    ],
  })

/** A keyboard as the registry reports it. */
const keyboard = {
  IOObjectClass: 'IOUSBHostDevice',
  locationID: 0x14330000,
  idVendor: 0x413c,
  idProduct: 0x2113,
  bcdDevice: 0x0110,
  bDeviceClass: 0,
  bDeviceSubClass: 0,
  bDeviceProtocol: 0,
  USBSpeed: 2,
  kUSBVendorString: 'DELL',
  kUSBProductString: 'Dell KB216 Wired Keyboard',
}
const part = (bInterfaceNumber: number, bInterfaceClass: number, bInterfaceSubClass = 0, bInterfaceProtocol = 0) => ({
  ...{ bInterfaceNumber, bInterfaceClass, bInterfaceSubClass, bInterfaceProtocol, locationID: keyboard.locationID },
  ...{ IOObjectClass: 'IOUSBHostInterface', idVendor: keyboard.idVendor, idProduct: keyboard.idProduct },
})

describe('a Mac', () => {
  it('reports devices only under the new keys on macOS 26', () => {
    const [device, ...others] = devicesOf(macAnswer({ profiler: host(stick) }))
    expect(others).toEqual([])
    expect(device?.report).toMatchObject({
      portPath: '1-1',
      manufacturer: 'SanDisk',
      product: 'Ultra',
      serial: '4C530001230615112345',
      speedMbps: 5_000,
      removable: 'removable',
    })
    expect(device).toMatchObject({ vid: '0781', pid: '5581', bcdDevice: 0x0100, iSerial: 3, isComplete: false })
    expect(device?.problems).toEqual([])
  })

  it('reports `Not Provided` for a missing serial number', () => {
    const [device] = devicesOf(macAnswer({ profiler: host({ ...stick, USBDeviceKeySerialNumber: 'Not Provided' }) }))
    expect(device).toMatchObject({ iSerial: 0 })
    expect(device?.serial).toBeUndefined()
  })

  it('lists devices with prefixed keys before macOS 10.15, in JSON and in a property list', () => {
    const items: Value = [
      {
        _name: 'USBBus',
        _items: [
          {
            _name: 'Some Stick',
            a_product_id: '0x5581',
            b_vendor_id: '0x0781  (SanDisk)',
            c_bcd_device: '1.26',
            d_serial_num: '4C53',
            e_device_speed: 'high_speed',
            f_manufacturer: 'SanDisk',
            g_location_id: '0x14100000 / 3',
          },
        ],
      },
    ]
    for (const profiler of [JSON.stringify({ SPUSBDataType: items }), plist(items)])
      expect(devicesOf(macAnswer({ profiler }))).toEqual([
        expect.objectContaining({
          portPath: '20-1',
          product: 'Some Stick',
          manufacturer: 'SanDisk',
          serial: '4C53',
          speedMbps: 480,
        }),
      ])
  })

  it('is a failed poll if it lists products but none has a location', () => {
    const profiler = JSON.stringify({
      SPUSBDataType: [{ _items: [{ _name: 'Stick', newProductID: '0x5581', newLocation: '0x14100000' }] }],
    })
    expect(readPoll(macAnswer({ profiler })).reading).toMatchObject({ ok: false, failure: 'not-understood' })
  })

  it('has no devices if both lists and the registry are empty', () => {
    expect(devicesOf(macAnswer())).toEqual([])
  })

  it('lists interfaces in the registry, which identify a keyboard', () => {
    const [device] = devicesOf(
      macAnswer({ registry: plist(keyboard), interfaces: plist([part(1, 3), part(0, 3, 1, 1), part(0, 3, 1, 1)]) }),
    )
    expect(interfaceSet(device!)).toBe('03:00:00 03:01:01')
    expect(device?.report).toMatchObject({ portPath: '20-3.3', speedMbps: 1.5, product: 'Dell KB216 Wired Keyboard' })
    expect(evaluate(device!.report)).toMatchObject({ kind: 'Keyboard', attackTool: null })
  })

  it('reports a keyboard with storage', () => {
    const [device] = devicesOf(
      macAnswer({ registry: plist(keyboard), interfaces: plist([part(0, 3, 1, 1), part(1, 8, 6, 80)]) }),
    )
    expect(evaluate(device!.report).attackTool).toMatchObject({ level: 'suspected' })
  })

  it('is read from the registry if system_profiler fails', () => {
    const profiler = 'system_profiler: -json: unknown option'
    expect(devicesOf(macAnswer({ profiler, registry: plist(keyboard) }))).toMatchObject([{ vid: '413C' }])
  })

  it('merges a device in the registry and in system_profiler', () => {
    const old = {
      _name: 'hub_device',
      vendor_id: 'apple_vendor_id',
      product_id: '0x1006',
      location_id: '0x14330000 / 6',
    }
    const profiler = JSON.stringify({
      SPUSBDataType: [{ _items: [{ ...old, bcd_device: '96.15', serial_num: 'S1' }] }],
    })
    expect(devicesOf(macAnswer({ profiler }))).toMatchObject([
      { vid: '05AC', pid: '1006', bcdDevice: 0x9615, deviceClass: 9, serial: 'S1' },
    ])
    expect(devicesOf(macAnswer({ profiler }))[0]?.product).toBeUndefined()
    const hub = { ...keyboard, idVendor: 0x05ac, idProduct: 0x1006, bDeviceClass: 9, bDeviceProtocol: 1 }
    expect(devicesOf(macAnswer({ profiler, registry: plist([hub]) }))).toMatchObject([
      { deviceClass: 9, deviceProtocol: 1, serial: 'S1', product: 'Dell KB216 Wired Keyboard' },
    ])
  })

  it('is fixed if system_profiler calls it non-removable, and has no name if it has no string', () => {
    const item = (location: string, hardware: string) => ({
      _name: 'Unnamed Device',
      USBDeviceKeyVendorID: '0x05e3',
      USBDeviceKeyProductID: '0x0610',
      USBKeyLocationID: location,
      USBKeyHardwareType: hardware,
    })
    const _items = [item('0x01100000', 'Non-removable'), item('0x01200000', 'Removable'), item('0x01300000', 'Other')]
    const found = devicesOf(macAnswer({ profiler: JSON.stringify({ SPUSBHostDataType: [{ _items }] }) }))
    expect(found.map(({ report }) => [report.removable, report.product])).toEqual([
      ['fixed', undefined],
      ['removable', undefined],
      [undefined, undefined],
    ])
  })

  it('reads locations with 64 bits, 32 bits or hex, and skips buses', () => {
    const at = (locationID: number | bigint) => ({ ...keyboard, locationID })
    const registry = plist([at(0xfd000000), at(0xffff_ffff_fd13_4256n), at(0x80700000), at(0)])
    expect(devicesOf(macAnswer({ registry })).map((d) => d.portPath)).toEqual(['128-7', '253-1.3.4.2.5.6'])
  })

  it('reports facts about itself', () => {
    const ifconfig = [
      'lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 16384',
      '\tinet 127.0.0.1 netmask 0xff000000',
      'en0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500',
      '\tether a4:83:e7:00:00:01',
      '\tinet6 fe80::1%en0 prefixlen 64 secured scopeid 0x6',
      '\tinet 192.0.2.7 netmask 0xffffff00 broadcast 192.0.2.255',
      '\tstatus: active',
      'en5: flags=8863<UP,BROADCAST,RUNNING> mtu 1500',
      '\tether ac:de:48:00:11:22',
      '\tstatus: inactive',
    ]
    const output = macAnswer({ host: ['Darwin my mac 23.5.0 arm64', '14.5', 'Mac14,13', ...ifconfig] })
    expect(readPoll(output).reading).toMatchObject({
      facts: {
        ...{ hostname: 'my mac', osName: 'macOS 14.5', osVersion: '14.5', kernel: '23.5.0', architecture: 'arm64' },
        ...{ vendor: 'Apple Inc.', model: 'Mac14,13', agentVersion: '', enforcement: 'observe' },
        nics: [
          { name: 'en0', mac: 'a4:83:e7:00:00:01', addresses: ['fe80::1', '192.0.2.7'], isUp: true },
          { name: 'en5', mac: 'ac:de:48:00:11:22', addresses: [], isUp: false },
        ],
      },
    })
  })

  it.each([
    ['is cut off', macAnswer().subarray(0, 120), 'not-understood'],
    ['prints no USB data', macAnswer({ profiler: '' }), 'not-permitted'],
    ['does not print a list', macAnswer({ profiler: 'dyld: killed' }), 'not-understood'],
  ])('reports an error if it %s', (_, output, failure) => {
    expect(readPoll(output)).toMatchObject({ platform: 'macos', reading: { ok: false, failure } })
  })

  it('does not report a second device because of a text', () => {
    const section = `\n<portcullis end>\n<portcullis registry>\n${plist({ ...keyboard, locationID: 0x20100000 })}\n`
    const inner = '</string><key>idVendor</key><integer>1</integer></dict><dict>"},{"product_id":"0x1"'
    const name = `${section}${inner}`
    const output = macAnswer({
      profiler: JSON.stringify(JSON.parse(host({ ...stick, _name: name })), null, 2),
      registry: plist([{ ...keyboard, kUSBProductString: name }]),
    })
    const found = devicesOf(output)
    expect(found.map((d) => [d.portPath, d.vid, d.product])).toEqual([
      ['1-1', '0781', name.slice(0, 255)],
      ['20-3.3', '413C', name.slice(0, 255)],
    ])
  })
})

describe('a Mac with many devices', () => {
  /** A device in system_profiler: location with address, VID and PID as the tool writes them, and name. */
  const item = (location_id: string, vendor_id: string, product_id: string, _name: string, more: object = {}) => ({
    ...{ _name, bcd_device: '1.00', bus_power: '500', bus_power_used: '100', device_speed: 'high_speed' },
    ...{ extra_current_used: '0', location_id, product_id, vendor_id, manufacturer: 'A maker' },
    ...more,
  })
  const bus = (host_controller: string, ..._items: object[]) => ({
    ...{ _name: 'USB31Bus', host_controller, pci_device: '0xa36d ', pci_revision: '0x0010 ', pci_vendor: '0x8086 ' },
    ...(_items.length === 0 ? {} : { _items }),
  })
  const hidden = { serial_num: '********' }
  const chips = '0x0bda  (A maker of chips)'
  const screens = '0x043e  (A maker of screens)'
  const own = 'apple_vendor_id'
  const probe = item('0x14330000 / 6', '0x1d50', '0x6018', 'Probe  v1.8.2', { ...hidden, device_speed: 'full_speed' })
  const phone = item('0x14313000 / 5', '0x05c6  (Another maker)', '0x9091', 'Phone', hidden)
  const innerHub = item('0x14310000 / 2', chips, '0x5411', 'Hub', { _items: [phone] })
  const outerHub = item('0x14300000 / 1', chips, '0x5411', 'Hub', { _items: [probe, innerHub] })
  const headphones = item('0x14100000 / 4', own, '0x1109', 'Headphones', { bcd_device: '9b.00', ...hidden })
  const disk = item('0x02320000 / 8', '0x0781  (SanDisk Corporation)', '0x558c', 'A disk', {
    ...{ bcd_device: '10.12', device_speed: 'super_speed', manufacturer: 'SanDisk', ...hidden },
    Media: [{ _name: 'A disk', bsd_name: 'disk2', 'Logical Unit': 0, size_in_bytes: 1_000_204_140_544, volumes: [{}] }],
  })
  const camera = item('0x02343000 / 9', screens, '0x9a68', 'Camera of a screen')
  const { manufacturer: _, ...nameless } = item('0x02340000 / 6', screens, '0x9a71', 'hub_device', { _items: [camera] })
  const padded = item('0x02330000 / 4', '0x2109  (A maker)', '0x0817', 'USB3.0 Hub             ', {
    ...{ manufacturer: 'A maker, Inc.         ', bcd_device: '4.53' },
  })
  const screen = item('0x02300000 / 2', screens, '0x9a60', 'USB3.1 Hub', {
    ...{ bcd_device: '52.50', _items: [padded, disk, nameless] },
  })
  // An internal bus has no addresses, speeds or power.
  const inside = (location_id: string, product_id: string, _name: string) => ({
    ...{ _name, bcd_device: '2.01', location_id, manufacturer: 'A maker', product_id, vendor_id: own, ...hidden },
  })
  const profiler = JSON.stringify({
    SPUSBDataType: [
      bus('AppleIntelCNLUSBXHCI', outerHub, headphones),
      bus('AppleUSBXHCITR'),
      bus('AppleUSBXHCITR', item('0x00100000 / 1', chips, '0x0411', 'Hub', { device_speed: 'super_speed' })),
      bus('AppleUSBXHCITR', screen),
      { _name: 'T2Bus', host_controller: 'AppleUSBVHCIBCE', _items: [inside('0x80500000', '0x027c', 'Keyboard')] },
    ],
  })

  it('lists all of them, without attack tools', () => {
    const devices = devicesOf(macAnswer({ profiler }))
    expect(devices.map((d) => `${d.portPath} ${d.vid}:${d.pid}`)).toEqual([
      ...['0-1 0BDA:0411', '2-3 043E:9A60', '2-3.2 0781:558C', '2-3.3 2109:0817', '2-3.4 043E:9A71'],
      ...['2-3.4.3 043E:9A68', '20-1 05AC:1109', '20-3 0BDA:5411', '20-3.1 0BDA:5411', '20-3.1.3 05C6:9091'],
      ...['20-3.3 1D50:6018', '128-5 05AC:027C'],
    ])
    for (const { report, problems } of devices) {
      expect(problems).toEqual([])
      expect(evaluate(report).attackTool?.name, report.product).toBeUndefined()
    }
    const at = (portPath: string) => devices.find((d) => d.portPath === portPath)
    expect(at('2-3.2')).toMatchObject({
      ...{ bcdDevice: 0x1012, manufacturer: 'SanDisk', product: 'A disk', speedMbps: 5_000 },
    })
    expect([at('2-3.4')?.deviceClass, at('2-3.4')?.product]).toEqual([9, undefined])
    expect([at('20-1')?.bcdDevice, at('20-3.3')?.speedMbps]).toEqual([0x9b00, 12])
  })

  it('lists them in a property list as well', () => {
    const dict = (members: string) => `<dict>${members}</dict>`
    const said = (...pairs: [string, string][]) =>
      pairs.map(([key, text]) => `<key>${key}</key><string>${text}</string>`).join('')
    const device = (place: string, product: string, vendor: string, name: string, serial = '', items = '') =>
      dict(
        `<key>Built-in_Device</key><string>Yes</string>${items && `<key>_items</key><array>${items}</array>`}
        ${said(['_name', name], ['bcd_device', '2.08'], ['device_speed', 'full_speed'], ['location_id', place])}
        ${said(['product_id', product], ['vendor_id', vendor])}${serial && said(['serial_num', serial])}`,
      )
    const radio = device('0x1a110000 / 2', '0x820f', own, 'Radio', '00231241D46C')
    const mouse = device('0x3a210000 / 3', '0x0304', own, 'Mouse')
    const keyboard = device('0x3a230000 / 2', '0x020c', own, 'Keyboard')
    const devices = [
      device('0x1a100000 / 1', '0x4500', '0x0a5c  (A maker)', 'Hub', '', radio),
      device('0x3a200000 / 1', '0x1003', own, 'Hub in a keyboard', '', mouse + keyboard),
      device('0xfa200000 / 1', '0xa00c', '0x0480  (A maker &amp; another)', 'Disk', '20150123045944'),
      device('0xfd400000 / 1', '0x8502', own, 'Camera', '8T8AH11BE0003L00'),
    ]
    const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><array>${dict(
      `<key>_SPCommandLineArguments</key><array><string>/usr/sbin/system_profiler</string></array>
      <key>_SPCompletionInterval</key><real>1.4819530248641968</real>
      <key>_timeStamp</key><date>2017-06-28T13:40:08Z</date>
      <key>_detailLevel</key><integer>-1</integer><key>_dataType</key><string>SPUSBDataType</string>
      <key>_items</key><array>${dict(said(['_name', 'USBBus'], ['host_controller', 'AppleUSBUHCIPCI']))}
      ${devices.map((one) => dict(`<key>_items</key><array>${one}</array>${said(['_name', 'USBBus'])}`)).join('\n')}</array>`,
    )}</array></plist>`
    const found = devicesOf(macAnswer({ profiler: JSON.stringify(parsePlist(text)) }))
    expect(found.map((d) => `${d.portPath} ${d.vid}:${d.pid} ${d.serial ?? '-'}`)).toEqual([
      ...['26-1 0A5C:4500 -', '26-1.1 05AC:820F 00231241D46C', '58-2 05AC:1003 -', '58-2.1 05AC:0304 -'],
      ...['58-2.3 05AC:020C -', '250-2 0480:A00C 20150123045944', '253-4 05AC:8502 8T8AH11BE0003L00'],
    ])
  })

  it('lists them in the registry of older systems, without root hubs', () => {
    const entry = (locationID: bigint, idVendor: number, idProduct: number, name: string, code = [0, 0, 0]) => ({
      ...{ locationID, idVendor, idProduct, bcdDevice: 0x0110, bNumConfigurations: 1, 'Device Speed': 1 },
      ...{ bDeviceClass: code[0] as number, bDeviceSubClass: code[1] as number, bDeviceProtocol: code[2] as number },
      ...{ 'USB Product Name': name, 'USB Vendor Name': 'A maker' },
    })
    const registry = plist([
      entry(0x1d000000n, 1452, 0x8005, 'Root hub', [9, 0, 0]),
      entry(0x1d200000n, 1452, 0x021b, 'Keyboard and trackpad'),
      entry(0x5d200000n, 1452, 0x8240, 'Receiver of a remote control'),
      entry(0x7d100000n, 1452, 0x8205, 'Radio', [224, 1, 1]),
      // The registry prints addresses in the upper half as 64-bit numbers.
      entry(0xffff_ffff_fd00_0000n, 1452, 0x8006, 'Root hub', [9, 0, 1]),
      { ...entry(0xffff_ffff_fd30_0000n, 6518, 0x6025, 'Stick'), 'USB Serial Number': '16270078C5C90000' },
      entry(0xffff_ffff_fd40_0000n, 1452, 0x8501, 'Camera', [255, 255, 255]),
    ])
    const devices = devicesOf(macAnswer({ profiler: '', registry }))
    expect(devices.map((d) => `${d.portPath} ${d.vid}:${d.pid} ${d.product}`)).toEqual([
      '29-2 05AC:021B Keyboard and trackpad',
      '93-2 05AC:8240 Receiver of a remote control',
      '125-1 05AC:8205 Radio',
      '253-3 1976:6025 Stick',
      '253-4 05AC:8501 Camera',
    ])
    expect(devices.map((d) => d.serial)).toEqual([undefined, undefined, undefined, '16270078C5C90000', undefined])
    for (const { report } of devices) expect(evaluate(report).attackTool).toBeNull()
  })
})
