import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conflictsOf, mergeRows, rowsOf } from './genuine-rows.ts'
import { readRecordings } from './recordings.ts'

/** Test recordings in the output formats of the tools. */
const lsusb = (bcd: string, power: number) => `
Bus 001 Device 004: ID aaa1:0001 Maker Keys
Device Descriptor:
  bcdUSB               1.10
  bDeviceClass            0
  bDeviceSubClass         0
  bDeviceProtocol         0
  bMaxPacketSize0         8
  idVendor           0xaaa1 Maker
  idProduct          0x0001 Keys
  bcdDevice            ${bcd}
  iManufacturer           1 Maker
  iProduct                2 Keys (A+B)
  iSerial                 0
  bNumConfigurations      1
  Configuration Descriptor:
    bmAttributes         0xa0
    MaxPower              ${power}mA
    Interface Descriptor:
      bInterfaceNumber        0
      bAlternateSetting       0
      bInterfaceClass         3 Human Interface Device
      bInterfaceSubClass      1 Boot Interface Subclass
      bInterfaceProtocol      1 Keyboard
          wDescriptorLength      65
      Endpoint Descriptor:
        bEndpointAddress     0x81  EP 1 IN
        bmAttributes            3
        wMaxPacketSize     0x0008  1x 8 bytes
        bInterval              10
`
const udev = `P: /devices/pci0/usb1/1-2
E: DEVPATH=/devices/pci0/usb1/1-2
E: DEVTYPE=usb_device
E: ID_MODEL_ENC=Pointer\\x20X
E: ID_REVISION=0200
E: ID_VENDOR_ENC=aaa1
E: PRODUCT=aaa1/2/200
E: TYPE=0/0/0

P: /devices/pci0/usb1/1-2/1-2:1.0
E: DEVPATH=/devices/pci0/usb1/1-2/1-2:1.0
E: DEVTYPE=usb_interface
E: INTERFACE=3/1/2
`
const umockdev = `P: /devices/pci0/usb1/1-3
E: DEVTYPE=usb_device
A: speed=12\\n
A: product=Key\\n
A: removable=removable\\n
H: descriptors=12010002000000400A1A0300000101020001

P: /devices/pci0/usb1/1-3/1-3:1.0/0003:AAA1:0003.0001
H: report_descriptor=05010906A101C0
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recordings-'))
  mkdirSync(join(folder, 'below'))
  writeFileSync(join(folder, 'lsusb.txt'), lsusb('1.10', 100))
  writeFileSync(join(folder, 'below', 'udevadm.txt'), udev)
  writeFileSync(join(folder, 'below', 'key.umockdev'), umockdev)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('recordings', () => {
  it('are read in each format, with exactly the recorded fields', () => {
    const all = readRecordings(folder).sort((a, b) => (a.file < b.file ? -1 : 1))
    expect(all.map(({ file, depth, report }) => [file, depth, report.product])).toEqual([
      ['below/key.umockdev', 'descriptors', 'Key'],
      ['below/udevadm.txt', 'udev', 'Pointer X'],
      ['lsusb.txt', 'descriptors', 'Keys (A+B)'],
    ])
    expect(all[0]?.report).toMatchObject({ speedMbps: 12, removable: 'removable', reportDescriptors: ['BQEJBqEBwA=='] })
    expect(all[1]?.report.manufacturer).toBeUndefined()
  })

  it('become rows of facts, with a list of conflicts with existing rows', () => {
    const made = rowsOf(
      readRecordings(folder).filter(({ file }) => file === 'lsusb.txt'),
      '',
      'ours: ',
    )
    expect(made).toEqual([
      {
        vid: 'AAA1',
        pid: '0001',
        name: 'Maker Keys (A+B)',
        classes: ['03'],
        interfaceSets: ['03:01:01'],
        serial: 'never',
        maxSpeedMbps: 12,
        ep0: [8],
        bcdMajor: ['01'],
        bcd: ['0110'],
        powerMa: [100],
        bootPacket: [8],
        manufacturer: '^(?:Maker)$',
        product: '^(?:Keys \\(A\\+B\\))$',
        samples: 1,
        source: 'ours: lsusb.txt',
      },
    ])
    writeFileSync(join(folder, 'lsusb.txt'), lsusb('1.20', 90))
    const other = rowsOf(
      readRecordings(folder).filter(({ file }) => file === 'lsusb.txt'),
      '',
      'other: ',
    )
    expect(conflictsOf(made, other)).toEqual(['AAA1:0001 Maker Keys (A+B): bcd 0120; powerMa 90 (other: lsusb.txt)'])
    expect(mergeRows(made, other)[0]).toMatchObject({ bcd: ['0110', '0120'], powerMa: [90, 100], samples: 2 })
    // Values that were written by hand do not change.
    const byHand = [{ vid: 'AAA1', pid: '0001', name: 'Keys', classes: ['03'], samples: 0, source: 'a manual' }]
    expect(mergeRows(byHand, other)).toEqual(byHand)
  })
})

describe('the measurement', () => {
  const run = (...args: string[]) => {
    const script = new URL('../measure-devices.ts', import.meta.url).pathname
    const env = { ...process.env, PORTCULLIS_RECORDINGS: '' }
    return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', env }).stdout
  }

  it('is incomplete without recordings', () => {
    expect(run()).toContain('Recordings: not measured')
    expect(JSON.parse(run('--json'))).toMatchObject({ isComplete: false, recordings: null })
  })

  it('confirms no ordinary fixture, misses no tool and gives each device its common name', () => {
    const { fixtures } = JSON.parse(run('--json'))
    expect(fixtures.falseConfirmed.which).toEqual([])
    expect(fixtures.missedTools).toEqual([])
    expect(fixtures.wrongKinds).toEqual([])
    expect(fixtures.unknown.n).toBe(0)
    expect(fixtures.falseSuspected.n).toBeLessThanOrEqual(1)
  })

  it('measures recordings, with labels if they exist', () => {
    writeFileSync(join(folder, 'labels.json'), JSON.stringify({ 'AAA1:0002': { kind: 'Mouse' } }))
    const { recordings } = JSON.parse(run(folder, '--json'))
    expect(recordings.devices).toBe(3)
    expect(recordings.confusion).toEqual({ 'Mouse -> Mouse': 1 })
  })
})
