import type { Severity } from './theme/tokens.ts'

/** A finding in the words of the product, with how serious it is. */
export interface Finding {
  severity: Severity
  word: string
}

/** What the severity number of a host or device means (10 nothing to see … 50 confirmed attack tool). */
export const findingOf = (severity: number): Finding | null => {
  if (severity >= 50) return { severity: 'violet', word: 'confirmed attack tool' }
  if (severity >= 40) return { severity: 'red', word: 'suspected attack tool' }
  if (severity >= 30) return { severity: 'amber', word: 'vulnerable' }
  if (severity >= 20) return { severity: 'amber', word: 'not approved' }
  return null
}

/** Options of the severity filter of hosts. */
export const severityOptions = [
  { value: '50', label: 'Confirmed attack tool' },
  { value: '40', label: 'Suspected attack tool' },
  { value: '30', label: 'Vulnerable' },
  { value: '20', label: 'Not approved' },
  { value: '10', label: 'Nothing to see' },
] as const

/** How a syslog severity (0 Emergency … 7 Debug) is drawn. */
export const eventSeverity = (severity: number): Severity => {
  if (severity <= 2) return 'red'
  if (severity <= 4) return 'amber'
  return 'neutral'
}
