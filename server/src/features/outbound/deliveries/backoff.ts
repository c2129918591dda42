const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Waits between the tries of one message: quick at first, then on to a day. */
const waits = [5 * second, 30 * second, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 24 * hour]

/** Milliseconds from the nth failed try (1 is the first) to the next. */
export const waitAfter = (attempts: number): number => waits[Math.min(attempts, waits.length) - 1] as number

/**
 * A receiver that failed so often in a row gets one message at a time, as a probe, until one gets through: all others wait
 * without a try each.
 */
export const breaksAfter = 3
/** A probe is due after at most so long, so that a receiver that came back has everything within minutes. */
export const probeEveryMs = 5 * minute

/** A stream has one message to try: its waits end at the probe's. */
export const outputWaitAfter = (failures: number): number => Math.min(waitAfter(failures), probeEveryMs)
