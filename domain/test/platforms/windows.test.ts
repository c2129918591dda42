import { hasSerial, interfaceSet, parseReport } from '@portcullis/domain'
import { describe, expect, it } from 'vitest'
import { readPoll, WINDOWS_COMMAND } from '../../src/platforms/index.ts'
import { evaluate } from '../knowledge-data.ts'
import { type WindowsNode, windowsAnswer } from './windows-host.ts'

const devicesOf = (output: string | Buffer) => {
  const { platform, reading } = readPoll(Buffer.from(output))
  expect(platform).toBe('windows')
  if (!reading.ok) throw new Error(reading.message)
  return reading.devices.map((report) => ({ ...parseReport(report), ...report, report }))
}
const parsedOf = (node: WindowsNode) => devicesOf(windowsAnswer([node]))[0]!

const mouse: WindowsNode = {
  InstanceId: 'USB\\VID_046D&PID_C03E\\6&DF2EE03&0&6',
  HardwareID: ['USB\\VID_046D&PID_C03E&REV_2000', 'USB\\VID_046D&PID_C03E'],
  CompatibleID: ['USB\\Class_03&SubClass_01&Prot_02', 'USB\\Class_03&SubClass_01', 'USB\\Class_03'],
  Service: 'HidUsb',
}
const rootHub: WindowsNode = { InstanceId: 'USB\\ROOT_HUB30\\4&3113F1A8&0&0', HardwareID: ['USB\\ROOT_HUB30'] }

const composite = (id: string, parts: string[], vidPid = 'VID_046D&PID_C52B'): WindowsNode[] => [
  {
    InstanceId: `USB\\${vidPid}\\${id}`,
    HardwareID: [`USB\\${vidPid}&REV_1207`, `USB\\${vidPid}`],
    CompatibleID: ['USB\\DevClass_00&SubClass_00&Prot_00', 'USB\\DevClass_00', 'USB\\COMPOSITE'],
    BusReportedDeviceDesc: 'USB Receiver',
  },
  ...parts.map((code, index) => ({
    InstanceId: `USB\\${vidPid}&MI_0${index}\\7&BCD78F${id.at(-1)}&0&000${index}`,
    CompatibleID: [`USB\\${code}`, 'USB\\Class_03'],
    Parent: `usb\\${vidPid.toLowerCase()}\\${id.toLowerCase()}`,
  })),
]
const receiver = ['Class_03&SubClass_01&Prot_01', 'Class_03&SubClass_01&Prot_02', 'Class_03&SubClass_00&Prot_00']

