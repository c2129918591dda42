import { isAllowing, type PolicySource, sourceOf } from '@portcullis/domain'
import type { Prediction, TakesEffect } from '#features/contract.ts'

/** Changes to hosts and devices that rules do not decide. */
export interface Effects {
  /** Mode of the hosts afterwards; null: each keeps its own. */
  mode: 'Armed' | 'Free' | null
  /** Arming also evaluates the devices that are attached now. */
  applyToPresent: boolean
  /** Every attached device is allowed on its host, except attack tools. */
  isApproved: boolean
}

/**
 * Everything that a prediction reads of a device, as one small number. A fleet has many devices in few states. The
 * database counts devices by state; this module defines what follows from each state.
 */
export const stateBits = {
  isPresent: 1,
  isTool: 2,
  /** The host lets it work despite a block decision, for example because the device was attached before arming. */
  isSpared: 4,
  /** Attached, with a kernel driver that contradicts its kind. */
  isMismatched: 8,
  isArmed: 16,
  /** An added rule matches it, even if that changes nothing. */
  isMatched: 32,
  /** An added rule matches it, and hosts detect an attack tool in it. */
  isMatchedTool: 64,
  /** Its host can block devices once it is armed. */
  canBlock: 128,
} as const
/** Bit positions of the decisions before and after the change: numbers of `policySources`. */
export const beforeShift = 8
export const afterShift = 11
const stateCount = 1 << 14

const has = (state: number, bit: keyof typeof stateBits): boolean => (state & stateBits[bit]) !== 0
const sourceIn = (state: number, shift: number): PolicySource => sourceOf((state >> shift) & 7)

/** Decisions that block an already attached device when its host is armed. */
const blocksPresent: ReadonlySet<PolicySource> = new Set(['attack-tool', 'deny'])

/**
 * Returns what a change does to a device. Only this function defines what an armed host blocks, what stops working and
 * what works again.
 */
const outcomeOf = (state: number, { mode, applyToPresent }: Effects) => {
  const after = sourceIn(state, afterShift)
  const isPresent = has(state, 'isPresent')
  const blockedBefore = !isAllowing(sourceIn(state, beforeShift))
  const blocks = !isAllowing(after)
  const isBlocked = has(state, 'isArmed') && isPresent && !has(state, 'isSpared') && blockedBefore
  const isArmed = mode === null ? has(state, 'isArmed') : mode === 'Armed'
  const isAtOnce = mode === null ? !blockedBefore : applyToPresent || blocksPresent.has(after)
  const stops = isArmed && isPresent && !isBlocked && blocks && isAtOnce
  const changed = blocks !== blockedBefore
  const matched = has(state, 'isMatched')
  const isFree = !isArmed && has(state, 'canBlock')
  const isUnable = !isArmed && !has(state, 'canBlock')
  return {
    blocked: blocks,
    changed,
    newlyAllowed: blockedBefore && !blocks,
    newlyBlocked: !blockedBefore && blocks,
    worksAgain: isBlocked && !(isArmed && blocks),
    stopsWorking: stops,
    /** Attached devices that an armed host would block, either immediately or when they are attached again. */
    attachedBlocked: isPresent && blocks,
    mismatched: isPresent && has(state, 'isMismatched'),
    /** Devices that an armed host would block, unless it spares them because they were attached before arming. */
    willBlock: blocks && (!isPresent || isBlocked || stops),
    matched,
    // When a decision takes effect: now, once its host is armed, or never because its host cannot block.
    matchedArmed: matched && isArmed,
    matchedFree: matched && isFree,
    matchedUnable: matched && isUnable,
    changedArmed: changed && isArmed,
    changedFree: changed && isFree,
    changedUnable: changed && isUnable,
  }
}

export type Outcome = ReturnType<typeof outcomeOf>
type Group = keyof Outcome

export type Counts = Prediction['newlyAllowed']

/** How often devices were attached in the period. */
export interface Attachments {
  all: number
  blocked: number
  changed: number
}

