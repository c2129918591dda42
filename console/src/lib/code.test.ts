import { describe, expect, it } from 'vitest'
import { createCode } from './code.ts'

const missing = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module: /assets/x.js'))

const setUp = (answers: boolean[]) => {
  const seen = { pauses: [] as number[], reloads: 0, at: 0 }
  const code = createCode({
    clock: { now: () => 1_000_000 },
    isReachable: async () => answers.shift() ?? true,
    pause: async (milliseconds) => void seen.pauses.push(milliseconds),
    reload: () => void seen.reloads++,
    lastReload: {
      get: () => seen.at,
      set: (at) => {
        seen.at = at
      },
    },
  })
  return { code, seen }
}

describe('loading code', () => {
  it('waits until the server responds, reports that it is waiting, and retries', async () => {
    const { code, seen } = setUp([false, false, true])
    const waits: boolean[] = []
    code.watch(() => waits.push(code.isWaiting()))
    let calls = 0
    expect(await code.load(() => (++calls === 1 ? missing() : Promise.resolve('page')))).toBe('page')
    expect(seen).toEqual({ pauses: [1_000, 2_000], reloads: 0, at: 0 })
    expect(waits).toEqual([true, false])
  })

  it('reloads the page once when the server responds but the file is missing', async () => {
    const { code, seen } = setUp([])
    void code.load(missing)
    await expect.poll(() => seen.reloads).toBe(1)
    await expect(code.load(missing)).rejects.toThrow('dynamically imported')
    expect(seen.reloads).toBe(1)
  })

  it('reports an error in the code itself immediately', async () => {
    const { code, seen } = setUp([])
    await expect(code.load(() => Promise.reject(new Error('x is not a function')))).rejects.toThrow('x is not')
    expect(seen.pauses).toEqual([])
  })
})
