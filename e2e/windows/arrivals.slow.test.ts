import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('arrivals of devices under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('arrivals.cjs', await bundleForWine('e2e/windows/guest/arrivals.ts'))
  }, 600_000)
  afterAll(() => root?.remove())

  it('are noticed within one second', () => {
    const { status, all } = root.node('arrivals.cjs', [], { timeoutMs: 40_000 })
    expect(all).toBe('')
    expect(status).toBe(0)
    const { isListening, before, delays } = JSON.parse(root.read('arrivals.json'))
    expect(root.read('stopped.txt')).toBe('yes')
    expect({ isListening, before }).toEqual({ isListening: true, before: 0 })
    console.log(`arrivals noticed after ${delays.map((ms: number) => Math.round(ms)).join(', ')} ms`)
    expect(delays).toHaveLength(3)
    for (const ms of delays) {
      expect(ms).toBeGreaterThan(0)
      expect(ms).toBeLessThan(1000)
    }
  })
})
