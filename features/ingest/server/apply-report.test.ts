import { escapeText, inventoryHash } from '@portcullis/domain'
import { buildDevice, hub, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { evaluated } from '@portcullis/server/test/evaluated.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DeviceReport } from '#features/contract.ts'
import { type HostPeripheral, verdictOf } from '#features/policy/server/index.ts'
import { applyReport, type EvaluatedChange, storedHash } from './apply-report.ts'

const attach = (report: DeviceReport): EvaluatedChange => ({ op: 'attached', device: evaluated(report) })
const remove = (portPath: string): EvaluatedChange => ({ op: 'removed', portPath })
const present = (all: readonly HostPeripheral[]) => all.filter((p) => p.present)

const stick = (portPath: string, serial = 'S1') => storageStick({ portPath, serial })
const run = (stored: readonly HostPeripheral[], ...changes: EvaluatedChange[]) => applyReport(stored, changes, null)

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
    expect(swapped.changes.map((c) => [c.what, c.peripheral.fingerprint.vid])).toEqual([
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
          notWorking: 'The kernel did not configure the device: the kernel log of the host gives the reason.',
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
    expect(applyReport(all, [], [evaluated(stick('1-1'))]).touched.size).toBe(0)
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
          const changes = steps.slice(at, at + perReport).map((s): EvaluatedChange => {
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
        expect(
          applyReport(
            all,
            [],
            [...host.values()].map((report) => evaluated(report)),
          ).changes,
        ).toEqual([])
        // The counts of the verdict equal a recount.
        const verdict = verdictOf(all, false, 0)
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
        const { all } = applyReport(
          before,
          [],
          [...host.values()].map((report) => evaluated(report)),
        )
        expect(storedHash(all)).toBe(inventoryHash([...host.values()]))
        expect(new Set(all.map((p) => p.deviceId)).size).toBe(all.length)
      }),
      { numRuns: 2_000 },
    )
  })
})

const keyboardAt = (portPath: string, controller?: string): DeviceReport => ({
  ...plainKeyboard({ portPath }),
  ...(controller === undefined ? {} : { controller }),
})
const [front, dock] = ['pci0000:00/14.0 usb2', 'pci0000:00/1d.0/00.0 usb2']
const inventory = (stored: readonly HostPeripheral[], ...reports: DeviceReport[]) =>
  applyReport(
    stored,
    [],
    reports.map((report) => evaluated(report)),
  )
/** The rows as an earlier release stored them: without locations, with cleaned serial numbers. */
const asBefore = (all: readonly HostPeripheral[], serial?: string): HostPeripheral[] =>
  all.map((row) => ({ ...row, controller: null, ...(serial === undefined ? {} : { serial }) }))
const seen = ({ all, changes }: ReturnType<typeof applyReport>) => ({
  rows: all.map((p) => [p.deviceId, p.portPath, p.present]),
  changes: changes.map((c) => c.what),
})

