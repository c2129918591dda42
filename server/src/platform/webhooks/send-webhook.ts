import type { ResolveDestination } from '#platform/destinations.ts'
import { createOutboundFetch } from '#platform/outbound-fetch.ts'
import type { Secret } from '#platform/secret.ts'
import { webhookError } from './webhook-error.ts'
import { type SignedMessage, signWebhook } from './webhook-secret.ts'

export interface Webhook extends SignedMessage {
  url: string
  secret: Secret
}

export interface WebhookAnswer {
  status: number
  /** What the receiver asked for by Retry-After, 1 to 3,600; null when it asked for nothing. */
  retryAfterSeconds: number | null
}

export interface WebhookSenderOptions {
  resolve: ResolveDestination
  /** PEM certificates to trust in place of the system's; empty: the system's. */
  ca?: readonly string[]
  /** Milliseconds of a whole exchange. */
  timeoutMs?: number
  /** For Retry-After as a date. */
  now(): number
}

const usualMs = 10_000
/** Bytes of an answer that are read; none of them is shown or kept. */
const mostBytes = 64 * 1024
/** A receiver may put off further tries by as much. */
const mostRetryAfter = 3_600

const retryAfterOf = (header: string | null, now: number): number | null => {
  if (header === null) return null
  const seconds = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1000)
  return Number.isNaN(seconds) ? null : Math.min(mostRetryAfter, Math.max(1, seconds))
}

/** Sends webhooks as Standard Webhooks has them: one POST, no redirect followed. Throws `WebhookError` without an answer. */
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

/** For sentences: an address without its path, which may hold a secret. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? 'the address'
