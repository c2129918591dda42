/** Doubling waits with jitter in the upper half: 1,000 agents that lost one server do not come back in one second. */
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
    /** The next wait in ms: between half and all of a ceiling that doubles up to `maxMs`, never under `minMs` / 2. */
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
