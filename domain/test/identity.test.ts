import type { DeviceReport, HostFacts } from '@portcullis/contract/agent-reports.ts'
import {
  assignDeviceIds,
  comparePortPaths,
  deviceId,
  factsHash,
  fingerprints,
  inventoryHash,
  isRootHub,
  parentPortPath,
  parseReport,
} from '@portcullis/domain'
import { buildDevice, hub, plainKeyboard, storageStick, unifyingReceiver1207 } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const portPath = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 3 }))
  .map(([bus, ports]) => `${bus}-${ports.join('.')}`)

describe('device IDs', () => {
  it('use the serial number, otherwise the port path', () => {
    expect(deviceId('0781', '5581', '4C53', '1-3')).toBe('USB\\VID_0781&PID_5581\\4C53')
    expect(deviceId('0781', '5581', null, '1-3.2')).toBe('USB\\VID_0781&PID_5581\\1-3.2')
    expect(deviceId('0781', '5581', ' \u0000\u202e ', '1-3')).toBe('USB\\VID_0781&PID_5581\\%20%00%u202E%20')
    expect(deviceId('0781', '5581', 'a\\b\nc', '1-3')).toBe('USB\\VID_0781&PID_5581\\a%5Cb%0Ac')
  })

  it('add the port path for all but the first device with the same serial number', () => {
    const twin = (path: string) => ({ vid: '0781', pid: '5581', serial: 'SAME', portPath: path })
    expect(assignDeviceIds([twin('1-10'), twin('1-2'), twin('1-2.1')])).toEqual([
      'USB\\VID_0781&PID_5581\\SAME&1-10',
      'USB\\VID_0781&PID_5581\\SAME',
      'USB\\VID_0781&PID_5581\\SAME&1-2.1',
    ])
  })

  it('are unique and independent of the order, even if serial numbers imitate port paths', () => {
    const serial = fc.oneof(
      fc.constantFrom('S', 'S&1-1', 'S&1-2', '1-1', '1-2', 'S&1-2&1-2'),
      fc.string({ maxLength: 5 }),
      fc.constant(null),
    )
    const device = fc.record({ vid: fc.constant('0781'), pid: fc.constant('5581'), serial, portPath })
    fc.assert(
      fc.property(fc.uniqueArray(device, { selector: (d) => d.portPath, maxLength: 12 }), (devices) => {
        const ids = assignDeviceIds(devices)
        expect(new Set(ids).size).toBe(devices.length)
        expect(assignDeviceIds([...devices].reverse())).toEqual([...ids].reverse())
      }),
    )
  })

  it('order port paths by number', () => {
    const paths = ['2-1', '1-10', '1-2.10', '1-2', '1-2.9', '1-1']
    expect(paths.sort(comparePortPaths)).toEqual(['1-1', '1-2', '1-2.9', '1-2.10', '1-10', '2-1'])
  })

  it('identify the parent and the root hub', () => {
    expect(parentPortPath('1-3.2.1')).toBe('1-3.2')
    expect(parentPortPath('1-3')).toBeNull()
    expect(isRootHub(parseReport(hub({ vid: '1D6B', pid: '0002' })))).toBe(true)
    expect(isRootHub(parseReport(hub()))).toBe(false)
    expect(isRootHub(parseReport(buildDevice({ vid: '1D6B', pid: '0002', interfaces: ['03:01:01'] })))).toBe(false)
  })
})

describe('fingerprints', () => {
  const of = (report: DeviceReport) => fingerprints(parseReport(report), report)

  it('distinguish a firmware update from another device', () => {
    const before = of(unifyingReceiver1207())
    const after = of(unifyingReceiver1207({ bcdDevice: '1210', configuration: 'RQR12.10_B0032' }))
    expect(after.exact).not.toBe(before.exact)
    expect(after.withoutRevision).toBe(before.withoutRevision)
    const swapped = of(unifyingReceiver1207({ interfaces: ['03:01:01'] }))
    expect(swapped.withoutRevision).not.toBe(before.withoutRevision)
    expect(of(unifyingReceiver1207({ product: 'USB receiver' })).withoutRevision).not.toBe(before.withoutRevision)
  })

  it('depend on the presence of a serial number, not on its value', () => {
    expect(of(storageStick({ serial: 'A' }))).toEqual(of(storageStick({ serial: 'B' })))
    const { serial: _, ...without } = storageStick({ serial: 'A' })
    const gone = buildDevice({ vid: '0781', pid: '5581', interfaces: ['08:06:50'] })
    const there = buildDevice({ vid: '0781', pid: '5581', interfaces: ['08:06:50'], serial: 'X' })
    expect(of(gone)).not.toEqual(of(there))
    expect(of(without)).toEqual(of(storageStick({ serial: 'A' })))
  })

  it('change with every byte of the descriptors', () => {
    const report = unifyingReceiver1207()
    const bytes = Buffer.from(report.descriptors, 'base64')
    const seen = new Set([of(report).exact])
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = changed[at]! ^ 0x55
      seen.add(of({ ...report, descriptors: changed.toString('base64') }).exact)
    }
    expect(seen.size).toBe(bytes.length + 1)
  })
})

