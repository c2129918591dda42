import { nacSystemNames, type Quarantine, type QuarantineState, type QuarantineStepName } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Labels of the steps; `{system}` is the NAC system. */
const stepLabels: Readonly<Record<QuarantineStepName, string | ((values: { system: string }) => string)>> = {
  asked: strings.requested,
  waiting: strings.awaitingApproval,
  approved: strings.approved,
  dismissed: strings.isDismissed,
  applying: strings.stepSent,
  applied: strings.stepAccepted,
  verified: strings.stepVerified,
  attributes: strings.stepAttributes,
  delayed: strings.stepDelayed,
  failed: strings.failed,
  clear: strings.stepClear,
  cleared: strings.stepCleared,
}

/** Labels of the next step; final states have none. */
const nextLabels: Readonly<Partial<Record<QuarantineState, string | ((values: { system: string }) => string)>>> = {
  wanted: strings.nextRequest,
  applying: strings.nextRequest,
  applied: strings.nextVerify,
  clearing: strings.nextRelease,
}

export interface TimelineLine {
  key: string
  label: string
  /** A waiting step is open until somebody decides. */
  mark: 'done' | 'failed' | 'open'
  seen: string
  by: string
  at: string
}

/** Returns the steps of a quarantine, oldest first, and the next step. */
export const timelineOf = ({
  system,
  state,
  awaitsApproval,
  timeline,
}: Pick<Quarantine, 'system' | 'state' | 'awaitsApproval' | 'timeline'>) => {
  const named = (label: string | ((values: { system: string }) => string)) =>
    typeof label === 'string' ? label : label({ system: nacSystemNames[system] })
  const next = nextLabels[state]
  return {
    lines: timeline.map(
      ({ step, ok, message, by, at }, index): TimelineLine => ({
        key: `${index} ${at}`,
        label: named(stepLabels[step]),
        mark: step === 'waiting' ? (awaitsApproval ? 'open' : 'done') : ok ? 'done' : 'failed',
        seen: message,
        by,
        at,
      }),
    ),
    next: next === undefined ? null : named(next),
  }
}