/** Counts of the examined devices. */
export interface Totals extends Record<Group, Counts> {
  agents: number
  peripherals: number
  attachments: Attachments
}

/** Returns when the decisions of a group take effect. */
export const takesEffectOf = (totals: Totals, group: 'changed' | 'matched'): TakesEffect => {
  const counts = ({ agents, peripherals }: Counts) => ({ agents, peripherals })
  return {
    now: counts(totals[`${group}Armed`]),
    whenArmed: counts(totals[`${group}Free`]),
    never: counts(totals[`${group}Unable`]),
  }
}

/** Returns the states whose outcome passes the test. */
export const statesOf = (effects: Effects, isTrue: (outcome: Outcome) => boolean): number[] =>
  Array.from({ length: stateCount }, (_, state) => state).filter((state) => isTrue(outcomeOf(state, effects)))

/** Returns whether a device in this state stops working. */
export const isStopping = (state: number, effects: Effects): boolean => outcomeOf(state, effects).stopsWorking

/** Returns the position of each state in a list, starting at 1; 0: not listed. */
export const ranksOf = (effects: Effects, only: 'allow' | 'block' | 'changed' | null): number[] =>
  Array.from({ length: stateCount }, (_, state) => {
    const { blocked, changed, stopsWorking } = outcomeOf(state, effects)
    const isTool = has(state, 'isTool')
    const isListed = { allow: !blocked, block: blocked, changed }
    if (only !== null && !isListed[only]) return 0
    // Changed devices are sorted by severity; other lists start with blocked devices.
    const [first, second] = only === 'changed' ? [isTool, stopsWorking] : [blocked, isTool]
    return 4 - (first ? 2 : 0) - (second ? 1 : 0)
  })

/** Counts hosts and devices, from devices by state and hosts by the states of their devices. */
export const totalsOf = (
  effects: Effects,
  devices: readonly { state: number; n: number; times: number }[],
  hosts: readonly { states: readonly number[]; n: number }[],
): Totals => {
  const outcomes = new Map(devices.map(({ state }) => [state, outcomeOf(state, effects)]))
  const countsOf = (group: Group): Counts => {
    const counts = { agents: 0, peripherals: 0, attackTools: 0 }
    for (const { state, n } of devices) {
      if (outcomes.get(state)?.[group] !== true) continue
      counts.peripherals += n
      if (has(state, group === 'matched' ? 'isMatchedTool' : 'isTool')) counts.attackTools += n
    }
    for (const { states, n } of hosts)
      if (states.some((state) => outcomes.get(state)?.[group] === true)) counts.agents += n
    return counts
  }
  const timesOf = (group: Group): number =>
    devices.reduce((sum, { state, times }) => (outcomes.get(state)?.[group] === true ? sum + times : sum), 0)
  return {
    agents: hosts.reduce((sum, { n }) => sum + n, 0),
    peripherals: devices.reduce((sum, { n }) => sum + n, 0),
    attachments: {
      all: devices.reduce((sum, { times }) => sum + times, 0),
      blocked: timesOf('blocked'),
      changed: timesOf('changed'),
    },
    blocked: countsOf('blocked'),
    changed: countsOf('changed'),
    newlyAllowed: countsOf('newlyAllowed'),
    newlyBlocked: countsOf('newlyBlocked'),
    worksAgain: countsOf('worksAgain'),
    stopsWorking: countsOf('stopsWorking'),
    attachedBlocked: countsOf('attachedBlocked'),
    mismatched: countsOf('mismatched'),
    willBlock: countsOf('willBlock'),
    matched: countsOf('matched'),
    matchedArmed: countsOf('matchedArmed'),
    matchedFree: countsOf('matchedFree'),
    matchedUnable: countsOf('matchedUnable'),
    changedArmed: countsOf('changedArmed'),
    changedFree: countsOf('changedFree'),
    changedUnable: countsOf('changedUnable'),
  }
}
