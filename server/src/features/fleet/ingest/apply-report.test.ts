import type { DeviceReport } from '@portcullis/contract'
import { inventoryHash, parseReport, policyDevice } from '@portcullis/domain'
import { buildDevice, hub, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fingerprint, JudgedDevice } from '#features/devices/peripherals/index.ts'
import { type HostPeripheral, verdictOf } from '#features/devices/policy/index.ts'
import { applyReport, type JudgedChange, storedHash } from './apply-report.ts'

const designs = new Map<string, Fingerprint>()
const judged = (report: DeviceReport): JudgedDevice => {
  const key = JSON.stringify([report.descriptors, report.manufacturer, report.product])
  const { vid, pid } = parseReport(report)
  const design = designs.get(key) ?? {
    id: designs.size + 1,
    modelId: designs.size + 1,
    shapeId: designs.size + 1,
    fingerprint: key,
    vid,
    pid,
    vendorName: '',
    accepted: false,
    productName: '',
    icon: 98,
    severity: 10,
    vulnerable: false,
    attackTool: null,
    attackToolName: '',
    evidence: [],
    vulnerabilities: [],
    descriptors: report.descriptors,
    manufacturer: report.manufacturer ?? '',
    product: report.product ?? '',
    configuration: '',
    judgedBy: null,
    device: policyDevice(parseReport(report), report, null),
    levelOf: () => null,
  }
  designs.set(key, design)
  return { report, design, serial: report.serial ?? '' }
}
const attach = (report: DeviceReport): JudgedChange => ({ op: 'attached', device: judged(report) })
const remove = (portPath: string): JudgedChange => ({ op: 'removed', portPath })
const present = (all: readonly HostPeripheral[]) => all.filter((p) => p.present)

const stick = (portPath: string, serial = 'S1') => storageStick({ portPath, serial })
const run = (stored: readonly HostPeripheral[], ...changes: JudgedChange[]) => applyReport(stored, changes, null)

