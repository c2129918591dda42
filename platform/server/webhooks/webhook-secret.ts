import { createHmac, randomBytes } from 'node:crypto'
import { Secret } from '#platform/server/secret.ts'

/** Key length in bytes (Standard Webhooks, "Symmetric"). */
const [least, most] = [24, 64]
const prefix = 'whsec_'

/** Returns a new key in the form that people copy. */
export const newWebhookSecret = (): Secret => new Secret(`${prefix}${randomBytes(least).toString('base64')}`)

const keyOf = (text: string): Buffer | null => {
  if (!text.startsWith(prefix)) return null
  const encoded = text.slice(prefix.length)
  const key = Buffer.from(encoded, 'base64')
  // Decoding skips characters that are not base64, so a key is valid only if it encodes to the same text.
  if (key.toString('base64').replace(/={1,2}$/, '') !== encoded.replace(/={1,2}$/, '')) return null
  return key.length >= least && key.length <= most ? key : null
}

/** Parses an entered key: `whsec_` followed by base64 of 24 to 64 bytes; null for anything else. */
export const parseWebhookSecret = (text: string): Secret | null => (keyOf(text) === null ? null : new Secret(text))

export interface SignedMessage {
  /** The same for every attempt, so that receivers recognise repetitions. Contains no dot. */
  id: string
  /** Seconds since 1970 of this attempt. */
  timestamp: number
  body: string
}

/** Returns the `webhook-signature` of a message. */
export const signWebhook = (secret: Secret, { id, timestamp, body }: SignedMessage): string => {
  const key = keyOf(secret.reveal())
  if (key === null) throw new Error('the webhook key is invalid')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