describe('a Windows host', () => {
  it('reports devices without root hubs, and facts', () => {
    const { reading } = readPoll(Buffer.from(windowsAnswer([rootHub, mouse])))
    expect(reading).toMatchObject({
      ok: true,
      leftOut: 0,
      machineId: 'a1b2c3d4-0000-4000-8000-00000000000f',
      facts: {
        ...{ hostname: 'pc-7', osName: 'Microsoft Windows 11 Pro', osVersion: '10.0.22631', kernel: '10.0.22631' },
        ...{ architecture: 'x64', vendor: 'LENOVO', model: '20XW', sku: 'LENOVO_MT_20XW', chassis: 'Notebook' },
        ...{ nics: [], agentVersion: '', enforcement: 'observe' },
      },
    })
    const [device, ...others] = devicesOf(windowsAnswer([rootHub, mouse]))
    expect(others).toEqual([])
    expect(device).toMatchObject({ vid: '046D', pid: 'C03E', bcdDevice: 0x2000, problems: [], isComplete: false })
    expect(interfaceSet(device!)).toBe('03:01:02')
    expect(evaluate(device!.report)).toMatchObject({ kind: 'Mouse', attackTool: null })
  })

  it('reports a single device as an object instead of a list', () => {
    expect(devicesOf(windowsAnswer(mouse))).toEqual(devicesOf(windowsAnswer([mouse])))
    expect(devicesOf(windowsAnswer({ ...mouse, HardwareID: 'USB\\VID_046D&PID_C03E&REV_2000' }))).toMatchObject([
      { bcdDevice: 0x2000 },
    ])
    expect(devicesOf(windowsAnswer(null))).toEqual([])
  })

  it.each([
    ['UTF-8', (text: string) => Buffer.from(text)],
    ['UTF-8 with a mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16LE with a mark', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16BE with a mark', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['line ends of Windows', (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))],
  ])('is parsed in %s', (_, encode) => {
    const product = 'Clé USB €'
    expect(devicesOf(encode(windowsAnswer({ ...mouse, BusReportedDeviceDesc: product })))).toMatchObject([{ product }])
  })

  it.each([
    ['made by Windows', '5&1234&0&3', undefined, undefined],
    ['of the device', '07FE860C', undefined, '07FE860C'],
    [
      'of the device, with odd text',
      'S/N:28A1CC_REV:NBRMSAAHDM:01OCT153',
      undefined,
      'S/N:28A1CC_REV:NBRMSAAHDM:01OCT153',
    ],
    ['of a device that makes itself look as if it had none', '3&1A2B3C4&0&1', 0x94, '3&1A2B3C4&0&1'],
    ['made by Windows, as the capabilities say too', '5&1234&0&3', 0x84, undefined],
    ['with a back slash', 'A\\B', undefined, 'A\\B'],
  ])('reads a serial number %s', (_, instance, Capabilities, serial) => {
    const device = parsedOf({
      ...mouse,
      InstanceId: `USB\\VID_046D&PID_C03E\\${instance}`,
      Capabilities: Capabilities ?? null,
    })
    expect(device.report.serial).toBe(serial)
    expect(hasSerial(device, device.report)).toBe(serial !== undefined)
  })

  it('assigns interface nodes to composite devices, even to two identical ones', () => {
    const output = windowsAnswer([
      ...composite('6&DF2EE03&0&5', receiver),
      ...composite('6&DF2EE03&0&6', [...receiver.slice(0, 2), 'Class_08&SubClass_06&Prot_50']),
    ])
    const [genuine, imitation] = devicesOf(output)
    expect(interfaceSet(genuine!)).toBe('03:00:00 03:01:01 03:01:02')
    expect(evaluate(genuine!.report)).toMatchObject({ kind: 'Keyboard', attackTool: null })
    expect(interfaceSet(imitation!)).toBe('03:01:01 03:01:02 08:06:50')
    expect(evaluate(imitation!.report).attackTool).toMatchObject({ level: 'confirmed' })
  })

  it('assigns interfaces without a parent to devices with the same VID and PID', () => {
    const nodes = composite('6&DF2EE03&0&5', receiver).map(({ Parent: _, ...node }) => node)
    expect(devicesOf(windowsAnswer(nodes)).map(interfaceSet)).toEqual(['03:00:00 03:01:01 03:01:02'])
  })

  it('leaves an unknown class open and recognises hubs', () => {
    expect(interfaceSet(parsedOf({ ...mouse, CompatibleID: null }))).toBe('')
    expect(parsedOf({ ...mouse, CompatibleID: ['USB\\MS_COMP_WINUSB', 'USB\\Class_FF'] }).configurations).toMatchObject(
      [{ interfaces: [{ class: 255, subclass: 0, protocol: 0 }] }],
    )
    expect(parsedOf({ ...mouse, CompatibleID: 'USB\\Class_09&SubClass_00&Prot_02' })).toMatchObject({ deviceClass: 9 })
    expect(parsedOf({ ...mouse, CompatibleID: ['USB\\DevClass_EF&SubClass_02&Prot_01'] })).toMatchObject({
      ...{ deviceClass: 0xef, deviceSubclass: 2, deviceProtocol: 1 },
    })
  })

  it('derives port paths from controllers and ports', () => {
    const at = (path: string, instance: string) => ({
      ...mouse,
      InstanceId: `USB\\VID_046D&PID_C03E\\${instance}`,
      LocationPaths: [path, 'ACPI(_SB_)#ACPI(PCI0)'],
    })
    const output = windowsAnswer([
      at('PCIROOT(0)#PCI(1D00)#USBROOT(0)#USB(1)', 'C'),
      at('PCIROOT(0)#PCI(1400)#USBROOT(0)#USB(3)#USB(2)', 'B'),
      at('PCIROOT(0)#PCI(1400)#USBROOT(0)#USB(3)', 'A'),
    ])
    expect(devicesOf(output).map((d) => [d.portPath, d.serial])).toEqual([
      ['717-1', 'C'],
      ['820-3', 'A'],
      ['820-3.2', 'B'],
    ])
    // Other controllers do not change them.
    expect(devicesOf(windowsAnswer([at('PCIROOT(0)#PCI(1D00)#USBROOT(0)#USB(1)', 'C')]))).toMatchObject([
      { portPath: '717-1', report: { controller: 'PCIROOT(0)#PCI(1D00)#USBROOT(0)' } },
    ])
  })

  it('assigns stable, unique port paths without location paths', () => {
    const node = (instance: string) => ({
      ...mouse,
      InstanceId: `USB\\VID_046D&PID_C03E\\${instance}`,
      LocationPaths: [null],
    })
    const ids = ['6&DF2EE03&0&5', '6&DF2EE03&0&6', '6&AAAAA03&0&5', 'SERIAL1', 'SERIAL2']
    const first = devicesOf(windowsAnswer(ids.map(node)))
    expect(new Set(first.map((d) => d.portPath)).size).toBe(ids.length)
    const places = new Map(first.map((d) => [d.portPath, d.serial]))
    for (const device of devicesOf(windowsAnswer([...ids].reverse().slice(1).map(node))))
      expect(places.has(device.portPath) && places.get(device.portPath)).toBe(device.serial)
    const [hub5, hub6] = first.filter((d) => /\.[56]$/.test(d.portPath)).map((d) => d.portPath.replace(/\.\d+$/, ''))
    expect([hub5, hub6]).toContain(first.find((d) => d.portPath.endsWith('.6'))?.portPath.replace(/\.6$/, ''))
  })

  it('keeps two devices with the same location', () => {
    const LocationPaths = ['PCIROOT(0)#PCI(1400)#USBROOT(0)#USB(3)']
    const [a, b] = ['A', 'B'].map((id) => ({ ...mouse, LocationPaths, InstanceId: `USB\\VID_046D&PID_C03E\\${id}` }))
    expect(
      devicesOf(windowsAnswer([a, b]))
        .map((d) => d.serial)
        .sort(),
    ).toEqual(['A', 'B'])
  })

  it('reports network interfaces', () => {
    const Nics = {
      Description: 'Ethernet',
      MACAddress: '02:00:00:00:00:0A',
      IPAddress: ['192.0.2.7', 'fe80::1'],
      IPEnabled: true,
    }
    expect(readPoll(Buffer.from(windowsAnswer([], { Nics }))).reading).toMatchObject({
      facts: {
        nics: [{ name: 'Ethernet', mac: '02:00:00:00:00:0a', addresses: ['192.0.2.7', 'fe80::1'], isUp: true }],
      },
    })
  })

  it.each([
    ['refuses the user', windowsAnswer([], { Denied: true }), 'not-permitted'],
    ['is cut off', windowsAnswer([mouse]).slice(0, -20), 'not-understood'],
    ['prints something else', 'portcullis 1\nWindows\n[1]\nend\n', 'not-understood'],
  ])('reports an error if it %s', (_, output, failure) => {
    expect(readPoll(Buffer.from(output))).toMatchObject({ platform: 'windows', reading: { ok: false, failure } })
  })

  it('gets a command that fits in a cmd.exe line and works in every shell', () => {
    expect(WINDOWS_COMMAND).toMatch(/^powershell( -[A-Za-z]+)+ [A-Za-z0-9+/]+=*$/)
    expect(WINDOWS_COMMAND.length).toBeLessThan(8_000)
  })
})

describe('a Windows host without device locations', () => {
  /** A device or interface: its ID in Windows, and the class that selects its driver. */
  const node = (path: string, revision: string, code: string, isDevice = false): WindowsNode => {
    const ids = path.split('\\')[1] ?? ''
    const [device = '', part] = ids.split('&MI_')
    const tail = part === undefined ? '' : `&MI_${part}`
    const [cls, sub, protocol] = code.split(':')
    const prefix = isDevice ? 'USB\\DevClass' : 'USB\\Class'
    return {
      DeviceID: path,
      HardwareID: [`USB\\${device}&REV_${revision}${tail}`, `USB\\${device}${tail}`],
      CompatibleID: [
        ...[
          `${prefix}_${cls}&SubClass_${sub}&Prot_${protocol}`,
          `${prefix}_${cls}&SubClass_${sub}`,
          `${prefix}_${cls}`,
        ],
        ...(isDevice ? ['USB\\COMPOSITE'] : []),
      ],
    }
  }
  const rootHub = (id: string, chip: string): WindowsNode => ({
    DeviceID: `USB\\ROOT_HUB20\\4&${id}&0`,
    HardwareID: [`USB\\ROOT_HUB20&${chip}&REV0005`, `USB\\ROOT_HUB20&${chip}`, 'USB\\ROOT_HUB20'],
    CompatibleID: [],
  })
  // In Windows order: an interface may come before its device.
  const nodes = [
    node('USB\\VID_046D&PID_C30A&MI_01\\7&2A000001&0&0001', '1500', '03:00:00'),
    node('USB\\VID_8087&PID_0024\\5&1A000001&0&1', '0000', '09:00:00'),
    node('USB\\VID_8087&PID_0024\\5&3A000001&0&1', '0000', '09:00:00'),
    rootHub('3A000002', 'VID8086&PID1C2D'),
    rootHub('3A000003', 'VID8086&PID1C26'),
    node('USB\\VID_0B05&PID_179C\\6&DA00001&0&7', '0001', 'E0:01:01'),
    node('USB\\VID_046D&PID_08C9\\6BE00001', '0005', '00:00:00', true),
    node('USB\\VID_046D&PID_08C9&MI_00\\7&EA00001&0&0000', '0005', '0e:03:00'),
    node('USB\\VID_046D&PID_08C9&MI_02\\7&EA00001&0&0002', '0005', '01:02:00'),
    node('USB\\VID_046D&PID_C03E\\6&DA00001&0&6', '2000', '03:01:02'),
    node('USB\\VID_046D&PID_C30A\\6&DA00001&0&5', '1500', '00:00:00', true),
    node('USB\\VID_046D&PID_C30A&MI_00\\7&2A000001&0&0000', '1500', '03:01:01'),
  ]

  it('reports all devices with interfaces and serial numbers, without attack tools', () => {
    const devices = devicesOf(windowsAnswer(nodes))
    const summary = devices.map(
      (d) => `${d.vid}:${d.pid} ${interfaceSet(d)} ${d.serial ?? '-'} ${evaluate(d.report).kind}`,
    )
    expect(summary.sort()).toEqual([
      '046D:08C9 01:02:00 0e:03:00 6BE00001 Video',
      '046D:C03E 03:01:02 - Mouse',
      '046D:C30A 03:00:00 03:01:01 - Keyboard',
      '0B05:179C e0:01:01 - Wireless',
      '8087:0024 09:00:00 - Hub',
      '8087:0024 09:00:00 - Hub',
    ])
    expect(new Set(devices.map((d) => d.portPath)).size).toBe(devices.length)
    for (const { report, problems } of devices) {
      expect(problems).toEqual([])
      expect(evaluate(report).attackTool).toBeNull()
    }
  })
})

it('is parsed in linear time, whatever the order of devices and interfaces', () => {
  const devices = Array.from({ length: 2_000 }, (_, i) => ({
    InstanceId: `USB\\VID_046D&PID_C03E\\${i}`,
    HardwareID: [],
    CompatibleID: [],
  }))
  const interfaces = Array.from({ length: 2_000 }, (_, i) => ({
    InstanceId: `USB\\VID_046D&PID_C03E&MI_${(i % 256).toString(16).padStart(2, '0')}\\${i}`,
    CompatibleID: [`USB\\Class_${(i % 16).toString(16).padStart(2, '0')}&SubClass_01&Prot_0${i % 8}`],
  }))
  const { reading } = readPoll(Buffer.from(windowsAnswer([...devices, ...interfaces])))
  expect(reading).toMatchObject({ ok: true })
  if (!reading.ok) throw new Error('not read')
  // Each device keeps 32 of its 2,000 interfaces, so the result stays far below the limit of a request.
  expect(JSON.stringify(reading.devices).length).toBeLessThan(2_000_000)
})
