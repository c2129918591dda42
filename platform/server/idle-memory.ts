/**
 * Returns memory to the system after a burst of work. V8 collects garbage only when it allocates, so an idle server
 * would keep the memory of its last burst: 52 MB after the enrolment of 1,000 hosts.
 */

/** Share of one core above which the server counts as busy. */
const busyFrom = 0.2
/** Idle samples in a row before a collection. */
const idleSamples = 3
/**
 * Growth of memory after which an idle server collects without a burst, and the minimum time between two such
 * collections.
 */
const grownBytes = 24 * 1024 * 1024
const grownEveryMs = 600_000

export interface IdleMemoryOptions {
  /** Collects all garbage and returns free pages to the system. Blocks this process for about 150 ms. */
  collect(): void
  /** Returns the processor time that this process has used, in milliseconds. */
  cpuMs(): number
  /** Returns the time in milliseconds, from any origin. */
  nowMs(): number
  /** Returns the resident memory of this process in bytes. */
  residentBytes(): number
}

/** Creates a function that samples the CPU use and collects garbage once the server is idle. Call it every 10 s. */
export const createIdleMemory = ({ collect, cpuMs, nowMs, residentBytes }: IdleMemoryOptions): (() => void) => {
  let lookedAt = nowMs()
  let used = cpuMs()
  // The start counts as a burst.
  let wasBusy = true
  let quiet = 0
  let collectedAt = lookedAt
  let bytesThen = 0

  return () => {
    const now = nowMs()
    const usedNow = cpuMs()
    const isBusy = usedNow - used >= busyFrom * (now - lookedAt)
    lookedAt = now
    used = usedNow
    quiet = isBusy ? 0 : quiet + 1
    wasBusy ||= isBusy
    if (quiet < idleSamples) return
    const hasGrown = now - collectedAt >= grownEveryMs && residentBytes() - bytesThen >= grownBytes
    if (!wasBusy && !hasGrown) return
    collect()
    wasBusy = false
    collectedAt = nowMs()
    bytesThen = residentBytes()
  }
}
