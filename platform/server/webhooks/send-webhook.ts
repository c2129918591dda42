import type { ResolveDestination } from '#platform/server/destinations.ts'
import { createOutboundFetch } from '#platform/server/outbound-fetch.ts'
import type { Secret } from '#platform/server/secret.ts'
import { webhookError } from './webhook-error.ts'
import { type SignedMessage, signWebhook } from './webhook-secret.ts'

export interface Webhook extends SignedMessage {
  url: string
  secret: Secret
}

export interface WebhookAnswer {
  status: number
  /** Retry-After of the receiver, 1 to 3,600; null: not given. */
  retryAfterSeconds: number | null
}

export interface WebhookSenderOptions {
  resolve: ResolveDestination
  /** PEM certificates to trust instead of the system's; empty: the system's. */
  ca?: readonly string[]
  /** Time limit of a whole exchange in milliseconds. */
  timeoutMs?: number
  /** Current time, for Retry-After as a date. */
  now(): number
}

const usualMs = 10_000
/** Bytes read of a response; none are shown or stored. */
const mostBytes = 64 * 1024
/** Longest Retry-After that is respected. */
const mostRetryAfter = 3_600

const retryAfterOf = (header: string | null, now: number): number | null => {
  if (header === null) return null
  const seconds = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1000)
  return Number.isNaN(seconds) ? null : Math.min(mostRetryAfter, Math.max(1, seconds))
}

/**
 * Sends webhooks by the Standard Webhooks specification: one POST, no redirects. Throws `WebhookError` without an
 * answer.
 */
export const createWebhookSender = ({ resolve, ca = [], timeoutMs = usualMs, now }: WebhookSenderOptions) => {
  const post = createOutboundFetch({ ca, timeoutMs, mostBytes, excess: 'cut', resolve, plainOnLoopback: true })
  return {
    sendWebhook: async ({ url, secret, id, timestamp, body }: Webhook): Promise<WebhookAnswer> => {
      const answer = await post(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'Portcullis',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signWebhook(secret, { id, timestamp, body }),
        },
        body,
      }).catch((error: unknown) => {
        throw webhookError(error, hostOf(url))
      })
      return { status: answer.status, retryAfterSeconds: retryAfterOf(answer.headers.get('retry-after'), now()) }
    },
  }
}

/** Returns the host of a URL for messages, because its path may contain a secret. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? 'the address'
