/** A pseudorandom generator that repeats its numbers for the same seed. */
export interface Random {
  /** Returns an integer from 0 to n - 1. */
  below(n: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
}

/** Creates the generator of one request, so that each request can be reproduced alone. */
export const createRandom = (seed: number, index: number): Random => {
  // mulberry32 over a seed spread by a large odd number, so that consecutive indexes are uncorrelated.
  let state = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number): number => Math.floor(next() * n)
  return { below, chance: (share) => next() < share, pick: (items) => items[below(items.length)] as never }
}
