import { severityNames } from '../contract/severities.ts'
import { invalid } from './app-error.ts'

/** Returns the syslog number of a severity given by name (any case) or number; otherwise a 400 lists the names. */
export const requireSeverity = (field: string, text: string): number => {
  const byName = severityNames.findIndex((name) => name.toLowerCase() === text.toLowerCase())
  const number = byName >= 0 ? byName : /^[0-7]$/.test(text) ? Number(text) : -1
  if (number < 0) throw invalid(field, `must be a number from 0 to 7 or one of ${severityNames.join(', ')}`)
  return number
}