describe('buses that are numbered anew', () => {
  it('change no id, and nothing happens', () => {
    const first = inventory([], keyboardAt('1-1', front), keyboardAt('2-1', dock), {
      ...stick('2-4'),
      controller: dock,
    })
    const ids = first.all.map((p) => p.deviceId)
    expect(ids.filter((id) => /\\\d+-/.test(id) && !/\\[0-9a-f]{8}-1$/.test(id))).toEqual([])
    // Bus 1 is now bus 2, and the other way round.
    const second = inventory(first.all, keyboardAt('2-1', front), keyboardAt('1-1', dock), {
      ...stick('1-4'),
      controller: dock,
    })
    expect(seen(second)).toEqual({
      rows: [
        [ids[0], '2-1', true],
        [ids[1], '1-1', true],
        [ids[2], '1-4', true],
      ],
      changes: [],
    })
    expect([...second.touched].sort()).toEqual([...ids].sort())
  })

  it('give a device without a serial number the case number that its host shows now', () => {
    const withNumber = (all: readonly HostPeripheral[]) => all.map((row) => ({ ...row, caseNumber: 'PC-OLD' }))
    const first = withNumber(inventory([], keyboardAt('1-1', front), { ...stick('1-4'), controller: front }).all)
    const numbers = ({ all }: ReturnType<typeof applyReport>) => all.map((row) => row.caseNumber)
    expect(numbers(inventory(first, keyboardAt('1-1', front), { ...stick('1-4'), controller: front }))).toEqual([
      ...['PC-OLD', 'PC-OLD'],
    ])
    const moved = inventory(first, keyboardAt('3-1', front), { ...stick('3-4'), controller: front })
    expect(numbers(moved)).toEqual(['', 'PC-OLD'])
    const gone = inventory(first).all
    expect(numbers(run(gone, attach(keyboardAt('1-1', front))))).toEqual(['PC-OLD', 'PC-OLD'])
    expect(numbers(run(gone, attach(keyboardAt('3-1', front))))).toEqual(['', 'PC-OLD'])
  })

  it('do not hide a device that went or came', () => {
    const first = inventory([], keyboardAt('1-1', front), keyboardAt('2-1', dock))
    const [a, b] = first.all.map((p) => p.deviceId)
    // The dock went with its keyboard, and another controller got its number.
    const second = inventory(first.all, keyboardAt('2-1', front))
    expect(seen(second)).toEqual({
      rows: [
        [a, '2-1', true],
        [b, '2-1', false],
      ],
      changes: ['gone'],
    })
    const third = inventory(second.all, keyboardAt('2-1', front), keyboardAt('3-1', dock))
    expect(seen(third)).toMatchObject({
      rows: [
        [a, '2-1', true],
        [b, '3-1', true],
      ],
      changes: ['attached'],
    })
  })

  it('leave the id to a device that returns on another bus', () => {
    const first = run([], { op: 'attached', device: evaluated(keyboardAt('1-1', front)) }, remove('1-1'))
    const second = run(first.all, { op: 'attached', device: evaluated(keyboardAt('3-1', front)) })
    expect(second.all).toHaveLength(1)
    const other = run(first.all, { op: 'attached', device: evaluated(keyboardAt('1-1', dock)) })
    expect(other.all).toHaveLength(2)
  })

  it('keep the identities of random devices at random controllers', () => {
    const place = fc.record({
      controller: fc.constantFrom(front, dock, 'pci0000:00/14.0 usb3'),
      ports: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }).map((all) => all.join('.')),
      model: fc.constantFrom('keyboard', 'stick', 'twin'),
      speedMbps: fc.constantFrom(12, 480),
    })
    const hosts = fc.uniqueArray(place, { selector: (p) => p.controller + p.ports, minLength: 1, maxLength: 8 })
    const buses = fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(hosts, buses, buses, fc.infiniteStream(fc.boolean()), (devices, before, after, coins) => {
        const controllers = [front, dock, 'pci0000:00/14.0 usb3']
        const reports = (numbers: readonly number[], some: typeof devices) =>
          some.map(({ controller, ports, model, speedMbps }) => {
            const portPath = `${numbers[controllers.indexOf(controller)]}-${ports}`
            const report = model === 'keyboard' ? keyboardAt(portPath) : stick(portPath, model === 'twin' ? 'S' : ports)
            return { ...report, controller, speedMbps }
          })
        const first = inventory([], ...reports(before, devices))
        const second = inventory(first.all, ...reports(after, devices))
        expect(second.changes).toEqual([])
        expect(second.all.map((p) => p.deviceId)).toEqual(first.all.map((p) => p.deviceId))
        const idAt = (all: readonly HostPeripheral[], numbers: readonly number[]) =>
          new Map(
            all.map((p) => [
              `${numbers.indexOf(Number.parseInt(p.portPath, 10))}${p.portPath.replace(/^\d+/, '')}`,
              p.deviceId,
            ]),
          )
        expect(idAt(second.all, after)).toEqual(idAt(first.all, before))
        // Devices that go while the host is off are gone, and only those.
        const left = devices.filter(() => coins.next().value)
        const third = inventory(second.all, ...reports(before, left))
        expect(third.changes.map((c) => c.what)).toEqual(devices.slice(left.length).map(() => 'gone'))
        const fourth = inventory(third.all, ...reports(after, devices))
        expect(fourth.all).toHaveLength(devices.length)
      }),
    )
  })
})

