import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard } from '@portcullis/domain/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readIfThere, writeDurable } from '../src/files.ts'
import { createSpool, type Spool } from '../src/spool.ts'
import { temporaryDir } from './harness.ts'
import { watchPowerLoss } from './power-loss.ts'

const removal = (at: number): DeviceChange => ({ op: 'removed', at, portPath: '1-1' })

let stateDir: string
let power: ReturnType<typeof watchPowerLoss>
beforeEach(() => {
  stateDir = temporaryDir()
  power = watchPowerLoss(stateDir)
})
afterEach(() => power.stop())

const open = (dir: string): Spool =>
  createSpool({
    boot: { id: '', elapsed: () => 0 },
    stateDir: dir,
    onWriteError: (message) => expect.unreachable(message),
    onDropped: () => {},
    maxChanges: 5_000,
    maxBytes: 50_000_000,
  })
/** Opens the spool as the next start would find it after a power loss now. */
const afterPowerLoss = (): Spool => {
  const left = temporaryDir()
  power.leftIn(left)
  return open(left)
}
const times = (spool: Spool): number[] => spool.pending(0).changes.map((change) => change.at)

describe('a power loss', () => {
  it('loses no change that the spool has accepted', () => {
    const spool = open(stateDir)
    spool.add([removal(1), removal(2)])
    expect(times(afterPowerLoss())).toEqual([1, 2])
    spool.add([removal(3)])
    expect(times(afterPowerLoss())).toEqual([1, 2, 3])
    spool.acknowledge(1)
    expect(times(afterPowerLoss())).toEqual([2, 3])
    spool.acknowledge(3)
    expect(times(afterPowerLoss())).toEqual([])
    spool.add([removal(4)])
    expect(times(afterPowerLoss())).toEqual([4])
  })

  it('keeps a check-in that was about to be sent', () => {
    const spool = open(stateDir)
    spool.add([removal(1)])
    spool.markFlight({ bootId: 'b', seq: 7, upTo: 1 })
    expect(afterPowerLoss().openFlight()).toEqual({ bootId: 'b', seq: 7, upTo: 1 })
  })

  it('loses nothing when a large spool is rewritten', () => {
    const spool = open(stateDir)
    const attached: DeviceChange = {
      op: 'attached',
      at: 1,
      device: plainKeyboard({ portPath: '1-1', product: 'x'.repeat(250) }),
    }
    const many = Array.from({ length: 2_000 }, (_, i): DeviceChange => ({ ...attached, at: i }))
    for (let n = 0; n < 5; n++) {
      spool.add(many)
      const { upTo } = spool.pending(0)
      spool.acknowledge(upTo - 1)
      expect(times(afterPowerLoss())).toEqual([1_999])
    }
    expect(readFileSync(join(stateDir, 'spool.jsonl')).length).toBeLessThan(4_000_000)
  })

  it('leaves only the new content of a replaced file, under its name', () => {
    const path = join(stateDir, 'policy.json')
    for (const content of ['the old one', 'the new one']) {
      writeDurable(path, content)
      const left = temporaryDir()
      power.leftIn(left)
      expect(readdirSync(left)).toEqual(['policy.json'])
      expect(readIfThere(join(left, 'policy.json'))).toBe(content)
    }
  })

  it('loses data that was written without fsync, which proves that the test detects it', () => {
    closeSync(openSync(join(stateDir, 'a'), 'w'))
    const left = temporaryDir()
    power.leftIn(left)
    expect(readdirSync(left)).toEqual([])
  })
})
