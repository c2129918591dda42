import type { AlertVerdict, HostFinding } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Returns the message that devices must be removed first, or an empty string. */
export const removalNeeded = (findings: readonly HostFinding[], verdict: AlertVerdict): string => {
  const attached = findings.filter((finding) => finding.attached).length
  return attached > 0 && (verdict === 'true' || verdict === 'test') ? strings.stillAttached({ count: attached }) : ''
}
