import { execFileSync } from 'node:child_process'
import { DeviceReport, HostFacts } from '@portcullis/contract/agent-reports.ts'
import { parseReport } from '@portcullis/domain'
import { describeSysfs, hub, plainKeyboard, storageStick, unifyingReceiver1207 } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { MAX_POLLED_DEVICES, POSIX_COMMAND, readPoll, WINDOWS_COMMAND } from '../../src/platforms/index.ts'
import { POLL_MARKER } from '../../src/platforms/scripts.ts'
import { pollLinux } from './linux-host.ts'
import { macAnswer, plist } from './macos-host.ts'
import { windowsAnswer } from './windows-host.ts'

const registryDevice = (locationID: number, name: string) => ({
  ...{ locationID, idVendor: 0x046d, idProduct: 0xc52b, bcdDevice: 0x1207, kUSBProductString: name, USBSpeed: 1 },
  ...{ bDeviceClass: 0, bDeviceSubClass: 0, bDeviceProtocol: 0, kUSBSerialNumberString: 'S' },
})
const windowsNode = (id: string, name: unknown = 'Ultra') => ({
  InstanceId: id,
  HardwareID: ['USB\\VID_0781&PID_5581&REV_0100'],
  CompatibleID: ['USB\\Class_08&SubClass_06&Prot_50', 'USB\\Class_08'],
  BusReportedDeviceDesc: name,
  LocationPaths: ['PCIROOT(0)#PCI(1400)#USBROOT(0)#USB(3)'],
})

/** Valid output of every platform. */
const samples: Buffer[] = [
  pollLinux(
    describeSysfs([
      hub({ portPath: '1-1' }),
      plainKeyboard({ portPath: '1-1.1' }),
      unifyingReceiver1207({ portPath: '1-2' }),
    ]),
  ),
  macAnswer({
    profiler: JSON.stringify({
      SPUSBDataType: [
        { _items: [{ _name: 'a', vendor_id: '0x0781', product_id: '0x5581', location_id: '0x01100000 / 1' }] },
      ],
      SPUSBHostDataType: [{ _items: [{ USBDeviceKeyProductID: '0x1', USBKeyLocationID: '0x02100000' }] }],
    }),
    registry: plist([registryDevice(0x14300000, 'USB Receiver')]),
    interfaces: plist([{ locationID: 0x14300000, bInterfaceNumber: 0, bInterfaceClass: 3, bInterfaceSubClass: 1 }]),
  }),
  Buffer.from(
    windowsAnswer([windowsNode('USB\\VID_0781&PID_5581\\AA'), windowsNode('USB\\VID_0781&PID_5581&MI_00\\7&1&0&0')]),
  ),
]

/** Asserts what applies to every result, whatever a host prints. */
const expectSound = (output: Buffer): void => {
  const { reading } = readPoll(output)
  if (!reading.ok) {
    expect(reading.message.length).toBeLessThan(200)
    return
  }
  expect([...Value.Errors(HostFacts, reading.facts)]).toEqual([])
  expect(reading.devices.length).toBeLessThanOrEqual(MAX_POLLED_DEVICES)
  expect(new Set(reading.devices.map((d) => d.portPath)).size).toBe(reading.devices.length)
  for (const device of reading.devices) {
    expect([...Value.Errors(DeviceReport, device)]).toEqual([])
    for (const text of [device.manufacturer, device.product, device.serial, device.configuration])
      expect(text === undefined || (text.isWellFormed() && !text.includes('\0') && text.length <= 255)).toBe(true)
    parseReport(device)
  }
}

