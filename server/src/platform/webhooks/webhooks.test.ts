import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import { createDestinations } from '#platform/destinations.ts'
import { Secret } from '#platform/secret.ts'
import { createAuthority } from '#test/certificates.ts'
import { startWebhookReceiver, type WebhookReceiverOptions } from '#test/peers/webhook-receiver.ts'
import {
  createWebhookSender,
  newWebhookSecret,
  parseWebhookSecret,
  retryOf,
  signWebhook,
  type Webhook,
  WebhookError,
} from './index.ts'

const authority = createAuthority()
const certificate = authority.issue(['127.0.0.1'])
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
const receiver = async (options: WebhookReceiverOptions = { certificate }) => {
  const started = await startWebhookReceiver(options)
  closing.push(started.close)
  return started
}
const secret = newWebhookSecret()
const nowSeconds = Math.floor(Date.now() / 1000)
const message = (url: string, over: Partial<Webhook> = {}): Webhook => ({
  url,
  secret,
  id: 'msg_1',
  timestamp: nowSeconds,
  body: '{"type":"event.attached","data":{"details":"Schlüssel ✓"}}',
  ...over,
})
const { sendWebhook } = createWebhookSender({
  resolve: createDestinations([]),
  ca: [authority.pem],
  timeoutMs: 1_000,
  now: () => nowSeconds * 1000,
})
const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (answer) => answer,
    (error: unknown) => (error instanceof WebhookError ? error.fault : error),
  )

describe('a webhook', () => {
  it('is verified by another implementation of Standard Webhooks', async () => {
    const peer = await receiver()
    expect(await sendWebhook(message(peer.url))).toEqual({ status: 204, retryAfterSeconds: null })
    const [seen] = peer.seen
    const verifier = new StandardWebhook(secret.reveal())
    expect(verifier.verify(seen?.body ?? '', seen?.headers as Record<string, string>)).toEqual({
      type: 'event.attached',
      data: { details: 'Schlüssel ✓' },
    })
    expect(() => verifier.verify(`${seen?.body} `, seen?.headers as Record<string, string>)).toThrow()
    expect(seen).toMatchObject({ method: 'POST', path: '/hook' })
    expect(seen?.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'webhook-id': 'msg_1' })
  })

  it.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [302, 'final'],
    [400, 'final'],
    [404, 'final'],
    [408, 'retry'],
    [410, 'final'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
    ['certificate', 'retry'],
    ['unresolved', 'retry'],
    ['insecure', 'final'],
  ] as const)('that is answered by %s is %s', (result, expected) => {
    expect(retryOf(result)).toBe(expected)
  })

  it('waits as long as it is asked to, within an hour', async () => {
    const after = (value: string) => ({ status: 429, headers: { 'retry-after': value } })
    const date = new Date((nowSeconds + 90) * 1000).toUTCString()
    const replies = ['7', '999999', '0', date, 'soon'].map(after)
    const peer = await receiver({ certificate, replies })
    const waits = []
    for (const _ of replies) waits.push((await sendWebhook(message(peer.url))).retryAfterSeconds)
    expect(waits).toEqual([7, 3600, 1, 90, null])
  })

  it('has a key of 24 to 64 bytes', () => {
    const key = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
    expect([23, 24, 64, 65].map((bytes) => parseWebhookSecret(key(bytes)) !== null)).toEqual([false, true, true, false])
    for (const text of [
      '',
      'whsec_',
      key(32).slice(6),
      `${key(32)}\n`,
      `${key(32)}!`,
      'whsec_äöü',
      key(32).toUpperCase(),
    ])
      expect(parseWebhookSecret(text)).toBeNull()
    expect(parseWebhookSecret(newWebhookSecret().reveal())).toBeInstanceOf(Secret)
    expect(newWebhookSecret().reveal()).not.toBe(newWebhookSecret().reveal())
    expect(() => signWebhook(new Secret('whsec_x'), { id: 'a', timestamp: 1, body: '' })).toThrow()
  })

  it('fails by one of few faults', async () => {
    const peer = await receiver({ certificate, replies: ['hang', 'reset'] })
    expect(await faultOf(sendWebhook(message(peer.url)))).toBe('timeout')
    expect(await faultOf(sendWebhook(message(peer.url)))).toBe('broken')
  })
})
