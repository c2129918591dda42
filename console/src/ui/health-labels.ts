import type { HealthStatus } from '@portcullis/contract'

/** States of the server's parts: the words of the interface, of events and of the guide. */
export const healthWords: Readonly<Record<HealthStatus, string>> = {
  OK: 'OK',
  Warning: 'Warning',
  Error: 'Error',
  Unknown: 'not configured',
}