describe('any output', () => {
  it('with random bytes never throws', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => expectSound(Buffer.from(bytes))))
  })

  it.each(['Linux', 'Darwin', 'Windows'])('from a host that claims to run %s never throws', (system) => {
    const sections = fc.constantFrom(
      '<portcullis host>',
      '<portcullis profiler>',
      '<portcullis registry>',
      'end',
      '= 1-1',
      '+ 1-1:1.0',
    )
    const line = fc.oneof(
      sections,
      fc.constant('<portcullis end>'),
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[0-9a-f]{0,40}$/),
    )
    fc.assert(
      fc.property(fc.array(line), (lines) =>
        expectSound(Buffer.from(['portcullis 1', system, ...lines, 'end', ''].join('\n'))),
      ),
    )
  })

  it('with changed, truncated or repeated parts never throws', () => {
    const change = fc.record({ at: fc.nat(), length: fc.nat(40), put: fc.uint8Array({ maxLength: 40 }) })
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.array(change, { minLength: 1, maxLength: 8 }), (sample, changes) => {
        let bytes: Buffer = sample
        for (const { at, length, put } of changes) {
          const start = 10 + (at % bytes.length)
          bytes = Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + length)])
        }
        expectSound(bytes)
      }),
      { numRuns: 400 },
    )
  })

  it('after any greeting of a login script, which need not end its line, is the same', () => {
    const greeting = fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => !text.includes(POLL_MARKER))
    fc.assert(
      fc.property(fc.constantFrom(...samples), greeting, (sample, text) => {
        // Both scripts print an empty line before the marker.
        const output = Buffer.concat([Buffer.from(`${text.toWellFormed()}\n`), sample])
        expect(readPoll(output)).toEqual(readPoll(sample))
      }),
    )
    expect(execFileSync('sh', ['-c', POSIX_COMMAND]).subarray(0, 14).toString()).toBe(`\n${POLL_MARKER}\n`)
    const script = Buffer.from(WINDOWS_COMMAND.split(' ').at(-1) ?? '', 'base64').toString('utf16le')
    expect(script).toContain(`Write("\`n${POLL_MARKER}`)
  })

  it('with hostile texts from a device cannot add devices', () => {
    const odd = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.constantFrom('\0', '\ud800', '</string>', '"}', '\n= 1-9\n'),
    )
    fc.assert(
      fc.property(odd, odd, (name, serial) => {
        const outputs = [
          macAnswer({ registry: plist([registryDevice(0x14300000, name)]) }),
          Buffer.from(windowsAnswer([windowsNode(`USB\\VID_0781&PID_5581\\x${serial}`, name)])),
        ]
        for (const output of outputs) {
          expectSound(output)
          const { reading } = readPoll(output)
          expect(reading.ok && reading.devices.length).toBe(1)
        }
      }),
    )
  })

  it('with values of unexpected types never throws', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const keys = [
      'InstanceId',
      'HardwareID',
      'CompatibleID',
      'Capabilities',
      'BusReportedDeviceDesc',
      'LocationPaths',
      'Parent',
    ]
    const node = fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] })
    const good = fc.constant(windowsNode('USB\\VID_0781&PID_5581\\AA'))
    const mixed = fc.tuple(good, node).map(([a, b]) => ({ ...a, ...b }))
    const host = fc.record({ Nics: value, Chassis: value, Os: value, Version: value, Dns: value }, { requiredKeys: [] })
    fc.assert(fc.property(fc.array(mixed), host, (nodes, more) => expectSound(Buffer.from(windowsAnswer(nodes, more)))))
  })

  it.each([
    [
      'Windows',
      60_000,
      (n: number) =>
        Buffer.from(windowsAnswer(Array.from({ length: n }, (_, i) => windowsNode(`USB\\VID_0781&PID_5581\\${i}`)))),
    ],
    [
      'macOS',
      10_000,
      (n: number) =>
        macAnswer({ registry: plist(Array.from({ length: n }, (_, i) => registryDevice(i * 16 + 1, 'x'))) }),
    ],
  ])('keeps 512 devices of too many from %s', (_, count, make) => {
    const output = make(count)
    expectSound(output)
    const { reading } = readPoll(output)
    expect(reading.ok && [reading.devices.length, reading.leftOut > 0]).toEqual([512, true])
  })

  it.each([
    ['lists', '['.repeat(1_000_000)],
    ['lists that end', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['objects', '{"a":'.repeat(1_000_000)],
    ['properties', '<dict><key>a</key>'.repeat(100_000)],
    ['empty properties', '<dict/>'.repeat(1_000_000)],
    ['entities', `<string>${'&#38;'.repeat(1_000_000)}</string>`],
    ['tags without an end', '<string '.repeat(500_000)],
    ['blanks', ' '.repeat(8_000_000)],
  ])('ends for endless %s', (_, text) => {
    expectSound(macAnswer({ profiler: text, registry: text, interfaces: text }).subarray(0, 16 * 1024 * 1024))
    expectSound(Buffer.from(`portcullis 1\nWindows\n${text}\nend\n`))
    expectSound(Buffer.from(`portcullis 1\nLinux\n${text}\nend\n`))
  })
})

it('polls a device as an agent reports it', () => {
  const device = { authorized: true, removable: 'removable' as const, ...storageStick({ portPath: '3-4' }) }
  expect(readPoll(pollLinux(describeSysfs([device]))).reading).toMatchObject({ ok: true, devices: [device] })
})
