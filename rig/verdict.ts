/** What a drill or a gate finds: figures beside bars. One bar that is not met is a red. */

export interface Finding {
  /** In words, unique within its check: the member of the JSON line. */
  what: string
  value: number
  unit?: string
  /** The most that passes. */
  atMost?: number
  /** The least that passes. */
  atLeast?: number
}

export interface Outcome {
  findings: Finding[]
  /** What could not be run here, each with its reason. It is told aloud and is no pass. */
  notRun?: string[]
  /** For a person: examples of what went wrong, conditions. */
  notes?: string[]
}

export interface CheckSettings {
  /** Ends within its share of five minutes. */
  isQuick: boolean
  /** Minutes that a soak takes; undefined: the check's own. */
  minutes: number | undefined
  /** Release that an upgrade starts from, as git names it; undefined: the last one. */
  from?: string
  /** Checkout that is tried; another one for a self-test. */
  root: string
}

/** A change of the product's source that makes it wrong: `find` has to be there once. */
export interface Sabotage {
  /** What is broken, in words. */
  what: string
  /** The figure that has to miss its bar for it; a slow machine may make others miss theirs. Absent: any. */
  red?: string
  edits: readonly { file: string; find: string; replace: string }[]
}

export interface Check {
  /** As it is called on the command line. */
  name: string
  /** What it shows, one sentence. */
  what: string
  run(settings: CheckSettings): Promise<Outcome>
  /** Spends its time waiting, not working: in the short form two of these run side by side. */
  isWaiting?: boolean
  /** Ways to break the product that this check has to see. A check without one proves nothing. */
  sabotages?: readonly Sabotage[]
}

export const isMet = ({ value, atMost, atLeast }: Finding): boolean =>
  Number.isFinite(value) && (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)

/** Red: a bar is not met, or nothing was found out at all. */
export const isPassed = ({ findings }: Outcome): boolean => findings.length > 0 && findings.every(isMet)