describe('inventoryHash', () => {
  const reports = [plainKeyboard({ portPath: '1-1' }), storageStick({ portPath: '1-10' }), hub({ portPath: '1-2' })]

  it('does not depend on the order of devices or on other fields', () => {
    const hash = inventoryHash(reports)
    expect(hash).toMatch(/^[0-9a-f]{32}$/)
    fc.assert(
      fc.property(fc.shuffledSubarray(reports, { minLength: 3 }), (shuffled) => {
        expect(inventoryHash(shuffled)).toBe(hash)
      }),
    )
    expect(inventoryHash(reports.map((r) => ({ ...r, speedMbps: 1, authorized: true })))).toBe(hash)
  })

  it('changes with every field of a device', () => {
    const base = inventoryHash(reports)
    const [first, ...rest] = reports as [DeviceReport, ...DeviceReport[]]
    const changes: Partial<DeviceReport>[] = [
      { portPath: '1-9' },
      { descriptors: storageStick().descriptors },
      { manufacturer: 'x' },
      { product: 'x' },
      { serial: 'x' },
      { configuration: 'x' },
      { authorized: false },
    ]
    const hashes = changes.map((change) => inventoryHash([{ ...first, ...change }, ...rest]))
    expect(new Set([base, inventoryHash(rest), inventoryHash([]), ...hashes]).size).toBe(changes.length + 3)
  })

  it('differs if a string moves to another field', () => {
    const a = inventoryHash([storageStick({ manufacturer: 'ab', product: 'c' })])
    const b = inventoryHash([storageStick({ manufacturer: 'a', product: 'bc' })])
    expect(a).not.toBe(b)
  })

  it('is the same for cleaned strings on agent and server', () => {
    const odd = { manufacturer: ' \u202eX\u0000Y ', product: '\ud800', serial: '' }
    const raw = { ...storageStick(), ...odd }
    const { serial: _, ...clean } = { ...storageStick(), manufacturer: 'X Y', product: '\ufffd' }
    expect(inventoryHash([raw])).toBe(inventoryHash([clean]))
  })
})

describe('factsHash', () => {
  const facts: HostFacts = {
    hostname: 'host-1',
    address: '10.0.0.5',
    osName: 'Debian GNU/Linux 12 (bookworm)',
    osVersion: '12.8',
    kernel: '6.1.0',
    architecture: 'x64',
    vendor: 'LENOVO',
    model: 'T14',
    chassis: 'Notebook',
    sku: 'X',
    nics: [
      { name: 'eth0', mac: '00:11:22:33:44:55', addresses: ['10.0.0.5', 'fe80::1'], isUp: true },
      { name: 'wlan0', mac: '00:11:22:33:44:66', addresses: [], isUp: false },
    ],
    agentVersion: '0.1.0',
    enforcement: 'observe',
  }

  it('does not depend on the order of keys, interfaces and addresses', () => {
    const turned = Object.fromEntries(Object.entries(facts).reverse()) as HostFacts
    turned.nics = [...facts.nics].reverse().map((nic) => ({ ...nic, addresses: [...nic.addresses].reverse() }))
    expect(factsHash(turned)).toBe(factsHash(facts))
    expect(factsHash(facts)).toMatch(/^[0-9a-f]{32}$/)
  })

  it('changes with every fact', () => {
    const changed = (Object.keys(facts) as (keyof HostFacts)[]).map((key) =>
      factsHash({ ...facts, [key]: key === 'nics' ? facts.nics.slice(1) : 'other' } as HostFacts),
    )
    expect(new Set([factsHash(facts), ...changed]).size).toBe(changed.length + 1)
  })
})
