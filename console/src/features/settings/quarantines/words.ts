import type { QuarantineState, QuarantineStepName } from '@portcullis/contract'
import type { Severity } from '../../../ui/theme/tokens.ts'

/** States of a quarantine in words. */
export const stateWords: Readonly<Record<QuarantineState, { word: string; severity: Severity }>> = {
  waiting: { word: 'Waits for a person', severity: 'amber' },
  wanted: { word: 'About to be asked for', severity: 'neutral' },
  applying: { word: 'Being asked for', severity: 'neutral' },
  applied: { word: 'Taken, not read back yet', severity: 'neutral' },
  verified: { word: 'In force', severity: 'red' },
  clearing: { word: 'Being taken back', severity: 'neutral' },
  cleared: { word: 'Taken back', severity: 'neutral' },
  failed: { word: 'Failed', severity: 'amber' },
  dismissed: { word: 'Dismissed', severity: 'neutral' },
}

/** Steps of its story in words. */
export const stepWords: Readonly<Record<QuarantineStepName, string>> = {
  asked: 'Asked for',
  waiting: 'Waits for a person',
  approved: 'Approved',
  dismissed: 'Dismissed',
  applying: 'Sent',
  applied: 'Taken',
  verified: 'Read back: in force',
  attributes: 'Attributes written',
  delayed: 'Tried again later',
  failed: 'Failed',
  clear: 'Taking back asked for',
  cleared: 'Read back: gone',
}

/** What a person can decide in a state. */
export const decisionsOf = (state: QuarantineState): readonly ('approve' | 'dismiss' | 'clear')[] => {
  if (state === 'waiting') return ['approve', 'dismiss']
  return state === 'cleared' || state === 'dismissed' || state === 'clearing' ? [] : ['clear']
}
