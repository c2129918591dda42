import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { interfaceSet, parseReport } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { readPoll } from '../../src/platforms/index.ts'
import { parsePlist } from '../../src/platforms/tree.ts'
import { judge } from '../knowledge-data.ts'
import { recordings, whyNoRecordings } from '../recordings.ts'
import { macAnswer, nodesOfText, plist } from './macos-host.ts'

const devicesOf = (output: Buffer) => {
  const { platform, reading } = readPoll(output)
  expect(platform).toBe('macos')
  if (!reading.ok) throw new Error(reading.message)
  return reading.devices.map((report) => ({ ...report, ...parseReport(report), report }))
}

/** A stick, as macOS 26 says it. */
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

/** A keyboard, as the registry says it. */
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
  it('of macOS 26 says its devices under the new keys only', () => {
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

  it('says `Not Provided` for a serial that is not there', () => {
    const [device] = devicesOf(macAnswer({ profiler: host({ ...stick, USBDeviceKeySerialNumber: 'Not Provided' }) }))
    expect(device).toMatchObject({ iSerial: 0 })
    expect(device?.serial).toBeUndefined()
  })

  it('has no devices when both lists are empty and there is nothing in the registry', () => {
    expect(devicesOf(macAnswer())).toEqual([])
  })

  it('says interfaces in the registry, by which a keyboard is known as one', () => {
    const [device] = devicesOf(
      macAnswer({ registry: plist(keyboard), interfaces: plist([part(1, 3), part(0, 3, 1, 1), part(0, 3, 1, 1)]) }),
    )
    expect(interfaceSet(device!)).toBe('03:00:00 03:01:01')
    expect(device?.report).toMatchObject({ portPath: '20-3.3', speedMbps: 1.5, product: 'Dell KB216 Wired Keyboard' })
    expect(judge(device!.report)).toMatchObject({ kind: 'Keyboard', attackTool: null })
  })

  it('shows a keyboard that also stores', () => {
    const [device] = devicesOf(
      macAnswer({ registry: plist(keyboard), interfaces: plist([part(0, 3, 1, 1), part(1, 8, 6, 80)]) }),
    )
    expect(judge(device!.report).attackTool).toMatchObject({ level: 'confirmed' })
  })

  it('is understood by the registry alone when system_profiler does not work', () => {
    const profiler = 'system_profiler: -json: unknown option'
    expect(devicesOf(macAnswer({ profiler, registry: plist(keyboard) }))).toMatchObject([{ vid: '413C' }])
  })

  it('says more in the registry than in system_profiler: they are one device', () => {
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

  it('names a place by 64 bits, by 32, or in hex, and a bus is no device', () => {
    const at = (locationID: number | bigint) => ({ ...keyboard, locationID })
    const registry = plist([at(0xfd000000), at(0xffff_ffff_fd13_4256n), at(0x80700000), at(0)])
    expect(devicesOf(macAnswer({ registry })).map((d) => d.portPath)).toEqual(['128-7', '253-1.3.4.2.5.6'])
  })

  it('says facts of itself', () => {
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
    ['prints nothing of USB', macAnswer({ profiler: '' }), 'not-permitted'],
    ['prints what is no list', macAnswer({ profiler: 'dyld: killed' }), 'not-understood'],
  ])('that %s is told as such', (_, output, failure) => {
    expect(readPoll(output)).toMatchObject({ platform: 'macos', reading: { ok: false, failure } })
  })

  it('can not be made to see a second device by the text of one', () => {
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

describe('recorded Macs', unless(whyNoRecordings), () => {
  const read = (file: string): string => readFileSync(join(recordings ?? '', 'macos', file), 'utf8')

  it('say all their devices, none of which is an attack tool', () => {
    const devices = devicesOf(macAnswer({ profiler: read('cyme__SPUSBDataType.json') }))
    expect(devices.map((d) => `${d.portPath} ${d.vid}:${d.pid}`)).toEqual([
      ...['0-1 0BDA:0411', '0-1.1 0BDA:0411', '2-2 043E:9A61', '2-2.3 2109:2817', '2-2.3.1 1915:520C'],
      ...['2-2.3.3 1366:0101', '2-2.3.5 2109:8817', '2-2.4 043E:9A73', '2-2.4.1 043E:9A66', '2-2.4.2 043E:9A70'],
      ...['2-3 043E:9A60', '2-3.1 0BDA:8153', '2-3.2 0781:558C', '2-3.3 2109:0817', '2-3.4 043E:9A71'],
      ...['2-3.4.3 043E:9A68', '20-1 05AC:1109', '20-3 0BDA:5411', '20-3.1 0BDA:5411', '20-3.1.3 05C6:9091'],
      ...['20-3.3 1D50:6018', '128-1 05AC:8233', '128-2 05AC:8514', '128-3 05AC:8262', '128-4 05AC:8103'],
      ...['128-5 05AC:027C', '128-6 05AC:8302', '128-7 05AC:8102'],
    ])
    for (const { report, problems } of devices) {
      expect(problems).toEqual([])
      expect(judge(report).attackTool?.name, report.product).toBeUndefined()
    }
    expect(devices.find((d) => d.portPath === '2-3.2')).toMatchObject({
      ...{ bcdDevice: 0x1012, manufacturer: 'SanDisk', product: 'Extreme SSD', speedMbps: 5_000 },
    })
    const nameless = devices.find((d) => d.portPath === '2-3.4')
    expect([nameless?.deviceClass, nameless?.product]).toEqual([9, undefined])
  })

  it('say them in a property list as well', () => {
    const list = parsePlist(read('glpi-agent__SPUSBDataType.xml'))
    const devices = devicesOf(macAnswer({ profiler: JSON.stringify(list) }))
    expect(devices.map((d) => `${d.portPath} ${d.vid}:${d.pid} ${d.serial ?? '-'}`)).toEqual([
      ...['26-1 0A5C:4500 -', '26-1.1 05AC:820F 00231241D46C', '58-2 05AC:1003 -', '58-2.1 05AC:0304 -'],
      ...['58-2.3 05AC:020C -', '93-1 05AC:8242 -', '250-2 0480:A00C 20150123045944'],
      '253-4 05AC:8502 8T8AH11BE0003L00',
    ])
  })

  it('say them in the registry, root hubs left out', () => {
    const registry = plist(nodesOfText(read('glpi-agent__ioreg_IOUSBDevice1.txt')))
    const devices = devicesOf(macAnswer({ profiler: '', registry }))
    expect(devices.map((d) => `${d.portPath} ${d.vid}:${d.pid} ${d.product}`)).toEqual([
      '29-2 05AC:021B Apple Internal Keyboard / Trackpad',
      '93-2 05AC:8240 IR Receiver',
      '125-1 05AC:8205 Bluetooth USB Host Controller',
      '253-3 1976:6025 Flash Disk',
      '253-4 05AC:8501 Built-in iSight',
    ])
    for (const { report } of devices) expect(judge(report).attackTool).toBeNull()
  })
})
