import { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { assignDeviceIds, classify, fingerprints, missingEvidence, parseReport } from '@portcullis/domain'
import { devicePresets, hub, plainKeyboard, plainMouse, storageStick } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { MAX_NODES, MAX_PHANTOMS, type RawNode, windowsScan } from '../src/platform/windows/inventory.ts'
import { hubDataFor, rawNode, windowsNodes } from './windows-nodes.ts'

const identity = (report: DeviceReport) => {
  const parsed = parseReport(report)
  return {
    id: assignDeviceIds([{ vid: parsed.vid, pid: parsed.pid, serial: report.serial, portPath: report.portPath }])[0],
    fingerprints: fingerprints(parsed, report),
    kind: classify(parsed, report).kind,
  }
}
const missingOf = (report: DeviceReport | undefined) =>
  report === undefined ? undefined : missingEvidence(parseReport(report), report)
const codes = (nodes: Iterable<RawNode>) => windowsScan(nodes).problems.map(({ code }) => code)
const stick = storageStick({ portPath: '1-3' })

describe('the inventory of Windows', () => {
  it.each(Object.entries(devicePresets))(
    'gives %s the id, fingerprint and kind of Linux if its hub returns descriptors',
    (_name, preset) => {
      const report = preset({ portPath: '1-3' })
      const { devices, problems } = windowsScan(windowsNodes(report), (_hub, port) =>
        port === 3 ? hubDataFor(report) : undefined,
      )
      expect(problems).toEqual([])
      const found = devices.get('1-3')
      expect(Value.Check(DeviceReport, found?.report)).toBe(true)
      const hasHid = parseReport(report).configurations.some((c) => c.interfaces.some((i) => i.class === 3))
      expect(missingOf(found?.report)).toEqual([
        ...(hasHid ? ['report-descriptors'] : []),
        ...(report.speedMbps === undefined ? ['speed'] : []),
      ])
      expect(identity(found?.report as DeviceReport)).toEqual(identity(report))
    },
  )

  it('names the missing evidence if the hub returns nothing', () => {
    const { devices } = windowsScan(windowsNodes(stick))
    expect(missingOf(devices.get('1-3')?.report)).toEqual(['descriptors', 'strings', 'speed'])
    expect(devices.get('1-3')).toMatchObject({
      instanceId: 'USB\\VID_0781&PID_5581\\4C530001230615112345',
      hasOwnSerial: true,
      isKeyboard: false,
      report: { serial: '4C530001230615112345', removable: 'removable', authorized: true },
    })
  })

  it('recognises a keyboard by its HID functions and a serial number that Windows generated', () => {
    const { devices } = windowsScan(windowsNodes(plainKeyboard({ portPath: '1-4' })))
    expect(devices.get('1-4')).toMatchObject({
      isKeyboard: true,
      hasOwnSerial: false,
      service: 'usbccgp',
      parents: ['USB\\ROOT_HUB30\\4&1A2B3C4D&0&0'],
    })
  })

  it('believes a hub that a port is fixed only if the hub is inside the host', () => {
    const { devices } = windowsScan([
      ...windowsNodes(hub({ portPath: '1-1', removable: 'removable' })),
      ...windowsNodes(plainKeyboard({ portPath: '1-1.2', removable: 'fixed' })),
      ...windowsNodes(hub({ portPath: '1-2', removable: 'fixed' })),
      ...windowsNodes(plainMouse({ portPath: '1-2.2', removable: 'fixed' })),
    ])
    expect([...devices.values()].map(({ report }) => report.removable)).toEqual([
      'removable',
      'unknown',
      'fixed',
      'fixed',
    ])
  })

  it('reports a disabled device as not authorised', () => {
    const [node] = windowsNodes(stick) as [RawNode]
    const { properties } = rawNode('x', { status: 0x400, problem: 22 })
    const { devices } = windowsScan([{ ...node, properties: { ...node.properties, ...properties } }])
    expect(devices.get('1-3')).toMatchObject({ problemCode: 22, report: { authorized: false } })
  })

  it('ignores the descriptors of another device at the port', () => {
    const { devices, problems } = windowsScan(windowsNodes(stick), () => hubDataFor(plainMouse()))
    expect(problems).toMatchObject([{ code: 'descriptors_odd', portPath: '1-3' }])
    expect(missingOf(devices.get('1-3')?.report)).toContain('descriptors')
  })
})

describe('hostile data', () => {
  const good = windowsNodes(stick)

  it('skips instance ids that are too long and reads the others', () => {
    const endless = rawNode(`USB\\VID_0781&PID_5581\\${'A'.repeat(100_000)}`)
    const nodes = [endless, { ...endless, instanceId: undefined }, ...good]
    expect(codes(nodes)).toEqual(['instance_id_invalid', 'instance_id_invalid'])
    expect(windowsScan(nodes).devices.size).toBe(1)
  })

  it('ignores properties of the wrong type or size', () => {
    const [node] = good as [RawNode]
    const wrong = {
      ...node.properties,
      product: { type: 7, data: Buffer.alloc(4) },
      service: { type: 0x12, data: Buffer.alloc(20_000, 65) },
      driver: { type: 0x12 },
      capabilities: { type: 7, data: Buffer.alloc(3) },
    }
    expect(codes([{ ...node, properties: wrong }])).toEqual(['property_too_large', 'property_type'])
    expect(windowsScan([{ ...node, properties: wrong }]).devices.get('1-3')?.report.product).toBeUndefined()
  })

  it('stops at cyclic parents', () => {
    const [a, b] = ['USB\\VID_0781&PID_5581\\A', 'USB\\VID_0781&PID_5581\\B'] as const
    const nodes = [rawNode(a, { parent: b }), rawNode(b, { parent: a }), rawNode('HID\\X\\1', { parent: a }), ...good]
    const { devices, problems } = windowsScan(nodes)
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['parent_cycle']))
    expect(devices.size).toBe(3)
  })

  it('limits 10,000 phantoms and keeps the attached devices', () => {
    const phantoms = Array.from({ length: 10_000 }, (_, i) => rawNode(`USB\\VID_0781&PID_5581\\${i}`, {}, false))
    const scan = windowsScan([...phantoms, ...good])
    expect(scan.phantoms).toHaveLength(MAX_PHANTOMS)
    expect(scan.problems.map(({ code }) => code)).toEqual(['phantom_limit'])
    expect(scan.devices.size).toBe(1)
  })

  it('stops reading an endless list', () => {
    function* endless(): Generator<RawNode> {
      yield* good
      for (;;) yield rawNode('PCI\\VEN_8086')
    }
    const { devices, problems } = windowsScan(endless())
    expect(problems).toMatchObject([{ code: 'node_limit', message: expect.stringContaining(String(MAX_NODES)) }])
    expect(devices.size).toBe(1)
  })

  it('limits attached devices and problems', () => {
    const many = Array.from({ length: 2000 }, (_, i) =>
      rawNode(`USB\\VID_0781&PID_5581\\${i}`, { parent: `USB\\VID_0781&PID_5581\\${i}` }),
    )
    const { devices, problems } = windowsScan(many)
    expect(devices.size).toBe(1024)
    expect(problems).toHaveLength(257)
    expect(problems.at(-1)?.code).toBe('inventory_too_large')
  })

  it('accepts any bytes as properties', () => {
    const property = fc.record({
      type: fc.constantFrom(7, 0x10, 0x12, 0x2012, 99),
      data: fc.uint8Array({ maxLength: 64 }),
    })
    const names = [
      'hardwareIds',
      'compatibleIds',
      'capabilities',
      'address',
      'locationPaths',
      'product',
      'parent',
    ] as const
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), property), fc.string(), (properties, text) => {
        const { devices } = windowsScan([
          { instanceId: `USB\\VID_0781&PID_5581\\${text}`, isPresent: true, properties },
          ...good,
        ])
        for (const { report } of devices.values()) expect(Value.Check(DeviceReport, report)).toBe(true)
      }),
    )
  })
})
