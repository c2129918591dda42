import fs, {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSpool } from '../src/spool.ts'
import { attached, countOf, removed, setUp, times } from './spools.ts'

const removal = (at: number): DeviceChange => ({ op: 'removed', at, portPath: '1-1' })
describe('spool', () => {
  it('returns unacknowledged changes in order after a kill', () => {
    const { open } = setUp()
    const spool = open()
    spool.add([removal(1), removal(2)])
    spool.add([removal(3)])
    spool.acknowledge(1)
    expect(times(open().pending(0).changes)).toEqual([2, 3])
  })

  it('returns times on the scale of a clock that was set meanwhile, also after a kill', () => {
    let elapsed = 1_000
    const { open } = setUp({ boot: { id: 'one', elapsed: () => elapsed } })
    const spool = open()
    spool.add([removal(5)])
    elapsed += 7_000
    expect(times(spool.pending(1_000_000).changes)).toEqual([993_000])
    expect(open().pending(2_000_000).changes).toEqual([{ op: 'removed', at: 1_993_000, portPath: '1-1' }])
  })

  it('keeps the time of a change before a restart of the host, and says so', () => {
    const { path } = setUp({ boot: { id: 'one', elapsed: () => 9 } })
    const stateDir = dirname(path)
    const openIn = (id: string) =>
      createSpool({ stateDir, boot: { id, elapsed: () => 9 }, onWriteError: () => {}, onDropped: () => {} })
    openIn('one').add([removal(5)])
    expect(openIn('two').pending(100).changes).toEqual([{ op: 'removed', at: 5, portPath: '1-1', beforeRestart: true }])
    // An unknown boot equals no other.
    openIn('').add([removal(6)])
    expect(
      openIn('')
        .pending(100)
        .changes.map(({ beforeRestart }) => beforeRestart),
    ).toEqual([true, true])
  })

  it('remembers a check-in in flight until its result is known', () => {
    const { open } = setUp()
    const spool = open()
    spool.add([removal(1)])
    spool.markFlight({ bootId: 'b', seq: 7, upTo: spool.pending(0).upTo })
    spool.add([removal(2)])
    const next = open()
    expect(next.openFlight()).toEqual({ bootId: 'b', seq: 7, upTo: 1 })
    next.acknowledge(1)
    expect(next.openFlight()).toBeUndefined()
    expect(times(open().pending(0).changes)).toEqual([2])
    expect(open().openFlight()).toBeUndefined()
  })

  it('cuts off a torn last line and continues after it', () => {
    const { open, path } = setUp()
    open().add([removal(1), removal(2)])
    truncateSync(path, statSync(path).size - 5)
    const next = open()
    expect(times(next.pending(0).changes)).toEqual([1])
    next.add([removal(3)])
    expect(times(open().pending(0).changes)).toEqual([1, 3])
  })

  it('keeps the valid lines before a damaged line', () => {
    const { open, path } = setUp()
    open().add([removal(1)])
    appendFileSync(path, '\u0000\u0000garbage\n')
    expect(times(open().pending(0).changes)).toEqual([1])
  })

  it('empties its file when everything is acknowledged', () => {
    const { open, path } = setUp()
    const spool = open()
    spool.add([removal(1)])
    spool.acknowledge(1)
    expect(statSync(path).size).toBe(0)
    spool.add([removal(2)])
    expect(times(spool.pending(0).changes)).toEqual([2])
  })

  it('keeps changes in memory if the disk cannot be written', () => {
    const { open, faults } = setUp()
    const spool = open()
    spool.close()
    spool.add([removal(1)])
    expect(times(spool.pending(0).changes)).toEqual([1])
    expect(faults).toHaveLength(1)
  })

  it('after a kill at any byte contains a prefix of the added changes, and all for which add() returned', () => {
    const { open, path } = setUp()
    const step = fc.oneof(fc.constant('add' as const), fc.constant('ack' as const), fc.constant('flight' as const))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.nat(), (steps, cutSeed) => {
        const spool = open()
        spool.acknowledge(spool.pending(0).upTo)
        let next = 1
        for (const what of steps) {
          if (what === 'add') spool.add([removal(next++)])
          else if (what === 'ack' && spool.size > 1) spool.acknowledge((spool.pending(0).upTo ?? 0) - spool.size + 1)
          else if (what === 'flight' && spool.size > 0)
            spool.markFlight({ bootId: 'b', seq: 1, upTo: spool.pending(0).upTo })
        }
        const whole = times(spool.pending(0).changes)
        expect(times(open().pending(0).changes)).toEqual(whole)
        const size = readFileSync(path).length
        truncateSync(path, size === 0 ? 0 : cutSeed % (size + 1))
        const cut = times(open().pending(0).changes)
        // A cut may lose the acknowledgement of old changes and the newest changes, never one from the middle.
        expect(cut).toEqual(Array.from({ length: cut.length }, (_, i) => (cut[0] ?? 0) + i))
        expect(cut.at(-1) ?? 0).toBeLessThanOrEqual(next - 1)
      }),
      { numRuns: 200 },
    )
  })
})

