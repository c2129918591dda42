import type { Peripheral } from '@portcullis/contract'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { strings } from './strings.ts'

export interface Verdict {
  severity: Severity
  word: string
}

type Evaluated = Pick<
  Peripheral,
  'decision' | 'guard' | 'inAction' | 'isDisabled' | 'isUnapprovedPeripherals' | 'present' | 'rule'
>

/**
 * Returns the label of a decision: its effect if the host is armed, else whether a rule allows the device. Changes that the
 * host has not confirmed are marked as waiting.
 *
 * @param armed null if unknown
 */
export const verdictOf = (device: Evaluated, armed: boolean | null): Verdict => {
  const { decision, guard, inAction, isDisabled, isUnapprovedPeripherals, present } = device
  if (decision === 'allow') {
    if (present && isDisabled)
      return inAction
        ? { severity: 'neutral', word: strings.allowedWaiting }
        : { severity: 'amber', word: strings.allowedNotUsable }
    return { severity: 'neutral', word: strings.allowed }
  }
  if (present && isDisabled) return { severity: 'red', word: strings.blocked }
  const isDenied = decidingRule(device) !== null
  if (armed !== true || !present) {
    const isAmber = armed === null && isUnapprovedPeripherals
    return { severity: isAmber ? 'amber' : 'neutral', word: isDenied ? strings.denied : strings.notAllowed }
  }
  const isWaiting = inAction && guard === ''
  const word = isDenied
    ? isWaiting
      ? strings.deniedWaiting
      : strings.deniedStillWorks
    : isWaiting
      ? strings.notAllowedWaiting
      : strings.notAllowedStillWorks
  return { severity: 'amber', word }
}

/** Returns the id of the rule or grant that decided; null if none did. */
export const decidingRule = ({ rule }: Pick<Peripheral, 'rule'>): string | null =>
  /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(rule) ? rule : null
