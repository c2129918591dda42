import { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceChange } from '@portcullis/contract/agent-protocol'
import { plainKeyboard } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSpool, type SpoolDeps } from '../src/spool.ts'
import { temporaryDir } from './harness.ts'

const removal = (at: number): DeviceChange => ({ op: 'removed', at, portPath: '1-1' })
const times = (changes: readonly DeviceChange[]) => changes.map((change) => change.at)

const setUp = (more: Partial<SpoolDeps> = {}) => {
  const stateDir = temporaryDir()
  const faults: string[] = []
  /** Another start on the same directory; the one before is left as a kill leaves it. */
  const open = () =>
    createSpool({
      stateDir,
      onWriteError: (message) => faults.push(message),
      onOverflow: (dropped) => faults.push(`overflow ${dropped}`),
      ...more,
    })
  return { path: join(stateDir, 'spool.jsonl'), faults, open }
}

describe('spool', () => {
  it('gives back after a kill what was not acknowledged, in order', () => {
    const { open } = setUp()
    const spool = open()
    spool.add([removal(1), removal(2)])
    spool.add([removal(3)])
    spool.acknowledge(1)
    expect(times(open().pending().changes)).toEqual([2, 3])
  })

  it('remembers a check-in under way until its fate is known', () => {
    const { open } = setUp()
    const spool = open()
    spool.add([removal(1)])
    spool.markFlight({ bootId: 'b', seq: 7, upTo: spool.pending().upTo })
    spool.add([removal(2)])
    const next = open()
    expect(next.openFlight()).toEqual({ bootId: 'b', seq: 7, upTo: 1 })
    next.acknowledge(1)
    expect(next.openFlight()).toBeUndefined()
    expect(times(open().pending().changes)).toEqual([2])
    expect(open().openFlight()).toBeUndefined()
  })

  it('cuts off a torn last line and goes on behind it', () => {
    const { open, path } = setUp()
    open().add([removal(1), removal(2)])
    truncateSync(path, statSync(path).size - 5)
    const next = open()
    expect(times(next.pending().changes)).toEqual([1])
    next.add([removal(3)])
    expect(times(open().pending().changes)).toEqual([1, 3])
  })

  it('keeps what was whole before a damaged line', () => {
    const { open, path } = setUp()
    open().add([removal(1)])
    appendFileSync(path, '\u0000\u0000garbage\n')
    expect(times(open().pending().changes)).toEqual([1])
  })

  it('empties its file when everything is acknowledged', () => {
    const { open, path } = setUp()
    const spool = open()
    spool.add([removal(1)])
    spool.acknowledge(1)
    expect(statSync(path).size).toBe(0)
    spool.add([removal(2)])
    expect(times(spool.pending().changes)).toEqual([2])
  })

  it('collapses over its bounds and says how much was dropped', () => {
    const { open, faults } = setUp({ maxChanges: 3 })
    const spool = open()
    spool.add([removal(1), removal(2), removal(3)])
    spool.add([removal(4)])
    expect(spool.size).toBe(0)
    spool.add([removal(5)])
    expect(times(open().pending().changes)).toEqual([5])
    expect(faults).toEqual(['overflow 4'])
    const byBytes = setUp({ maxBytes: 100 })
    byBytes.open().add([{ op: 'attached', at: 1, device: plainKeyboard({ portPath: '1-1' }) }])
    expect(byBytes.faults).toEqual(['overflow 1'])
  })

  it('keeps changes in memory when the disk refuses', () => {
    const { open, faults } = setUp()
    const spool = open()
    spool.close()
    spool.add([removal(1)])
    expect(times(spool.pending().changes)).toEqual([1])
    expect(faults).toHaveLength(1)
  })

  it('after a kill at any byte holds a prefix of what was added, and everything that add() returned for', () => {
    const { open, path } = setUp()
    const step = fc.oneof(fc.constant('add' as const), fc.constant('ack' as const), fc.constant('flight' as const))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.nat(), (steps, cutSeed) => {
        const spool = open()
        spool.acknowledge(spool.pending().upTo)
        let next = 1
        for (const what of steps) {
          if (what === 'add') spool.add([removal(next++)])
          else if (what === 'ack' && spool.size > 1) spool.acknowledge((spool.pending().upTo ?? 0) - spool.size + 1)
          else if (what === 'flight' && spool.size > 0)
            spool.markFlight({ bootId: 'b', seq: 1, upTo: spool.pending().upTo })
        }
        const whole = times(spool.pending().changes)
        expect(times(open().pending().changes)).toEqual(whole)
        const size = readFileSync(path).length
        truncateSync(path, size === 0 ? 0 : cutSeed % (size + 1))
        const cut = times(open().pending().changes)
        // A cut may lose the acknowledgement of old changes and the newest changes, never one from the middle.
        expect(cut).toEqual(Array.from({ length: cut.length }, (_, i) => (cut[0] ?? 0) + i))
        expect(cut.at(-1) ?? 0).toBeLessThanOrEqual(next - 1)
      }),
      { numRuns: 200 },
    )
  })
})
