export interface PacerOptions {
  /** Refusals per second, for all callers together. */
  perSecond: number
  /** Maximum delay of a refusal, in milliseconds. */
  mostMs: number
}

/**
 * Sends refusals at a limited rate. Attackers that retry immediately wait for each other; an occasional refusal is sent
 * at once. A waiting refusal holds a connection and a timer.
 */
export const createPacer = ({ perSecond, mostMs }: PacerOptions, clock: () => number = () => performance.now()) => {
  const step = 1000 / perSecond
  let next = 0
  /** Returns the delay of the next refusal in milliseconds. */
  function delay(): number {
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
