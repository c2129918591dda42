/** When a rollout starts its next ring, halts or ends: pure, so that what must never happen can be searched for. */
import type { RolloutKind, RolloutState } from '@portcullis/contract'

/** Where a rollout stands. Times are milliseconds since 1970. */
export interface Position {
  kind: RolloutKind
  state: RolloutState
  /** Ring that runs; -1 before the first. */
  ring: number
  /** Number of rings. */
  rings: number
  /** End of dwell of the running ring; null while its hosts have not ended. */
  dwellUntil: number | null
}

/** Hosts of a started ring, counted. */
export interface Tally {
  /** Ready and connected, not commanded yet. */
  waiting: number
  offline: number
  /** Commanded and connected, not ended. */
  pending: number
  /** Commanded ever, ended or not. */
  commanded: number
  failed: number
  /** Blocked more devices than was predicted. */
  over: number
  /** Ended in any way, cannot get it, or have it already. */
  settled: number
  /** Failures and hosts over prediction that a person accepted by resuming after a halt. */
  accepted: { failed: number; over: number }
}

export interface Limits {
  dwellMs: number
  catchUpMs: number
  failurePercent: number
  blocksOverPercent: number
}

export type Decision =
  | { do: 'nothing' }
  | { do: 'startRing'; ring: number }
  | { do: 'dwell'; until: number }
  | { do: 'halt'; reason: string }
  | { do: 'complete' }

const nothing: Decision = { do: 'nothing' }

export const activeStates: readonly RolloutState[] = ['running', 'paused', 'halted']

const passes = (count: number, accepted: number, of: number, percent: number): boolean =>
  count - accepted > 0 && (count - accepted) * 100 > percent * of

/** The budget that a ring has passed, in words; null when it is within them. */
const passedBudget = (tally: Tally, ring: number, limits: Limits): string | null => {
  const { failed, over, commanded, accepted } = tally
  if (passes(failed, accepted.failed, commanded, limits.failurePercent))
    return `${failed} of ${commanded} hosts of ring ${ring + 1} failed, over the budget of ${limits.failurePercent} %.`
  if (passes(over, accepted.over, commanded, limits.blocksOverPercent))
    return `${over} of ${commanded} hosts of ring ${ring + 1} blocked more devices than was predicted, over the budget of ${limits.blocksOverPercent} %.`
  return null
}

/** A ring whose reachable hosts have all ended. One that has only hosts which are offline has shown nothing yet. */
const isSettled = (tally: Tally): boolean =>
  tally.waiting === 0 && tally.pending === 0 && (tally.settled > 0 || tally.offline === 0)

/** What to do now. `tallies` are those of the started rings, in their order. */
export const decide = (position: Position, tallies: readonly Tally[], limits: Limits, now: number): Decision => {
  const { state, ring, rings, dwellUntil } = position
  if (state !== 'running' && state !== 'paused') return nothing
  for (const [i, tally] of tallies.entries()) {
    const reason = passedBudget(tally, i, limits)
    if (reason !== null) return { do: 'halt', reason }
  }
  if (state === 'paused') return nothing
  if (ring < 0) return { do: 'startRing', ring: 0 }
  const current = tallies[ring]
  if (current === undefined || !isSettled(current)) return nothing
  if (dwellUntil === null) return { do: 'dwell', until: now + limits.dwellMs }
  if (now < dwellUntil) return nothing
  if (ring + 1 < rings) return { do: 'startRing', ring: ring + 1 }
  const isAnyLeft = tallies.some((tally) => tally.offline > 0 || tally.waiting > 0 || tally.pending > 0)
  return isAnyLeft && now < dwellUntil + limits.catchUpMs ? nothing : { do: 'complete' }
}

/** Where a decision leads. */
export const apply = (position: Position, decision: Decision): Position => {
  switch (decision.do) {
    case 'nothing':
      return position
    case 'startRing':
      return { ...position, ring: decision.ring, dwellUntil: null }
    case 'dwell':
      return { ...position, dwellUntil: decision.until }
    case 'halt':
      return { ...position, state: 'halted' }
    case 'complete':
      return { ...position, state: 'completed' }
  }
}

/** Whether hosts of a ring may be commanded. */
export const mayCommand = ({ state, ring }: Position, of: number): boolean => state === 'running' && of <= ring

export const controls = ['pause', 'resume', 'halt', 'revert', 'cancel'] as const
export type Control = (typeof controls)[number]

const from: Readonly<Record<Control, readonly RolloutState[]>> = {
  pause: ['running'],
  resume: ['paused', 'halted'],
  halt: ['running', 'paused'],
  revert: activeStates,
  cancel: activeStates,
}
const to: Readonly<Record<Control, RolloutState>> = {
  pause: 'paused',
  resume: 'running',
  halt: 'halted',
  revert: 'reverted',
  cancel: 'cancelled',
}

/** State after somebody's order; null when it cannot be carried out now. */
export const control = (position: Position, order: Control): RolloutState | null =>
  from[order].includes(position.state) && !(order === 'revert' && position.kind === 'update') ? to[order] : null
