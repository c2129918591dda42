import type { WebhookFault } from './webhook-error.ts'

/** What becomes of a try: `delivered`, sent again later, or given up. */
export type WebhookOutcome = 'delivered' | 'retry' | 'final'

/**
 * 2xx is delivered. 5xx, 408, 429 and whatever has no answer is tried again: certificates and names get mended. Redirects and
 * other 4xx are final, and 410 says that nobody wants any more; so is http where only https is spoken.
 */
export const retryOf = (result: number | WebhookFault): WebhookOutcome => {
  if (typeof result !== 'number') return result === 'insecure' ? 'final' : 'retry'
  if (result >= 200 && result < 300) return 'delivered'
  return result >= 500 || result === 408 || result === 429 ? 'retry' : 'final'
}
