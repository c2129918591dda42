import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { startWebhookReceiver, type WebhookReceiverOptions } from '@portcullis/server/test/peers/webhook-receiver.ts'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import { createDestinations } from '#platform/server/destinations.ts'
import { Secret } from '#platform/server/secret.ts'
import {
  createWebhookSender,
  newWebhookSecret,
  parseWebhookSecret,
  retryOf,
  signWebhook,
  type Webhook,
  WebhookError,
} from './index.ts'

const authority = await createAuthority()
const certificate = await authority.issue(['127.0.0.1'])
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
const sender = (timeoutMs: number) =>
  createWebhookSender({
    resolve: createDestinations(['127.0.0.0/8', '::1']),
    ca: [authority.pem],
    timeoutMs,
    now: () => nowSeconds * 1000,
  })
const { sendWebhook } = sender(10_000)
/** For receivers that do not answer. */
const { sendWebhook: sendShortly } = sender(500)
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
  ] as const)('answered with %s is %s', (result, expected) => {
    expect(retryOf(result)).toBe(expected)
  })

  it('waits as long as requested, up to an hour', async () => {
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

  it('is rated by its status, however long or slow the body is', async () => {
    const replies = [
      { status: 200, body: 'x'.repeat(1_000_000) },
      'slow',
      { status: 500, body: '<h1>secret</h1>' },
    ] as const
    const peer = await receiver({ certificate, replies })
    const answers = []
    for (const send of [sendWebhook, sendShortly, sendWebhook]) answers.push(await send(message(peer.url)))
    expect(answers).toEqual([200, 200, 500].map((status) => ({ status, retryAfterSeconds: null })))
  })

  it('fails with one of a few faults', async () => {
    const peer = await receiver({ certificate, replies: ['hang', 'reset'] })
    expect(await faultOf(sendShortly(message(peer.url)))).toBe('timeout')
    expect(await faultOf(sendWebhook(message(peer.url)))).toBe('broken')
    await peer.close()
    closing.pop()
    expect(await faultOf(sendWebhook(message(peer.url)))).toBe('unreachable')
    const other = await receiver({ certificate: await authority.issue(['siem.example.org']) })
    expect(await faultOf(sendWebhook(message(other.url)))).toBe('certificate')
    const plain = await receiver({})
    expect(await faultOf(sendWebhook(message(plain.url.replace('http:', 'https:'))))).toBe('broken')
    expect(plain.seen).toEqual([])
  })

  it('follows no redirect, to loopback or anywhere', async () => {
    const inner = await receiver()
    const peer = await receiver({ certificate, replies: [{ status: 307, headers: { location: inner.url } }] })
    expect(await sendWebhook(message(peer.url))).toMatchObject({ status: 307 })
    expect([retryOf(307), inner.seen]).toEqual(['final', []])
  })

  it.each([
    'https://169.254.169.254/latest/meta-data/',
    'https://[::ffff:169.254.169.254]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[fd00:ec2::254]/',
    'https://0xa9fea9fe/',
    'https://2852039166/',
    'https://0251.0376.0251.0376/',
    'https://169.254.43518/',
    'https://user:pass@169.254.169.254:8443/',
    'https://169.254.169.254./',
    'https://１６９.２５４.１６９.２５４/',
    'https://100.100.100.200/',
    'https://168.63.129.16/',
    'https://0.0.0.0/',
    'https://[fe80::1]/',
  ])('never goes to %s', async (url) => {
    expect(await faultOf(sendWebhook(message(url)))).toBe('refused')
  })

  it('goes to the checked address of its name, and not to loopback under another name', async () => {
    const peer = await receiver({ certificate: await authority.issue(['siem.example.org']) })
    const answers = ['127.0.0.1', '169.254.169.254']
    let asked = 0
    const rebinding = (allow: string[]) =>
      createWebhookSender({
        resolve: createDestinations(allow, async () => [{ address: answers[asked++] ?? '', family: 4 }]),
        ca: [authority.pem],
        now: () => 0,
      })
    const url = `https://siem.example.org:${peer.port}/hook`
    expect(await faultOf(rebinding([]).sendWebhook(message(url)))).toBe('refused')
    expect(await faultOf(rebinding([]).sendWebhook(message(url)))).toBe('refused')
    expect(peer.seen).toEqual([])
    asked = 0
    // Resolved once: a later answer for the name does not count.
    expect(await rebinding(['127.0.0.1']).sendWebhook(message(url))).toMatchObject({ status: 204 })
    expect([asked, peer.seen.length]).toEqual([1, 1])
  })

  it('uses http only for loopback addresses that the operator allowed', async () => {
    const peer = await receiver({})
    const closed = createWebhookSender({ resolve: createDestinations([]), now: () => 0 })
    expect(await faultOf(closed.sendWebhook(message(peer.url)))).toBe('refused')
    expect(await faultOf(sendWebhook(message('http://10.1.2.3/')))).toBe('insecure')
    expect(await faultOf(sendWebhook(message('ftp://127.0.0.1/')))).toBe('insecure')
    expect(peer.seen).toEqual([])
    const allowed = createWebhookSender({
      resolve: createDestinations(['127.0.0.0/8']),
      now: () => 0,
    })
    expect(await allowed.sendWebhook(message(peer.url))).toMatchObject({ status: 204 })
  })

  it('sends one request with its own headers, whatever the address, id or body contain', async () => {
    const peer = await receiver()
    const path = '/a\r\nX-Evil: 1\r\n\r\nPOST /b HTTP/1.1\r\n'
    await sendWebhook(message(`https://127.0.0.1:${peer.port}${path}`, { body: 'a\r\n\r\nGET / HTTP/1.1\r\n\r\n' }))
    expect(peer.seen).toHaveLength(1)
    expect(peer.seen[0]).toMatchObject({ method: 'POST', body: 'a\r\n\r\nGET / HTTP/1.1\r\n\r\n' })
    expect(Object.keys(peer.seen[0]?.headers ?? {}).sort()).toEqual(
      [
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
        'webhook-id',
        'webhook-signature',
        'webhook-timestamp',
      ].sort(),
    )
    expect(await faultOf(sendWebhook(message(peer.url, { id: 'a\r\nX-Evil: 1' })))).toBe('broken')
    expect(peer.seen).toHaveLength(1)
  })

  it('reveals neither its path, which may contain keys, nor the answer in its errors', async () => {
    const peer = await receiver({ certificate: await authority.issue(['siem.example.org']) })
    const error = await sendWebhook(message(`https://127.0.0.1:${peer.port}/hook/s3cret?k=s3cret`)).catch(
      (one: Error) => one,
    )
    expect((error as Error).message).toBe(
      `The certificate of 127.0.0.1:${peer.port} is not trusted. Enter the CA that issued it and the host name in it.`,
    )
  })
})
