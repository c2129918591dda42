/** Events per second over the last minute, counted in a ring of sixty seconds. */
export interface Rate {
  add(count: number): void
  perSecond(): number
}

/** `seconds` is a monotonic clock. */
export const createRate = (seconds: () => number = () => performance.now() / 1000): Rate => {
  const slots = new Float64Array(60)
  const startedAt = Math.floor(seconds())
  let at = startedAt
  function move(): void {
    const now = Math.floor(seconds())
    for (let skipped = Math.min(now - at, 60); skipped > 0; skipped--) slots[(now - skipped + 1) % 60] = 0
    at = Math.max(at, now)
  }
  return {
    add: (count) => {
      move()
      slots[at % 60] = (slots[at % 60] ?? 0) + count
    },
    perSecond: () => {
      move()
      // During the first minute, less than a minute has been counted.
      const span = Math.min(60, Math.max(1, at - startedAt + 1))
      return slots.reduce((sum, slot) => sum + slot, 0) / span
    },
  }
}
