import type { AlertVerdict, HostFinding } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Says which devices must be removed before their findings can be closed with a verdict. Empty: none. */
export const removalNeeded = (findings: readonly HostFinding[], verdict: AlertVerdict): string => {
  const attached = findings.filter((finding) => finding.attached).length
  return attached > 0 && (verdict === 'true' || verdict === 'test') ? strings.stillAttached({ count: attached }) : ''
}
