import { describe, expect, it } from 'vitest'
import { createCode } from './code.ts'

const missing = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module: /assets/x.js'))

const setUp = ({ helps = [true] }: { helps?: boolean[] } = {}) => {
  const seen = { waits: 0, reloads: 0 }
  const code = createCode({
    reach: { untilReachable: async () => void seen.waits++ },
    release: {
      reloadWhenSafe: async () => {
        const mayReload = helps.shift() ?? false
        if (mayReload) seen.reloads++
        return mayReload
      },
    },
  })
  return { code, seen }
}

describe('loading code', () => {
  it('waits until the server responds, reports that it is waiting, and retries', async () => {
    const { code, seen } = setUp()
    const waits: boolean[] = []
    code.watch(() => waits.push(code.isWaiting()))
    let calls = 0
    expect(await code.load(() => (++calls === 1 ? missing() : Promise.resolve('page')))).toBe('page')
    expect(seen).toEqual({ waits: 1, reloads: 0 })
    expect(waits).toEqual([true, false])
  })

  it('reloads the page once when the server responds but the file is missing', async () => {
    const { code, seen } = setUp()
    void code.load(missing)
    await expect.poll(() => seen.reloads).toBe(1)
    await expect(code.load(missing)).rejects.toThrow('dynamically imported')
    expect(seen.reloads).toBe(1)
  })

  it('reports an error in the code itself immediately', async () => {
    const { code, seen } = setUp()
    await expect(code.load(() => Promise.reject(new Error('x is not a function')))).rejects.toThrow('x is not')
    expect(seen.waits).toBe(0)
  })
})
