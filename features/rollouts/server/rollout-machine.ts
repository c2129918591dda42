/**
 * Decides when a rollout starts its next ring, halts or ends. Pure, so that property tests can search for violations.
 */
import type { RolloutKind, RolloutState } from '#features/contract.ts'

/** The state of a rollout. Times are milliseconds since 1970. */
export interface Position {
  kind: RolloutKind
  state: RolloutState
  /** The running ring; -1 before the first. */
  ring: number
  rings: number
  /** End of the dwell time of the running ring; null while its hosts have not ended. */
  dwellUntil: number | null
}

/** Counts of the hosts of a started ring. */
export interface Tally {
  /** Ready and connected, not commanded yet. */
  waiting: number
  offline: number
  /** Commanded and connected, not ended. */
  pending: number
  /** Commanded at any time. */
  commanded: number
  failed: number
  /** Blocked more devices than predicted. */
  over: number
  /** Ended in any way, not able to get it, or already in the target state. */
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

/** Returns the exceeded budget of a ring as text; null: none is exceeded. */
const passedBudget = (tally: Tally, ring: number, limits: Limits): string | null => {
  const { failed, over, commanded, accepted } = tally
  if (passes(failed, accepted.failed, commanded, limits.failurePercent))
    return `${failed} of ${commanded} hosts of ring ${ring + 1} failed, which exceeds the budget of ${limits.failurePercent} %.`
  if (passes(over, accepted.over, commanded, limits.blocksOverPercent))
    return `${over} of ${commanded} hosts of ring ${ring + 1} blocked more devices than predicted, which exceeds the budget of ${limits.blocksOverPercent} %.`
  return null
}

/** Returns whether all reachable hosts of a ring have ended. A ring with only offline hosts has no results yet. */
const isSettled = (tally: Tally): boolean =>
  tally.waiting === 0 && tally.pending === 0 && (tally.settled > 0 || tally.offline === 0)

/** Decides what to do now. `tallies` are those of the started rings, in order. */
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

/** Returns the state after a decision. */
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

/** Returns the state after a person's order; null: the order is not possible now. */
export const control = (position: Position, order: Control): RolloutState | null =>
  from[order].includes(position.state) && !(order === 'revert' && position.kind === 'update') ? to[order] : null