describe('applyReport', () => {
  it('keeps the id of a device that returns, at any port', () => {
    const first = run([], attach(stick('1-1')), remove('1-1'))
    const second = run(first.all, attach(stick('2-4')))
    expect(second.all).toHaveLength(1)
    expect(second.all[0]).toMatchObject({ deviceId: 'USB\\VID_0781&PID_5581\\S1', portPath: '2-4', present: true })
    expect(second.changes.map((c) => c.what)).toEqual(['attached'])
  })

  it('distinguishes two attached devices with the same serial number by their port', () => {
    const two = run([], attach(stick('1-1')), attach(stick('1-2')))
    expect(two.all.map((p) => p.deviceId)).toEqual(['USB\\VID_0781&PID_5581\\S1', 'USB\\VID_0781&PID_5581\\S1&1-2'])
    const left = run(two.all, remove('1-1'))
    expect(present(left.all).map((p) => p.portPath)).toEqual(['1-2'])
    expect(left.all).toHaveLength(2)
  })

  it('treats another device at an occupied port as a swap', () => {
    const swapped = run(run([], attach(plainKeyboard())).all, attach(stick('1-1')))
    expect(swapped.changes.map((c) => [c.what, c.peripheral.design.vid])).toEqual([
      ['gone', '413C'],
      ['attached', '0781'],
    ])
  })

  it('records that a device was blocked without treating it as new', () => {
    const off = run(run([], attach(stick('1-1'))).all, attach({ ...stick('1-1'), authorized: false }))
    expect(off.changes.map((c) => c.what)).toEqual(['changed'])
    expect(off.all[0]?.authorized).toBe(false)
  })

  it('reports a driver mismatch once, whatever else changes on the device', () => {
    const mismatch = { bound: [{ interface: 0, claims: 'Mass Storage', driver: 'usbhid' }] } as never
    const bad = { ...stick('1-1'), mismatch }
    const first = run([], attach(bad))
    const second = run(first.all, attach({ ...bad, speedMbps: 12 }))
    expect([...first.changes, ...second.changes].map((c) => [c.what, c.isUnmasked])).toEqual([
      ['attached', true],
      ['changed', false],
    ])
  })

  it('keeps what the kernel of the host says about a device, and raises an unknown driver once', () => {
    const mismatch = {
      bound: [{ interface: 0, claims: 'Mass Storage', driver: 'next-year' }],
      kernel: '7.4.1',
    } as never
    const odd = { ...stick('1-1'), mismatch, configurationValue: 0, isOverNetwork: true }
    const first = run([], attach(odd))
    const second = run(first.all, attach({ ...odd, configurationValue: 1 }))
    expect([...first.changes, ...second.changes].map((c) => [c.what, c.isUnmasked, c.isUnknown])).toEqual([
      ['attached', false, true],
      ['changed', false, false],
    ])
    expect([first, second].map(({ all }) => all[0])).toMatchObject([
      {
        driverMismatch: '',
        kernel: {
          unknownDriver: 'claims mass storage, bound the unknown driver next-year (kernel 7.4.1)',
          notWorking: 'The kernel did not configure the device: the log of the kernel has the reason.',
          configurationValue: 0,
          isOverNetwork: true,
        },
      },
      { kernel: { configurationValue: 1 } },
    ])
    expect(second.all[0]?.kernel).not.toHaveProperty('notWorking')
  })

  it('does nothing for a device that is already attached or already detached', () => {
    const { all } = run([], attach(stick('1-1')))
    expect(run(all, attach(stick('1-1')), remove('9-9')).touched.size).toBe(0)
    expect(applyReport(all, [], [judged(stick('1-1'))]).touched.size).toBe(0)
  })

  const port = fc.constantFrom('1-1', '1-2', '1-10', '2-1', '2-1.1', '2-1.2')
  const device = fc.record({
    make: fc.constantFrom(
      (portPath: string) => plainKeyboard({ portPath }),
      (portPath: string) => hub({ portPath }),
      (portPath: string) => stick(portPath, 'S1'),
      (portPath: string) => stick(portPath, 'S1&1-2'),
      (portPath: string) => stick(portPath, 'S2'),
      (portPath: string) => buildDevice({ vid: '0781', pid: '5581', serial: 'S1', portPath, interfaces: ['03:01:01'] }),
    ),
    portPath: port,
    authorized: fc.boolean(),
  })
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: device.map((d) => ({
        op: 'attached' as const,
        report: { ...d.make(d.portPath), authorized: d.authorized },
      })),
    },
    { weight: 2, arbitrary: port.map((portPath) => ({ op: 'removed' as const, portPath })) },
  )

  it('matches the host after any sequence: same hash, one device per port, unique ids', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (steps, perReport) => {
        const host = new Map<string, DeviceReport>()
        let all: HostPeripheral[] = []
        for (let at = 0; at < steps.length; at += perReport) {
          const changes = steps.slice(at, at + perReport).map((s): JudgedChange => {
            if (s.op === 'removed') {
              host.delete(s.portPath)
              return remove(s.portPath)
            }
            host.set(s.report.portPath, s.report)
            return attach(s.report)
          })
          all = applyReport(all, changes, null).all
        }
        const now = present(all)
        expect(storedHash(all)).toBe(inventoryHash([...host.values()]))
        expect(now.map((p) => p.portPath).sort()).toEqual([...host.keys()].sort())
        expect(new Set(all.map((p) => p.deviceId)).size).toBe(all.length)
        // The full inventory adds nothing to the changes.
        expect(applyReport(all, [], [...host.values()].map(judged)).changes).toEqual([])
        // The counts of the verdict equal a recount.
        const verdict = verdictOf(all, false)
        expect([verdict.approvedPresent, verdict.approvedGone]).toEqual([now.length, all.length - now.length])
      }),
      { numRuns: 2_000 },
    )
  })

  it('gives the same result for one inventory as for any sequence of changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.array(device, { maxLength: 6 }), (steps, final) => {
        const host = new Map(final.map((d) => [d.portPath, d.make(d.portPath)]))
        const before = run([], ...steps.map((s) => (s.op === 'removed' ? remove(s.portPath) : attach(s.report)))).all
        const { all } = applyReport(before, [], [...host.values()].map(judged))
        expect(storedHash(all)).toBe(inventoryHash([...host.values()]))
        expect(new Set(all.map((p) => p.deviceId)).size).toBe(all.length)
      }),
      { numRuns: 2_000 },
    )
  })
})
