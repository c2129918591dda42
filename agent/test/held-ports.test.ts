import { agentLimits } from '@portcullis/contract/agent-protocol.ts'
import { storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { createEvaluator } from '../src/enforcement/evaluator.ts'
import { type AcceptedDrivers, createHolds, type Hold } from '../src/enforcement/holds.ts'
import { mismatch } from './passing.ts'

const evaluator = createEvaluator()
const at = (portPath: string, product = 'Ultra') =>
  evaluator.identify({ report: storageStick({ portPath, product, serial: 'S1' }), instance: '1' })
const binds = (...drivers: string[]) => ({
  bound: drivers.map((driver) => ({ interface: 0, claims: 'Mass Storage' as const, driver })),
})

const setUp = (known: readonly Hold[] = [], accepted: readonly AcceptedDrivers[] = []) => {
  const changes: [Hold[], AcceptedDrivers[]][] = []
  const holds = createHolds({
    clock: { now: () => 7, monotonic: () => 0 },
    ...{ known, accepted },
    peerOf: (portPath) => (portPath === '1-2' ? '2-2' : undefined),
    onChange: (...change) => changes.push(change),
  })
  return { holds, changes, first: () => holds.list()[0]?.id ?? '' }
}

describe('a held port', () => {
  it('is stored with the first evidence, and found from the buses of both speeds', () => {
    const { holds, changes } = setUp()
    const stick = at('1-2')
    expect(holds.add(stick, mismatch)).toBe('held')
    const { vid, pid, serial, fingerprintWithoutRevision: fingerprint, ruleFingerprint } = stick.device
    const hold = {
      id: expect.any(String),
      portPath: '1-2',
      at: 7,
      mismatch,
      vid,
      pid,
      serial,
      name: 'Ultra',
      fingerprint,
    }
    expect(changes).toEqual([[[{ ...hold, peer: '2-2', ruleFingerprint }], []]])
    expect(holds.list()).toEqual([hold])
    expect(holds.find(at('1-2'))).toBe(holds.find(at('2-2')))
    expect(holds.find(at('1-2'))).toEqual({ ...hold, peer: '2-2', ruleFingerprint })
    expect([holds.find(at('1-3')), holds.find(at('2-3'))]).toEqual([undefined, undefined])
    expect([holds.add(stick, binds('x')), holds.add(at('2-2'), binds('x'))]).toEqual(['known', 'known'])
    expect([changes.length, holds.list()]).toEqual([1, [hold]])
    expect(setUp(changes[0]?.[0]).holds.list()).toEqual([hold])
  })

  it('follows its controller when the system numbers its buses anew', () => {
    const { holds } = setUp()
    const [usb2, usb3, other] = ['pci0000:00/14.0 usb2', 'pci0000:00/14.0 usb3', 'pci0000:00/1d.0 usb2']
    const placed = (portPath: string, controller: string | undefined) => ({ ...at(portPath), controller })
    holds.add(placed('1-2', usb2), mismatch)
    const { id } = holds.list()[0]!
    const idAt = (portPath: string, controller: string | undefined) => holds.find(placed(portPath, controller))?.id
    expect([idAt('1-2', other), idAt('3-3', usb2), idAt('2-2', other), idAt('4-3', usb3)]).toEqual([
      ...[undefined, undefined, undefined, undefined],
    ])
    expect(idAt('4-2', usb3)).toBe(id)
    expect(idAt('3-2', usb2)).toBe(id)
    expect(holds.list().map(({ portPath }) => portPath)).toEqual(['3-2'])
    // A device whose location is unknown is compared by its port path.
    expect([idAt('3-2', undefined), idAt('1-2', undefined)]).toEqual([id, undefined])
  })

  it('of an older version is found by its port path, and its device by its exact fingerprint', () => {
    const { fingerprint, ...device } = at('1-2').device
    const hold = {
      id: 'h',
      portPath: '1-2',
      at: 7,
      mismatch,
      vid: device.vid,
      pid: device.pid,
      serial: 'S1',
      name: 'Ultra',
    }
    const { holds } = setUp([{ ...hold, fingerprint }], [{ fingerprint, drivers: ['x'] }])
    expect(holds.find({ ...at('1-2'), controller: 'pci0000:00/14.0 usb2' })?.id).toBe('h')
    expect(holds.isAccepted(at('1-2'), binds('x'))).toBe(true)
  })

  it('gets the peer of its new port, and is stored, when it moves', () => {
    const [usb2, peer] = ['pci0000:00/14.0 usb2', '2-2']
    const { holds, changes } = setUp()
    holds.add({ ...at('3-2'), controller: usb2 }, mismatch)
    expect(holds.find({ ...at('1-2'), controller: usb2 })).toMatchObject({ portPath: '1-2', peer })
    expect(changes.at(-1)?.[0]).toMatchObject([{ portPath: '1-2', peer }])
    holds.find({ ...at('4-2'), controller: usb2 })
    expect([changes.length, Object.keys(changes.at(-1)?.[0][0] ?? {}).includes('peer')]).toEqual([3, false])
  })

  it('is not found by a device whose controller has no known location, at another port', () => {
    const { holds, changes } = setUp()
    holds.add({ ...at('1-2'), controller: 'pci0000:00/14.0 usb2' }, mismatch)
    expect(holds.find({ ...at('2-2'), controller: undefined })?.portPath).toBe('1-2')
    expect([holds.find({ ...at('3-2'), controller: undefined }), changes.length]).toEqual([undefined, 1])
  })

  it('is released if only the table of an older version called its drivers unknown', () => {
    const { holds, changes } = setUp()
    holds.add(at('1-2'), mismatch)
    const stored = changes[0]?.[0] ?? []
    const outdated = stored.map((one) => ({ ...one, mismatch: binds('usb-storage') }))
    expect([setUp(stored).holds.list().length, setUp(outdated).holds.list()]).toEqual([1, []])
  })

  it('has no peer if its socket has none', () => {
    const { holds } = setUp()
    holds.add(at('1-3'), mismatch)
    expect(Object.keys(holds.find(at('1-3')) ?? {})).not.toContain('peer')
  })

  it('is one of at most 64', () => {
    const { holds, changes } = setUp()
    for (let n = 1; n < agentLimits.heldPorts; n++) holds.add(at(`3-${n}`), mismatch)
    expect(holds.isFull()).toBe(false)
    expect(holds.add(at('1-2'), mismatch)).toBe('held')
    expect(holds.isFull()).toBe(true)
    expect(holds.add(at('1-3'), mismatch)).toBe('full')
    expect(holds.add(at('1-2'), mismatch)).toBe('known')
    expect([changes.length, holds.list().length]).toEqual([64, 64])
  })

  it('is released alone, and its drivers are refused again later', () => {
    const { holds, changes } = setUp()
    holds.add(at('1-2'), mismatch)
    holds.add(at('1-3'), mismatch)
    const [first, second] = holds.list()
    holds.release('unknown', true)
    expect(changes).toHaveLength(2)
    holds.release(first?.id ?? '', false)
    expect(changes.at(-1)).toMatchObject([[second], []])
    expect([holds.find(at('1-2')), holds.find(at('1-3'))?.id]).toEqual([undefined, second?.id])
    expect(holds.isAccepted(at('1-2'), mismatch)).toBe(false)
  })

  it('is released with all others when root frees the host, once', () => {
    const { holds, changes } = setUp()
    holds.clear()
    expect(changes).toEqual([])
    holds.add(at('1-2'), mismatch)
    holds.clear()
    holds.clear()
    expect([holds.list(), changes.length, changes.at(-1)]).toEqual([[], 2, [[], []]])
  })
})

describe('accepted drivers', () => {
  it('apply to this device only, completely and in any order', () => {
    const { holds, changes, first } = setUp()
    holds.add(at('1-2'), binds('b', 'a', 'b'))
    holds.release(first(), true)
    const { ruleFingerprint: fingerprint } = at('1-2').device
    expect(changes.at(-1)).toEqual([[], [{ fingerprint, drivers: ['a', 'b'] }]])
    const accepts = (...drivers: string[]) => holds.isAccepted(at('1-2'), binds(...drivers))
    expect([accepts('a'), accepts('b', 'a'), accepts('a', 'c'), accepts('c')]).toEqual([true, true, false, false])
    expect(holds.isAccepted(at('1-2', 'other'), binds('a'))).toBe(false)
    holds.add(at('1-3', 'Ultra'), binds('0'))
    holds.release(first(), true)
    expect(changes.at(-1)).toEqual([[], [{ fingerprint, drivers: ['0', 'a', 'b'] }]])
    expect([accepts('a', '0'), accepts('d')]).toEqual([true, false])
    holds.add(at('1-2', 'other'), binds('z'))
    holds.release(first(), true)
    expect([accepts('a'), accepts('z'), holds.isAccepted(at('1-2', 'other'), binds('z'))]).toEqual([true, false, true])
    expect(holds.isAccepted(at('1-2', 'other'), binds('a'))).toBe(false)
  })

  it('are stored for the last 256 devices', () => {
    const many = Array.from({ length: 256 }, (_, n) => ({ fingerprint: `f${n}`, drivers: ['x'] }))
    const { holds, changes, first } = setUp([], many)
    holds.add(at('1-2'), mismatch)
    holds.release(first(), true)
    const kept = changes.at(-1)?.[1].map(({ fingerprint }) => fingerprint)
    expect(kept).toEqual([...many.slice(1).map(({ fingerprint }) => fingerprint), at('1-2').device.ruleFingerprint])
  })
})
