/** Creates doubling waits with jitter, so that 1,000 agents that lost a server do not reconnect in the same second. */
export const createBackoff = ({
  minMs,
  maxMs,
  random = Math.random,
}: {
  minMs: number
  maxMs: number
  random?: () => number
}) => {
  let ceiling = minMs
  return {
    /** Returns the next wait in ms: between half and all of a ceiling that doubles up to `maxMs`, at least `minMs` / 2. */
    next(): number {
      const delay = ceiling / 2 + (random() * ceiling) / 2
      ceiling = Math.min(ceiling * 2, maxMs)
      return delay
    },
    reset(): void {
      ceiling = minMs
    },
  }
}
