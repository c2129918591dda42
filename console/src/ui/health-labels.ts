import type { HealthStatus } from '@portcullis/contract'
import { strings } from './strings.ts'

/** States of the server's parts: the words of the interface, of events and of the guide. */
export const healthWords: Readonly<Record<HealthStatus, string>> = {
  OK: strings.ok,
  Warning: strings.warning,
  Error: strings.error,
  Unknown: 'not configured',
}