/** Replaces a function of `node:fs` until the test ends or the returned function is called. */
const replaceFs = <K extends 'renameSync' | 'writeSync'>(name: K, by: (real: (typeof fs)[K]) => unknown) => {
  const real = fs[name]
  const set = (to: unknown): void => {
    Object.assign(fs, { [name]: to })
    syncBuiltinESMExports()
  }
  const restore = (): void => set(real)
  set(by(real))
  onTestFinished(restore)
  return restore
}
const refuse = (): never => {
  throw new Error('no space left')
}

describe('the numbers of changes', () => {
  it('continue after stored and acknowledged changes over a restart', () => {
    const { open } = setUp()
    const spool = open()
    spool.add([removal(1), removal(2), removal(3)])
    spool.acknowledge(1)
    spool.add([removal(4)])
    expect(spool.pending(0).upTo).toBe(4)
    const next = open()
    next.add([removal(5)])
    expect(next.pending(0).upTo).toBe(5)
    next.acknowledge(9)
    next.add([removal(6)])
    expect(next.pending(0)).toEqual({ changes: [{ ...removal(6), beforeRestart: true }], upTo: 10 })
    expect(setUp().open().pending(0)).toEqual({ changes: [], upTo: 0 })
  })
})

describe('a host without a connection', () => {
  it('keeps all other changes while one device returns 10,000 times', () => {
    const { open, faults, path } = setUp()
    const spool = open()
    spool.add([attached(1, '1-1', 1), attached(2, '1-1.4', 2), removed(3, '1-1.4')])
    const flap = (n: number) => [attached(10 + 2 * n, '1-2', 3, 4_096), removed(11 + 2 * n, '1-2')]
    for (let n = 0; n < 10_000; n += 20) {
      spool.add(Array.from({ length: 20 }, (_, i) => flap(n + i)).flat())
      if (n % 1_000 === 500) spool.add([attached(10 + 2 * n, '1-3', n)])
    }
    for (const { changes } of [spool.pending(0), open().pending(0)]) {
      const at = (port: string) =>
        changes.filter((change) => ('device' in change ? change.device.portPath : change.portPath) === port)
      expect(times(at('1-1'))).toEqual([1])
      expect(times(at('1-1.4'))).toEqual([2, 3])
      expect(at('1-3')).toHaveLength(10)
      const flaps = at('1-2').filter(({ op }) => op === 'attached')
      expect(flaps.length).toBeLessThan(20)
      expect(countOf(flaps)).toBe(10_000)
      expect(flaps[0]).toMatchObject({ at: 10, repeated: { at: 10 + 2 * 9_999 } })
      // The newest state of the port is the last change.
      expect(at('1-2').at(-1)).toMatchObject({ op: 'removed', at: 11 + 2 * 9_999 })
    }
    expect(faults).toEqual([])
    expect(statSync(path).size).toBeLessThan(5_000_000)
  })

  it('keeps the first sight of each of 1,500 identities that return at one port', () => {
    const { open, faults } = setUp()
    const spool = open()
    for (let n = 0; n < 10_500; n++) spool.add([attached(1 + n, '1-2', n % 1_500), removed(1 + n, '1-2')])
    for (const { changes } of [spool.pending(0), open().pending(0)]) {
      const sights = changes.filter(({ op }) => op === 'attached')
      expect(times(sights).slice(0, 1_500)).toEqual(Array.from({ length: 1_500 }, (_, n) => 1 + n))
      expect(countOf(sights)).toBe(10_500)
    }
    expect(faults).not.toEqual([])
  })

  it('merges nothing into a check-in that may be repeated', () => {
    const { open } = setUp()
    const spool = open()
    spool.add([attached(1, '1-1'), removed(2, '1-1')])
    spool.markFlight({ bootId: 'b', seq: 1, upTo: 2 })
    for (let n = 0; n < 100; n++) spool.add([attached(3 + 2 * n, '1-1'), removed(4 + 2 * n, '1-1')])
    for (const again of [spool, open()]) {
      expect(
        again
          .pending(0)
          .changes.slice(0, 2)
          .map(({ repeated }) => repeated),
      ).toEqual([undefined, undefined])
      again.acknowledge(2)
      expect(countOf(again.pending(0).changes.filter(({ op }) => op === 'attached'))).toBe(100)
    }
  })

  it('keeps the newest state of a port that alternates between two devices', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 120 }), (steps) => {
        const { open } = setUp()
        const spool = open()
        steps.forEach((step, n) => {
          spool.add([step === 0 ? removed(n, '1-1') : attached(n, '1-1', step)])
        })
        const { changes } = spool.pending(0)
        expect(open().pending(0).changes).toEqual(changes)
        expect(changes.at(-1)).toMatchObject({ at: steps.length - 1, op: steps.at(-1) === 0 ? 'removed' : 'attached' })
        for (const identity of new Set(steps.filter((step) => step > 0))) {
          const same = changes.filter((change) => 'device' in change && change.device.serial === `serial-${identity}`)
          expect(same[0]?.at).toBe(steps.indexOf(identity))
          expect(countOf(same)).toBe(steps.filter((step) => step === identity).length)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('has a new file if repetitions made the old one large', () => {
    const { open, path } = setUp()
    const spool = open()
    for (let n = 0; n < 400; n++) spool.add([attached(n, '1-1', 0, 16_000), removed(n, '1-1')])
    expect(statSync(path).size).toBeLessThan(4_500_000)
    expect(open().pending(0)).toEqual(spool.pending(0))
  })
})

describe('a check-in that did not arrive', () => {
  it('is forgotten, and its changes stay', () => {
    const { open } = setUp()
    const spool = open()
    spool.add([removal(1)])
    spool.markFlight({ bootId: 'b', seq: 1, upTo: 1 })
    spool.forgetFlight()
    expect(spool.openFlight()).toBeUndefined()
    expect(times(open().pending(0).changes)).toEqual([1])
  })

  it('leaves an empty file if there are no changes', () => {
    const { open, path } = setUp()
    const spool = open()
    spool.markFlight({ bootId: 'b', seq: 1, upTo: 0 })
    expect(statSync(path).size).toBeGreaterThan(0)
    spool.forgetFlight()
    expect(statSync(path).size).toBe(0)
    expect(open().openFlight()).toBeUndefined()
  })
})

describe('the file', () => {
  const line = (n: number): string => `${JSON.stringify({ kind: 'change', n, change: removal(n) })}\n`
  /** A file with three changes after enough acknowledged lines that it must be rewritten. */
  const large = () => {
    const at = setUp()
    const old = `${JSON.stringify({ kind: 'overflow', dropped: 1 })}\n`.repeat(4_000_000 / 32)
    writeFileSync(at.path, old + line(1) + line(2) + line(3))
    const openFiles = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(join(at.path, '..'))
        } catch {
          return false
        }
      }).length
    return { ...at, spool: at.open(), openFiles }
  }

  it('is readable only by its user', () => {
    const { open, path } = setUp()
    open()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is not rewritten for every acknowledgement', () => {
    const { open, path } = setUp()
    const spool = open()
    spool.add([removal(1), removal(2)])
    spool.acknowledge(1)
    expect(readFileSync(path, 'utf8')).toBe(`${line(1)}${line(2)}{"kind":"ack","upTo":1}\n`)
  })

  it('is rewritten when it is large: only unacknowledged changes stay, and new ones are appended', () => {
    const { spool, path, open, openFiles, faults } = large()
    const before = openFiles()
    spool.acknowledge(1)
    expect(readFileSync(path, 'utf8')).toBe(line(2) + line(3))
    expect([openFiles(), statSync(path).mode & 0o777]).toEqual([before, 0o600])
    spool.add([removal(4)])
    spool.acknowledge(2)
    expect(readFileSync(path, 'utf8')).toBe(`${line(2)}${line(3)}${line(4)}{"kind":"ack","upTo":2}\n`)
    expect(times(open().pending(0).changes)).toEqual([3, 4])
    expect(faults).toEqual([])
  })

  it('stays if it cannot be replaced: no temporary file remains, and the acknowledgement applies', () => {
    const { spool, path, open, openFiles, faults } = large()
    const before = openFiles()
    const restore = replaceFs('renameSync', () => refuse)
    spool.acknowledge(1)
    expect(faults).toEqual(['no space left'])
    expect([existsSync(`${path}.new`), openFiles()]).toEqual([false, before])
    expect(times(open().pending(0).changes)).toEqual([2, 3])
    spool.add([removal(4)])
    expect(times(open().pending(0).changes)).toEqual([2, 3, 4])
    // Emptying the file needs no second file.
    spool.acknowledge(4)
    expect([statSync(path).size, faults.length]).toEqual([0, 1])
    restore()
  })

  it('loses only the partially written line', () => {
    const { open, faults } = setUp()
    const spool = open()
    spool.add([removal(1)])
    let writes = 0
    const restore = replaceFs('writeSync', (real) => (fd: number, data: Buffer) => {
      if (++writes > 1) refuse()
      return real(fd, data.subarray(0, 10))
    })
    spool.add([removal(2)])
    restore()
    spool.add([removal(3)])
    expect(faults).toEqual(['no space left'])
    expect(times(spool.pending(0).changes)).toEqual([1, 2, 3])
    expect(times(open().pending(0).changes)).toEqual([1, 3])
  })
})
