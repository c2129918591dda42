import type { Peripheral } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'
import { strings } from './strings.ts'

export interface Verdict {
  severity: Severity
  word: string
}

type Judged = Pick<Peripheral, 'decision' | 'guard' | 'inAction' | 'isDisabled' | 'isUnapprovedPeripherals' | 'present'>

/**
 * What the policy makes of a device, in the words of the product: what is so on an armed host, what would be so on a free
 * one. What the host has not confirmed yet is said to be on its way.
 *
 * @param armed null: not known here
 */
export const verdictOf = (device: Judged, armed: boolean | null): Verdict => {
  const { decision, guard, inAction, isDisabled, isUnapprovedPeripherals, present } = device
  const waits = inAction ? strings.waitingForTheHost : ''
  if (decision === 'allow') {
    if (present && isDisabled)
      return inAction
        ? { severity: 'neutral', word: `allowed${waits}` }
        : { severity: 'amber', word: strings.allowedNotUsable }
    return { severity: 'neutral', word: 'allowed' }
  }
  if (present && isDisabled) return { severity: 'red', word: 'blocked' }
  if (armed === null) return { severity: isUnapprovedPeripherals ? 'amber' : 'neutral', word: strings.notAllowed }
  if (!armed || !present) return { severity: 'neutral', word: strings.wouldBeBlocked }
  if (guard !== '') return { severity: 'amber', word: strings.notAllowedStillWorks }
  return { severity: 'amber', word: inAction ? strings.notAllowedWaits({ waits }) : strings.notAllowedStillWorks }
}

/** Id of the rule or grant that decided; null where none did. */
export const decidingRule = ({ rule }: Pick<Peripheral, 'rule'>): string | null =>
  /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(rule) ? rule : null
