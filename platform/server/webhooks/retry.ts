import type { WebhookFault } from './webhook-error.ts'

/** Outcome of an attempt: `delivered`, retried later, or given up. */
export type WebhookOutcome = 'delivered' | 'retry' | 'final'

/**
 * Classifies a result. 2xx is delivered. 5xx, 408, 429 and missing answers are retried, because certificates and names
 * get fixed. Redirects and other 4xx are final, including 410 (unsubscribed) and http where only https is allowed.
 */
export const retryOf = (result: number | WebhookFault): WebhookOutcome => {
  if (typeof result !== 'number') return result === 'insecure' ? 'final' : 'retry'
  if (result >= 200 && result < 300) return 'delivered'
  return result >= 500 || result === 408 || result === 429 ? 'retry' : 'final'
}
