/** Pseudo-random numbers with a seed, so that a simulated fleet is the same at every start. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number
  /** Returns an integer in [min, max]. */
  between(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** Picks an item by weight. */
  weighted<T extends { weight: number }>(items: readonly T[]): T
  /** Returns upper-case hex digits. */
  hex(digits: number): string
}

/** Creates a mulberry32 generator. Its 32 bits of state keep the memory per host small. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('there are no items to pick from')
    // An item may be null.
    return items[Math.floor(next() * items.length)] as T
  }
  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick,
    weighted: (items) => {
      let left = next() * items.reduce((sum, item) => sum + item.weight, 0)
      for (const item of items) {
        left -= item.weight
        if (left < 0) return item
      }
      return pick(items.slice(-1))
    },
    hex: (digits) => {
      let text = ''
      while (text.length < digits) text += Math.floor(next() * 16).toString(16)
      return text.toUpperCase()
    },
  }
}
