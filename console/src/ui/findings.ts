import { strings } from './strings.ts'
import type { Severity } from './theme/tokens.ts'

/** A finding in the words of the product, with how serious it is. */
export interface Finding {
  severity: Severity
  word: string
}

/** What the severity number of a host or device means (10 nothing to see … 50 confirmed attack tool). */
export const findingOf = (severity: number): Finding | null => {
  if (severity >= 50) return { severity: 'violet', word: strings.confirmedAttackTool }
  if (severity >= 40) return { severity: 'red', word: strings.suspectedAttackTool }
  if (severity >= 30) return { severity: 'amber', word: 'vulnerable' }
  if (severity >= 20) return { severity: 'amber', word: strings.notApproved }
  return null
}

/** Options of the severity filter of hosts. */
export const severityOptions = [
  { value: '50', label: strings.confirmedAttackTool2 },
  { value: '40', label: strings.suspectedAttackTool2 },
  { value: '30', label: strings.vulnerable },
  { value: '20', label: strings.notApproved2 },
  { value: '10', label: strings.nothingToSee },
] as const

/** How a syslog severity (0 Emergency … 7 Debug) is drawn. */
export const eventSeverity = (severity: number): Severity => {
  if (severity <= 2) return 'red'
  if (severity <= 4) return 'amber'
  return 'neutral'
}
