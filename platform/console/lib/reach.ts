export interface ReachDeps {
  /** Returns true if the server responds. */
  isReachable: () => Promise<boolean>
  pause: (milliseconds: number) => Promise<void>
}

/** Seconds between connection attempts, by attempt. */
const gaps = [1, 2, 3]
const longestGap = 5
const gapOf = (attempt: number): number => (gaps[attempt] ?? longestGap) * 1_000

/** Checks the connection to the server for everybody who waits for it. */
export const createReach = ({ isReachable, pause }: ReachDeps) => {
  let attempts: Promise<void> | null = null
  let isLost = false
  /** Recoveries in a row that did not help: the server responds, but not to the call. */
  let vain = 0
  const watchers = new Set<() => void>()
  const setLost = (next: boolean) => {
    if (next === isLost) return
    isLost = next
    for (const watcher of watchers) watcher()
  }

  const attempt = async () => {
    for (let n = 0; !(await isReachable()); n++) {
      setLost(true)
      await pause(gapOf(n))
    }
    setLost(false)
  }

  /** Resolves when the server responds. All callers share the attempts. */
  const untilReachable = (): Promise<void> => {
    attempts ??= attempt().finally(() => {
      attempts = null
    })
    return attempts
  }

  return {
    untilReachable,
    /** Resolves when a failed call is worth another try: after a pause that grows, and when the server responds. */
    untilWorthRetrying: async (leastSeconds = 0): Promise<void> => {
      await pause(Math.max(gapOf(vain), leastSeconds * 1_000))
      vain++
      await untilReachable()
    },
    /** A call succeeded: the next outage starts with short pauses again. */
    noteSuccess: (): void => {
      vain = 0
    },
    /** Returns true while attempts fail. */
    isLost: () => isLost,
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
  }
}

export type Reach = ReturnType<typeof createReach>
