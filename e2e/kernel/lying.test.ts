import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { whyNoKernel } from './kernel-files.ts'
import { lies } from './lies.ts'
import { type LyingRig, startLyingRig } from './lying-rig.ts'
import { eventually } from './vm.ts'

if (whyNoKernel !== undefined) console.log(`SKIPPED: lying USB devices on a real kernel: ${whyNoKernel}`)

/** Plugs of each device into the armed host; the gate does more (`npm run gate -- lying-devices`). */
const PLUGS = 2

/** One machine for all: each test goes on where the one before ended. */
describe('lying USB devices on a real kernel', () => {
  let rig: LyingRig

  beforeAll(async () => {
    if (whyNoKernel !== undefined) return
    const startedAt = performance.now()
    rig = await startLyingRig()
    console.log(`lying devices are ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  })
  beforeEach((ctx) => {
    if (whyNoKernel !== undefined) ctx.skip(whyNoKernel)
  })
  afterAll(() => rig?.stop())

  it.each(lies)('an unprotected host is harmed by $what', async (lie) => {
    await rig.plug(lie)
    const { value } = await eventually(`${lie.name} does harm`, async () => {
      const loot = await rig.loot(lie)
      const isBound = loot.foreign.some(({ driver }) => driver === lie.foreign)
      return isBound && (lie.harm === undefined || loot[lie.harm] > 0) && loot
    })
    expect(value.stillBound).toBeGreaterThan(0)
    await rig.unplug(lie)
  })

  it('the host is armed', async () => {
    await rig.startAgent()
    await rig.arm()
    expect(await rig.vm.run('authorized_defaults')).toBe('0 0 0 0')
  })

  it.each(lies)('finding 3: an armed host stops $what', async (lie) => {
    await rig.setRules(lie)
    for (let i = 0; i < PLUGS; i++) {
      const { loot, isHeld } = await rig.tryArmed(lie)
      const { frames, sectors, keystrokes, networks, disks, sounds, stillBound, foreign } = loot
      expect({ plug: i, frames, sectors, keystrokes, networks, disks, sounds, stillBound }).toEqual({
        ...{ plug: i, frames: 0, sectors: 0, keystrokes: 0, networks: 0, disks: 0, sounds: 0, stillBound: 0 },
      })
      // Whatever was bound for a moment is on record, and its port is held.
      expect(isHeld).toBe(foreign.length > 0)
    }
  })
})
