const second = 1_000
const minute = 60 * second
const hour = 60 * minute

const longestWait = 24 * hour
/** Delays between the attempts of one message: seconds at first, up to a day. */
const waits = [5 * second, 30 * second, 5 * minute, 30 * minute, 2 * hour, 6 * hour, longestWait]

/** Returns the milliseconds from the nth failed attempt (1 is the first) to the next. */
export const waitAfter = (attempts: number): number => waits[attempts - 1] ?? longestWait

/**
 * Failures in a row after which a receiver gets one message at a time as a probe. All others wait without attempts
 * until one succeeds.
 */
export const breaksAfter = 3
/** Longest interval between probes, so that a receiver that recovers gets everything within minutes. */
export const probeEveryMs = 5 * minute

/** Returns the delay of a stream. It has one message to retry, so the probe interval is its longest delay. */
export const outputWaitAfter = (failures: number): number => Math.min(waitAfter(failures), probeEveryMs)
