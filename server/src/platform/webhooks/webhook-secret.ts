import { createHmac, randomBytes } from 'node:crypto'
import { Secret } from '#platform/secret.ts'

/** Bytes of a key (Standard Webhooks, "Symmetric"). */
const [least, most] = [24, 64]
const prefix = 'whsec_'

/** A new key, as people copy it. */
export const newWebhookSecret = (): Secret => new Secret(`${prefix}${randomBytes(least).toString('base64')}`)

const keyOf = (text: string): Buffer | null => {
  if (!text.startsWith(prefix)) return null
  const encoded = text.slice(prefix.length)
  const key = Buffer.from(encoded, 'base64')
  // Decoding skips what is no base64: only what encodes to the same text was all of it.
  if (key.toString('base64').replace(/={1,2}$/, '') !== encoded.replace(/={1,2}$/, '')) return null
  return key.length >= least && key.length <= most ? key : null
}

/** A key that somebody entered: `whsec_` and base64 of 24 to 64 bytes; null for anything else. */
export const parseWebhookSecret = (text: string): Secret | null => (keyOf(text) === null ? null : new Secret(text))

export interface SignedMessage {
  /** The same on every try; receivers know by it what they have had. No dot in it. */
  id: string
  /** Seconds since 1970 of this try. */
  timestamp: number
  body: string
}

/** `webhook-signature` of a message. */
export const signWebhook = (secret: Secret, { id, timestamp, body }: SignedMessage): string => {
  const key = keyOf(secret.reveal())
  if (key === null) throw new Error('the key of a webhook is not one')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
