import type { Prediction } from '@portcullis/contract'
import { type PolicySource, policySources } from '@portcullis/domain'
import { allowing, sourceNumber } from './host.ts'

/** What happens to hosts and devices, as far as it is not decided by rules. */
export interface Effects {
  /** Mode of the hosts afterwards; null: each keeps its own. */
  mode: 'Armed' | 'Free' | null
  /** Arming also judges what is attached now. */
  applyToPresent: boolean
  /** Every attached device is allowed on its host, except attack tools. */
  isApproved: boolean
}

/**
 * All that a prediction asks of a device, as one small number: devices are many, and their states few. The database
 * counts devices by state; what follows from a state is said here.
 */
export const stateBits = {
  isPresent: 1,
  isTool: 2,
  /** The host lets it work against the decision, because it was attached before, say. */
  isSpared: 4,
  /** Attached, with a kernel driver that contradicts its kind. */
  isMismatched: 8,
  /** Its host is armed. */
  isArmed: 16,
  /** An added rule matches it, whether or not that changes anything. */
  isMatched: 32,
  /** The same, and hosts find an attack tool in it. */
  isMatchedTool: 64,
} as const
/** Places of the decisions before and after the change: numbers of `policySources`. */
export const beforeShift = 7
export const afterShift = 10
/** Number of states. */
const stateCount = 1 << 13

const has = (state: number, bit: keyof typeof stateBits): boolean => (state & stateBits[bit]) !== 0
const sourceOf = (state: number, shift: number): PolicySource => policySources[(state >> shift) & 7] as PolicySource

/** What blocks a device at the moment its host is armed, although it was attached before. */
const blocksPresent: ReadonlySet<PolicySource> = new Set(['attack-tool', 'deny'])

/** Decisions that an approval of attached devices replaces: the block without a rule, and grants, which end. */
export const approvedSources = [sourceNumber('grant'), sourceNumber('default')]

/**
 * What a change does to a device. The only place that says what an armed host blocks, what stops and what works again.
 */
const outcomeOf = (state: number, { mode, applyToPresent }: Effects) => {
  const after = sourceOf(state, afterShift)
  const isPresent = has(state, 'isPresent')
  const blockedBefore = !allowing.has(sourceOf(state, beforeShift))
  const blocks = !allowing.has(after)
  const isBlocked = has(state, 'isArmed') && isPresent && !has(state, 'isSpared') && blockedBefore
  const isArmed = mode === null ? has(state, 'isArmed') : mode === 'Armed'
  const isAtOnce = mode === null ? !blockedBefore : applyToPresent || blocksPresent.has(after)
  const stops = isArmed && isPresent && !isBlocked && blocks && isAtOnce
  return {
    blocked: blocks,
    changed: blocks !== blockedBefore,
    newlyAllowed: blockedBefore && !blocks,
    newlyBlocked: !blockedBefore && blocks,
    worksAgain: isBlocked && !(isArmed && blocks),
    stopsWorking: stops,
    /** Attached devices that an armed host would block, at once or when they are attached again. */
    attachedBlocked: isPresent && blocks,
    mismatched: isPresent && has(state, 'isMismatched'),
    /** Devices that an armed host would block unless it spares them because they were attached before. */
    willBlock: blocks && (!isPresent || isBlocked || stops),
    matched: has(state, 'isMatched'),
  }
}

export type Outcome = ReturnType<typeof outcomeOf>
type Group = keyof Outcome

export type Counts = Prediction['newlyAllowed']

/** Examined devices in numbers. */
export interface Totals extends Record<Group, Counts> {
  agents: number
  peripherals: number
}

/** Returns the states whose outcome passes the test. */
export const statesOf = (effects: Effects, isTrue: (outcome: Outcome) => boolean): number[] =>
  Array.from({ length: stateCount }, (_, state) => state).filter((state) => isTrue(outcomeOf(state, effects)))

/** Order of states in a list, the first is 1; 0: not listed. */
export const ranksOf = (effects: Effects, only: 'allow' | 'block' | 'changed' | null): number[] =>
  Array.from({ length: stateCount }, (_, state) => {
    const { blocked, changed, stopsWorking } = outcomeOf(state, effects)
    const isTool = has(state, 'isTool')
    const isListed = { allow: !blocked, block: blocked, changed }
    if (only !== null && !isListed[only]) return 0
    // What changes is listed by gravity, other devices blocked first.
    const [first, second] = only === 'changed' ? [isTool, stopsWorking] : [blocked, isTool]
    return 4 - (first ? 2 : 0) - (second ? 1 : 0)
  })

/** Numbers of hosts and devices, from devices by state and hosts by the states of their devices. */
export const totalsOf = (
  effects: Effects,
  devices: readonly { state: number; n: number }[],
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
  return {
    agents: hosts.reduce((sum, { n }) => sum + n, 0),
    peripherals: devices.reduce((sum, { n }) => sum + n, 0),
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
  }
}
