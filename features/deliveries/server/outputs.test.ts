import { sql } from '@portcullis/platform/server/db/sql.ts'
import { append, deviceEvent } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { notificationsBase as base, startSender } from '@portcullis/server/test/deliveries.ts'
import { startSyslogReceiver } from '@portcullis/server/test/peers/syslog-receiver.ts'
import { startWebhookReceiver } from '@portcullis/server/test/peers/webhook-receiver.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

let t: TestApp
let sender: Awaited<ReturnType<typeof startSender>>
beforeEach(async () => {
  sender = await startSender()
  t = sender.t
})
afterEach(() => sender.close())

describe('a stream of events', () => {
  it('sends every event to a syslog server once and in order, even after an outage', async () => {
    let peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp' }))
    const { port } = peer
    await append(t, deviceEvent('attached'))
    await sender.group(6, {
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${port}`, protocol: 'tcp', format: 'rfc5424' } },
    })
    await sender.tick()
    // The stream starts when it is switched on, without earlier events.
    const ids = await append(t, ...Array.from({ length: 2_500 }, () => deviceEvent('attached')))
    await sender.tick()
    const idsOf = (texts: readonly string[]) => texts.map((text) => Number(/eventID="(\d+)"/.exec(text)?.[1]))
    expect(idsOf(peer.texts())).toEqual(ids)
    await peer.close()
    const missed = await append(t, ...Array.from({ length: 1_500 }, () => deviceEvent('gone')))
    for (let i = 0; i < 6; i++) await sender.later(400)
    expect(await sender.outputs()).toMatchObject([{ behind: 1_500, isPaused: true, error: expect.stringMatching(/./) }])
    expect((await t.deliveries.health()).status).toBe('Error')
    // Retention keeps events that are not sent yet.
    t.clock.advance(100 * 86_400_000)
    expect(await t.events.forget(30, await t.deliveries.sentUpTo())).toBe(2_501)
    peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp', port }))
    await sender.later(300)
    expect(idsOf(peer.texts())).toEqual(missed)
    expect(await sender.outputs()).toMatchObject([{ behind: 0, failures: 0, isPaused: false, sent: 4_000, error: '' }])
  })

  it('sends a batch again that a server did not read completely', async () => {
    const peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp', behaviour: { reset: 1 } }))
    await sender.group(6, {
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${peer.port}`, protocol: 'tcp', format: 'cef' } },
    })
    await sender.tick()
    const ids = await append(t, deviceEvent('attached'), deviceEvent('gone'))
    await sender.tick()
    expect(await sender.outputs()).toMatchObject([{ behind: 2, failures: 1 }])
    peer.state.behaviour = 'normal'
    await sender.later(6)
    expect(peer.texts().map((text) => Number(/externalId=(\d+)/.exec(text)?.[1]))).toEqual(ids)
  })

  it('is sent to a webhook in batches whose id and body never change', async () => {
    const peer = sender.opened(await startWebhookReceiver())
    await sender.group(6, { channels: { webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/` } } })
    await sender.tick()
    peer.state.next = [{ status: 503 }]
    await append(t, ...Array.from({ length: 30 }, () => deviceEvent('attached')))
    await sender.tick()
    // More events arrived: the failed batch keeps its range.
    const ids = await append(t, ...Array.from({ length: 250 }, () => deviceEvent('gone')))
    await sender.later(6)
    const batches = peer.seen.map(({ headers, body }) => ({ id: headers['webhook-id'], body: JSON.parse(body) }))
    expect(peer.seen[0]?.body).toBe(peer.seen[1]?.body)
    expect(batches[0]?.id).toBe(batches[1]?.id)
    const all = batches
      .slice(1)
      .flatMap(({ body }) => body.data.events.map((event: { data: { eventID: number } }) => event.data.eventID))
    expect(all).toEqual([...Array.from({ length: 30 }, (_, i) => (ids[0] as number) - 30 + i), ...ids])
    expect(batches.map(({ body }) => body.data.events.length)).toEqual([30, 30, 100, 100, 50])
  })

  it('is sent in smaller batches to a webhook that refuses it, and with another id if the content changed', async () => {
    const peer = sender.opened(await startWebhookReceiver())
    await sender.group(6, { channels: { webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/` } } })
    await append(t, ...Array.from({ length: 60 }, () => deviceEvent('attached')), deviceEvent('blocked'))
    peer.state.next = [{ status: 413 }, { status: 413 }, { status: 503 }]
    await sender.tick()
    for (let i = 0; i < 3; i++) await sender.later(301)
    const sizes = peer.seen.map(({ body }) => JSON.parse(body).data.events.length)
    // Refused twice, then too much for the third time in a row; after that the batches grow again.
    expect(sizes).toEqual([61, 50, 25, 12, 24, 25])
    peer.state.next = [{ status: 503 }]
    await append(t, deviceEvent('attached'), deviceEvent('blocked'))
    await sender.later(10)
    await sender.group(6, { minimumSeverity: 'Warning' })
    await sender.later(301)
    const [refused, taken] = peer.seen.slice(-2)
    expect(refused?.headers['webhook-id']).not.toBe(taken?.headers['webhook-id'])
    expect(JSON.parse(taken?.body ?? '').data.events).toHaveLength(1)
  })

  it('stops with an error if the secret of its group cannot be opened, without affecting others', async () => {
    const peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp' }))
    const hook = sender.opened(await startWebhookReceiver())
    await sender.group(6, {
      channels: {
        syslog: { isEnabled: true, address: peer.address, protocol: 'tcp', format: 'cef' },
        webhook: { isEnabled: true, url: hook.url },
      },
    })
    await t.db.execute(sql`update notification_groups set webhook_secret = ${Buffer.from('nonsense')}`)
    await append(t, deviceEvent('attached'))
    await sender.tick()
    expect(peer.texts()).toHaveLength(1)
    expect(await sender.outputs()).toMatchObject([
      { channel: 'syslog', behind: 0 },
      { channel: 'webhook', behind: 1, error: expect.stringContaining('Enter it again') },
    ])
    await sender.group(6, { channels: { webhook: { secret: '' } } })
    await sender.later(6)
    expect(hook.seen).toHaveLength(1)
  })

  it('contains only what its group selects, and an Administrator can skip it', async () => {
    const peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp' }))
    await sender.group(6, {
      minimumSeverity: 'Warning',
      hashtags: ['Kiosk'],
      notifications: [{ id: 'Agent', isEnabled: false }],
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${peer.port}`, protocol: 'tcp', format: 'ocsf' } },
    })
    await sender.tick()
    const tagged = { hashtags: 'lobby,kiosk' }
    const [, wanted] = await append(
      t,
      deviceEvent('attached', tagged),
      deviceEvent('blocked', tagged),
      deviceEvent('blocked', { hashtags: 'other' }),
      { kind: 'agentError', agentId: null, entity: 'HOST (10.0.0.1)', details: '', ...tagged },
    )
    await sender.tick()
    expect(peer.texts()).toHaveLength(1)
    expect(peer.texts()[0]).toContain(`"uid":"${wanted}"`)
    await peer.close()
    await append(t, deviceEvent('blocked', tagged))
    await sender.tick()
    const manager = await person(t, { profile: 20 })
    expect((await manager.api.post(`${base}/outputs/skip`, { groupId: 6, channel: 'syslog' })).statusCode).toBe(403)
    const skipped = await (await t.admin()).post(`${base}/outputs/skip`, { groupId: 6, channel: 'syslog' })
    expect(skipped.json()).toMatchObject([{ behind: 0, failures: 0 }])
    expect((await manager.api.post(`${base}/outputs/retry`, { groupId: 1, channel: 'syslog' })).statusCode).toBe(404)
  })

  it('continues at its position when one of two sending replicas stops', async () => {
    const peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp' }))
    await sender.group(6, {
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${peer.port}`, protocol: 'tcp', format: 'rfc5424' } },
    })
    await sender.tick()
    const other = await startTestApp({
      database: t.database,
      keyDir: t.keyDir,
      clock: t.clock,
      outboundAllow: ['127.0.0.0/8'],
    })
    try {
      const ids: number[] = []
      for (let i = 0; i < 5; i++) {
        ids.push(...(await append(t, ...Array.from({ length: 700 }, () => deviceEvent('attached')))))
        await Promise.all([t.deliveries.deliver(), other.deliveries.deliver()])
      }
      await t.deliveries.deliver()
      const got = peer.texts().map((text) => Number(/eventID="(\d+)"/.exec(text)?.[1]))
      expect(got).toEqual(ids)
    } finally {
      await other.close()
    }
  })

  it('is continued at once by the next server when one stops in the middle of a batch', async () => {
    const peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp', behaviour: { slow: 20_000 } }))
    await sender.group(6, {
      channels: { syslog: { isEnabled: true, address: peer.address, protocol: 'tcp', format: 'rfc5424' } },
    })
    await sender.tick()
    const first = await startTestApp({
      database: t.database,
      keyDir: t.keyDir,
      clock: t.clock,
      outboundAllow: ['127.0.0.0/8'],
    })
    const before = await append(t, ...Array.from({ length: 20 }, () => deviceEvent('attached')))
    const delivering = first.deliveries.deliver()
    await vi.waitFor(() => expect(peer.counts.connections).toBe(1), 20_000)
    await first.close()
    await delivering
    const after = await append(t, deviceEvent('gone'))
    await t.deliveries.deliver()
    const got = peer.texts().map((text) => Number(/eventID="(\d+)"/.exec(text)?.[1]))
    expect(got).toEqual([...before, ...after])
  })
})
