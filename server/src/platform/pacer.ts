export interface PacerOptions {
  /** Refusals a second, of all callers together. */
  perSecond: number
  /** The longest that one waits, in milliseconds. */
  mostMs: number
}

/**
 * Gives refusals at a bounded rate. Attackers that ask again as soon as they are refused wait for each other; a refusal
 * now and then is given at once. What waits holds a connection and a timer.
 */
export const createPacer = ({ perSecond, mostMs }: PacerOptions, clock: () => number = () => performance.now()) => {
  const step = 1000 / perSecond
  let next = 0
  /** Milliseconds that the next refusal has to wait. */
  const delay = (): number => {
    const now = clock()
    next = Math.min(Math.max(next, now) + step, now + mostMs)
    return next - now - step
  }
  return {
    delay,
    wait: async (): Promise<void> => {
      const ms = delay()
      if (ms >= 1) await new Promise((resolve) => setTimeout(resolve, ms))
    },
  }
}