describe('rows of an earlier release', () => {
  it('get the location of their devices, and nothing happens', () => {
    const reports = (bus: (n: number) => number, controller?: (n: number) => string) =>
      [1, 2].flatMap((n) =>
        [keyboardAt(`${bus(n)}-1`), stick(`${bus(n)}-2.3`, `S${n}`)].map((one) =>
          controller === undefined ? one : { ...one, controller: controller(n) },
        ),
      )
    const before = asBefore(inventory([], ...reports((n) => n)).all)
    for (const bus of [(n: number) => n, (n: number) => 3 - n, (n: number) => n + 400]) {
      const after = inventory(before, ...reports(bus, (n) => `controller ${n}`))
      expect(after.changes).toEqual([])
      expect(after.all.map((p) => p.deviceId)).toEqual(before.map((p) => p.deviceId))
      expect(after.all.every((p) => p.controller?.startsWith('controller ') === true)).toBe(true)
      // From now on, the location decides.
      const renumbered = inventory(
        after.all,
        ...reports(
          (n) => bus(n) + 7,
          (n) => `controller ${n}`,
        ),
      )
      expect(renumbered.changes).toEqual([])
      expect(renumbered.all.map((p) => p.deviceId)).toEqual(before.map((p) => p.deviceId))
    }
  })

  it('stay with an agent that reports no location, also after a newer agent', () => {
    const before = asBefore(inventory([], keyboardAt('1-1'), keyboardAt('2-1')).all)
    const old = inventory(before, keyboardAt('1-1'), keyboardAt('2-1'))
    expect(seen(old)).toEqual({ rows: before.map((p) => [p.deviceId, p.portPath, true]), changes: [] })
    const newer = inventory(old.all, keyboardAt('1-1', front), keyboardAt('2-1', dock))
    const again = inventory(newer.all, keyboardAt('1-1'), keyboardAt('2-1'))
    expect([newer.changes, again.changes]).toEqual([[], []])
    expect(again.all.map((p) => p.controller)).toEqual([front, dock])
  })

  it('of detached devices are found by port path, otherwise by ports if only one fits', () => {
    const detached = (...paths: string[]) =>
      asBefore(paths.reduce<HostPeripheral[]>((all, path) => run(all, attach(keyboardAt(path)), remove(path)).all, []))
    const plugged = (rows: HostPeripheral[], path: string) =>
      run(rows, attach(keyboardAt(path, front))).all.find((p) => p.present)?.deviceId
    const id = (path: string) => `USB\\VID_413C&PID_2113\\${path}`
    const [one] = detached('1-1')
    expect(one?.deviceId).toBe(id('1-1'))
    expect([plugged(detached('1-1', '2-1'), '2-1'), plugged(detached('1-1'), '417-1')]).toEqual([id('2-1'), id('1-1')])
    expect(plugged(detached('1-1', '2-1'), '417-1')).toMatch(/\\[0-9a-f]{8}-1$/)
  })

  it('keep the ids of devices whose serial numbers were cleaned', () => {
    const raw = 'T\u0006f\u0013I '
    const report = stick('1-1', raw)
    const device = { ...evaluated(report), serial: escapeText(raw) }
    const before = asBefore(applyReport([], [], [device]).all, 'T f I').map((p) => ({ ...p, deviceId: 'old id' }))
    const after = applyReport(before, [], [device])
    expect(seen(after)).toEqual({ rows: [['old id', '1-1', true]], changes: [] })
    expect(after.all[0]?.serial).toBe('T%06f%13I%20')
    // Another device with the same cleaned serial number is another device from now on.
    const other = { ...evaluated(stick('1-1', 'T\u0007f\u0013I ')), serial: 'T%07f%13I%20' }
    expect(seen(applyReport(after.all, [], [other]))).toMatchObject({ changes: ['gone', 'attached'] })
    const gone = run(before, remove('1-1'))
    expect(applyReport(gone.all, [], [device]).all.map((p) => p.deviceId)).toEqual(['old id'])
  })
})
