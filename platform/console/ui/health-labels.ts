import type { HealthStatus } from '@portcullis/contract'
import { strings } from './strings.ts'

/** Labels of health states, the same as in the API, events and guides. */
export const healthWords: Readonly<Record<HealthStatus, string>> = {
  OK: strings.ok,
  Warning: strings.warning,
  Error: strings.error,
  Unknown: strings.notConfigured,
}
