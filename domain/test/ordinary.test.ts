import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { buildDevice, type DeviceSpec, plainKeyboard } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { evaluate } from './knowledge-data.ts'

const pen = Buffer.from('050d0902a101c0', 'hex').toString('base64')
const device = (spec: Partial<DeviceSpec>): DeviceReport => buildDevice({ vid: '1111', pid: '2222', ...spec })
const level = (report: DeviceReport): string | null => evaluate(report).attackTool?.level ?? null
const typesAndStores = ['03:01:01', '03:01:02', '08:06:50']
const bridge = { vid: '05AC', pid: '8233', interfaces: ['03:00:00', '03:01:01', '02:0d:00', '0a:00:01'] }

describe('an ordinary device that combines a keyboard with a disk or network', () => {
  it.each<[string, DeviceReport, string | null]>([
    ['the bridge of a Mac, inside it', device({ ...bridge, removable: 'fixed' }), null],
    ['the bridge of a Mac at a port of unknown kind', device(bridge), null],
    ['what claims to be one at a port for people', device({ ...bridge, removable: 'removable' }), 'suspected'],
    [
      'a pen tablet by its report descriptor',
      device({ interfaces: ['03:00:00', ...typesAndStores], reportDescriptors: [pen, pen, pen] }),
      null,
    ],
    ['a keyboard with a CD-ROM of drivers', device({ interfaces: ['03:01:01', '08:02:50'] }), null],
    [
      'a controller inside a server',
      device({ manufacturer: 'OpenBMC', product: 'virtual_input', interfaces: typesAndStores }),
      null,
    ],
    ['something built in', device({ removable: 'fixed', interfaces: ['03:01:01', '02:0d:00'] }), null],
    [
      'a keypad on the ids of a board',
      device({ vid: '239A', pid: '8108', product: 'MacroPad', interfaces: typesAndStores }),
      null,
    ],
    ['a board with its programs', device({ vid: '239A', pid: '80F4', interfaces: typesAndStores }), 'suspected'],
    ['anything else', device({ interfaces: typesAndStores }), 'suspected'],
  ])('%s', (_, report, expected) => {
    expect(level(report)).toBe(expected)
  })

  it('is confirmed if its ids are those of a product that never has a disk', () => {
    const fixed = plainKeyboard({ vid: '046D', pid: 'C52B', removable: 'fixed', interfaces: ['03:01:01', '08:06:50'] })
    expect(level(fixed)).toBe('confirmed')
  })
})

describe('VID and PID of an ordinary product', () => {
  const board = { vid: '3346', pid: '1009' }
  it('are not a finding for a device that cannot type', () => {
    expect(level(device({ ...board, interfaces: ['02:02:ff', '0a:00:00'] }))).toBeNull()
  })
  it('count only with the strings of the tool', () => {
    const types = { ...board, interfaces: ['03:01:01'] }
    expect(level(device(types))).toBeNull()
    expect(level(device({ ...types, product: 'NanoKVM' }))).toBe('confirmed')
    for (const [vid, pid] of [
      ['16C0', '27DB'],
      ['16C0', '0486'],
      ['303A', '4242'],
      ['2E8A', '000A'],
      ['1D6B', '0104'],
    ])
      expect(
        level(device({ vid, pid, manufacturer: 'Maker', product: 'Split 80', interfaces: ['03:01:01'] } as never)),
      ).toBeNull()
    expect(level(device({ vid: '16C0', pid: '27DB', manufacturer: 'digistump.com', interfaces: ['03:01:01'] }))).toBe(
      'suspected',
    )
  })
})

describe('rows of the knowledge', () => {
  it('match only the version that they name', () => {
    const of = (product: string) =>
      evaluate(device({ vid: '045E', pid: '0745', product, interfaces: ['03:01:01', '03:01:02', '03:00:00'] }))
        .vulnerabilities.length
    expect(of('Microsoft 2.4GHz Transceiver v7.0')).toBeGreaterThan(of('Microsoft® Nano Transceiver v2.0'))
  })

  it('do not match keyboards of a board vendor as boards', () => {
    expect(
      level(
        device({
          vid: '2E8A',
          pid: '0010',
          manufacturer: 'Raspberry Pi Ltd',
          product: 'Pi 500 Keyboard',
          interfaces: ['03:01:01', '03:00:00'],
        }),
      ),
    ).toBeNull()
  })
})

describe('the name of a tool', () => {
  it.each<[string, Partial<DeviceSpec>, string | null]>([
    [
      'Hak5',
      { vid: '05AC', pid: '0250', manufacturer: 'HAK5', product: 'DUCKY', interfaces: ['03:01:01'] },
      'suspected',
    ],
    [
      'Flipper as authenticator',
      { vid: '0483', pid: '5741', manufacturer: 'Flipper Devices Inc.', interfaces: ['03:00:00'] },
      'suspected',
    ],
    [
      'LAN Turtle by its serial number',
      { vid: '0BDA', pid: '8152', serial: '00E04C3659E9', interfaces: ['ff:ff:00'] },
      'suspected',
    ],
    [
      'an adapter with the usual serial number',
      { vid: '0BDA', pid: '8152', serial: '00E04C360001', interfaces: ['ff:ff:00'] },
      null,
    ],
    [
      'a keyboard of the maker Ducky',
      { vid: '04D9', pid: '0348', manufacturer: 'Ducky', product: 'Ducky One2 Mini', interfaces: ['03:01:01'] },
      null,
    ],
    ['a keyboard with a debug bridge', { vid: '18D1', pid: '4EE7', interfaces: ['ff:42:01', '03:01:01'] }, 'suspected'],
    ['a phone with a debug bridge', { vid: '18D1', pid: '4EE7', interfaces: ['ff:42:01', '06:01:01'] }, null],
  ])('%s', (_, spec, expected) => {
    expect(level(device(spec))).toBe(expected)
  })
})
