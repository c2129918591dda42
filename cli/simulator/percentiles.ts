/** Width of a bucket: 3 %, so that 620 buckets cover 0.01 ms to 10 min. */
const base = 1.03
const floorMs = 0.01

/** Collects durations in constant memory and returns percentiles within 3 %. */
export const createPercentiles = () => {
  const buckets = new Uint32Array(640)
  let count = 0
  let max = 0
  return {
    add: (milliseconds: number): void => {
      const index = Math.ceil(Math.log(Math.max(milliseconds, floorMs) / floorMs) / Math.log(base))
      const at = Math.min(index, buckets.length - 1)
      buckets[at] = (buckets[at] ?? 0) + 1
      count += 1
      if (milliseconds > max) max = milliseconds
    },
    count: (): number => count,
    /** Returns the percentile of a share (0 to 1) in milliseconds; 0 without values. */
    at: (share: number): number => {
      const wanted = Math.max(1, Math.ceil(count * share))
      let seen = 0
      for (const [index, n] of buckets.entries()) {
        seen += n
        if (n > 0 && seen >= wanted) return Math.min(max, floorMs * base ** index)
      }
      return 0
    },
  }
}
