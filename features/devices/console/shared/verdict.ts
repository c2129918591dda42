import { translated } from '@portcullis/platform/console/lib/messages.ts'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { type Peripheral, policyStateLabels } from '#features/contract.ts'

export interface Verdict {
  severity: Severity
  word: string
}

const severityOf = (state: Peripheral['policyState']): Severity => {
  if (state === 'allowed' || state === 'allowedWaiting') return 'neutral'
  if (state.startsWith('noAllowlist') || state.endsWith('Gone')) return 'neutral'
  return state === 'blocked' || state.startsWith('attackTool') ? 'red' : 'amber'
}

/** Returns the label of what the policy does with a device on its host. */
export const verdictOf = ({ policyState }: Pick<Peripheral, 'policyState'>): Verdict => ({
  severity: severityOf(policyState),
  word: translated(policyStateLabels[policyState]),
})

/** Returns the id of the rule or grant that decided; null if none did. */
export const decidingRule = ({ rule }: Pick<Peripheral, 'rule'>): string | null =>
  /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(rule) ? rule : null
