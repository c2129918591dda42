import { strings } from '@portcullis/platform/console/ui/strings.ts'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'

/** The label of a finding, with its severity. */
export interface Finding {
  severity: Severity
  word: string
}

/** Returns the finding for the severity number of a host or device (10: no findings … 50: confirmed attack tool). */
export const findingOf = (severity: number): Finding | null => {
  if (severity >= 50) return { severity: 'violet', word: strings.confirmedAttackTool }
  if (severity >= 40) return { severity: 'red', word: strings.suspectedAttackTool }
  if (severity >= 30) return { severity: 'amber', word: strings.vulnerable }
  if (severity >= 20) return { severity: 'amber', word: strings.notAllowed }
  return null
}

/** Returns the display severity of a syslog severity (0 Emergency … 7 Debug). */
export const eventSeverity = (severity: number): Severity => {
  if (severity <= 2) return 'red'
  if (severity <= 4) return 'amber'
  return 'neutral'
}
