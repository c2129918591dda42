/** When something happened on a host, by the clock of the server. */
export interface Occurrence {
  /** Milliseconds since 1970. Never later than the receipt. */
  at: number
  /** Milliseconds by which `at` may be wrong in either direction. */
  uncertaintyMs: number
}

/** What the server knows about the clock of a host at a check-in. All values are in milliseconds. */
export interface HostClock {
  /** Host clock when the check-in was formed, since 1970. */
  clock: number
  /** Time from forming to sending, which the host measures across suspension. Undefined: an older agent. */
  ageMs: number | undefined
  /** Server clock at receipt, since 1970. */
  receivedAt: number
  /** Server clock at the previous check-in, since 1970. */
  lastSeen: number
  /** How far the host clock was ahead at the previous check-in. Negative: behind. */
  lastSkewMs: number
}

/** Longest usual way of a check-in from the host to the database. */
const transitMs = 1_000
/** A host that was silent for longer has a wrong clock. */
const oldestMs = 400 * 86_400_000
const mostMs = 2_147_483_647

/** Returns how far the host clock is ahead of the server clock, in milliseconds. */
export const skewOf = ({ clock, ageMs, receivedAt }: Pick<HostClock, 'clock' | 'ageMs' | 'receivedAt'>): number =>
  clock - (receivedAt - (ageMs ?? 0))

/**
 * Returns when a change happened, or undefined if the host clock cannot tell. Between a change and its check-in the host
 * clock does not jump, because the agent corrects `at` by the elapsed time. After a restart it cannot, so the result then
 * covers the clock of both check-ins.
 */
export const occurrenceOf = (at: number, isBeforeRestart: boolean, host: HostClock): Occurrence | undefined => {
  const { clock, ageMs, receivedAt, lastSeen, lastSkewMs } = host
  const skew = skewOf(host)
  const times = isBeforeRestart ? [at - skew, at - lastSkewMs] : [at - skew]
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const middle = (first + last) / 2
  if (at > clock || receivedAt - middle > oldestMs || middle > receivedAt + transitMs) return undefined
  // Without its age, a check-in may have waited since the one before.
  const wait = ageMs === undefined ? Math.max(0, receivedAt - lastSeen) : 0
  const uncertaintyMs = Math.min(mostMs, Math.ceil((last - first) / 2 + transitMs + wait))
  return { at: Math.round(Math.min(middle, receivedAt)), uncertaintyMs }
}
