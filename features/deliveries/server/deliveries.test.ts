// Invariant: One part reports a mail server that is down; the parts that wait for it do not.

import { randomUUID } from 'node:crypto'
import { append, deviceEvent, startMail } from '@portcullis/server/test/alerts.ts'
import type { TestApp } from '@portcullis/server/test/app.ts'
import { notificationsBase as base, startSender } from '@portcullis/server/test/deliveries.ts'
import { startWebhookReceiver } from '@portcullis/server/test/peers/webhook-receiver.ts'
import { person } from '@portcullis/server/test/people.ts'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery } from '#features/contract.ts'

let t: TestApp
let sender: Awaited<ReturnType<typeof startSender>>
beforeEach(async () => {
  sender = await startSender()
  t = sender.t
})
afterEach(() => sender.close())

describe('mail of a group', () => {
  it('is a single mail with a count for a flood, and safe with hostile strings', async () => {
    const mail = sender.opened(await startMail(t))
    await sender.group(2, {
      channels: { email: { isEnabled: true, recipients: ['soc@example.org', 'SOC@example.org', 'it@example.org'] } },
    })
    const hostile = '<img src=x onerror=alert(1)>\r\nBcc: everybody@example.org\r\n\r\nHello \u202e'
    for (let i = 0; i < 10; i++) {
      await append(t, ...Array.from({ length: 1_000 }, () => deviceEvent('blocked', { name: hostile })))
      await sender.tick()
    }
    expect(mail.taken).toEqual([])
    await sender.later(16)
    expect(mail.taken.map(({ to }) => to).sort()).toEqual([['it@example.org'], ['soc@example.org']])
    const [head = '', ...body] = (mail.taken[0]?.text ?? '').split('\r\n\r\n')
    expect(head).toMatch(/^Subject: \[Warning\] <img(?:.|\r\n )*\(blocked by policy\) on HOST-1/m)
    expect(head).not.toMatch(/^Bcc:/im)
    expect(body.join('\n')).toContain('10,000 times')
    // The plain text is unchanged; the HTML shows it as text too.
    expect(mail.taken[0]?.text.split('text/html')[1]).not.toContain('<img')
    await sender.later(3_600)
    expect(mail.taken).toHaveLength(2)
    expect((await sender.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ])
  })

  it('waits for an unavailable server, and is then delivered completely', async () => {
    const mail = sender.opened(await startMail(t))
    await sender.group(2, { channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    mail.state.refuse = { code: 451, message: 'try later' }
    for (let i = 0; i < 5; i++) {
      await append(t, deviceEvent('blocked', { pid: `000${i}` }))
      await sender.tick()
      await sender.later(61)
    }
    expect(mail.taken).toEqual([])
    const stuck = await sender.deliveries('?isStuck=true')
    expect(stuck.length).toBeGreaterThan(0)
    expect(stuck.every(({ error }) => error.includes('try later'))).toBe(true)
    t.clock.advance(50 * 3_600_000)
    await sender.tick()
    mail.state.refuse = null
    await sender.later(3_600)
    expect((await sender.deliveries('?state=waiting')).length).toBe(0)
    expect(mail.taken.length).toBeGreaterThanOrEqual(2)
    for (let i = 0; i < 5; i++)
      expect(mail.taken.some(({ text }) => text.replaceAll('=\r\n', '').includes(`1209/000${i}`))).toBe(true)
  })

  it('is listed after a permanent rejection, and a person retries or drops it', async () => {
    const mail = sender.opened(await startMail(t))
    await sender.group(2, { channels: { email: { isEnabled: true, recipients: ['a@example.org', 'b@example.org'] } } })
    mail.state.refuse = { code: 550, message: 'no such person' }
    await append(t, deviceEvent('blocked'))
    await sender.tick()
    await sender.later(16)
    const [first, second] = (await sender.deliveries('?state=failed')) as [Delivery, Delivery]
    expect([first.isStuck, first.error]).toEqual([true, expect.stringContaining('no such person')])
    mail.state.refuse = null
    const admin = await t.admin()
    const manager = await person(t, { profile: 20 })
    expect((await manager.api.post(`${base}/deliveries/drop`, { ids: [second.id] })).statusCode).toBe(403)
    expect((await admin.post(`${base}/deliveries/drop`, { ids: [second.id, 'nothing'] })).json()).toEqual({
      accepted: 1,
      notFound: ['nothing'],
    })
    expect((await manager.api.post(`${base}/deliveries/retry`, { ids: null })).json()).toEqual({
      accepted: 1,
      notFound: [],
    })
    await sender.tick()
    expect(mail.taken).toHaveLength(1)
    expect((await sender.deliveries()).map(({ state }) => state).sort()).toEqual(['delivered', 'dropped'])
  })

  it('to a full mailbox does not delay other recipients', async () => {
    const mail = sender.opened(await startMail(t))
    await sender.group(1, { channels: { email: { isEnabled: true, recipients: ['ciso@example.org'] } } })
    await sender.group(2, { channels: { email: { isEnabled: true, recipients: ['full@example.org'] } } })
    mail.state.refuse = { code: 452, message: 'mailbox full', of: 'full@example.org' }
    for (let i = 0; i < 6; i++) {
      await append(t, deviceEvent('blocked', { pid: `000${i}` }))
      await sender.tick()
      await sender.later(3_700)
    }
    await append(t, deviceEvent('attackTool', { agentId: randomUUID() }))
    await sender.tick()
    await sender.later(16)
    expect(mail.taken.map(({ to }) => to)).toEqual([['ciso@example.org']])
    expect((await t.deliveries.health()).status).not.toBe('OK')
  })

  it('is reported only by the part "mail" while it waits for the mail server', async () => {
    let mail = sender.opened(await startMail(t))
    const { port } = mail
    const peer = sender.opened(await startWebhookReceiver())
    await sender.group(2, { channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    await mail.close()
    await append(t, deviceEvent('blocked'))
    await sender.tick()
    await sender.later(16)
    expect(await t.server.mail.health()).toEqual({
      status: 'Error',
      description: `Connection refused by 127.0.0.1:${port}. Check host and port.`,
    })
    expect(await t.deliveries.health()).toEqual({
      status: 'OK',
      description: '1 mail waits for the mail server. See the part "mail".',
    })
    // An unavailable webhook is reported separately.
    await sender.group(1, { channels: { webhook: { isEnabled: true, url: peer.url } } })
    peer.state.always = 'reset'
    await append(t, deviceEvent('attackTool', { agentId: randomUUID() }))
    await sender.tick()
    const both = await t.deliveries.health()
    expect([both.status, both.description]).toEqual([
      'Warning',
      expect.stringMatching(/^1 message waits for a receiver\..* 1 mail waits/),
    ])
    expect(both.description).not.toContain(String(port))
    mail = sender.opened(await startMail(t))
    peer.state.always = { status: 204 }
    await sender.later(3_700)
    await sender.later(3_700)
    expect(mail.taken.map(({ to }) => to)).toContainEqual(['soc@example.org'])
    expect([(await t.server.mail.health()).status, await t.deliveries.health()]).toEqual([
      'OK',
      { status: 'OK', description: 'Nothing is waiting.' },
    ])
  })

  it('shows the state of a subsystem at the time of sending', async () => {
    const mail = sender.opened(await startMail(t))
    await sender.group(4, { channels: { email: { isEnabled: true, recipients: ['ops@example.org'] } } })
    const health = (kind: 'degraded' | 'recovered') =>
      append(t, {
        kind,
        agentId: null,
        entity: 'database',
        hashtags: '',
        details: 'seen',
        severity: kind === 'degraded' ? 3 : 5,
      })
    await health('degraded')
    await sender.tick()
    await sender.later(16)
    await health('recovered')
    await sender.tick()
    await health('degraded')
    await sender.tick()
    await sender.later(400)
    expect(mail.taken.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1])).toEqual([
      '[Error] database: Error',
      '[Error, again] database: Error',
    ])
  })

  it('reports that a silent host checked in again to those who were notified of its silence', async () => {
    const mail = sender.opened(await startMail(t))
    await sender.group(3, { channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    const agentId = randomUUID()
    const event = (kind: 'silent' | 'heardAgain') => ({
      kind,
      agentId,
      entity: 'WS-1 (10.0.0.1)',
      hashtags: '',
      details: '',
    })
    await append(t, event('silent'))
    await sender.tick()
    await sender.later(16)
    await append(t, event('heardAgain'))
    await sender.tick()
    await sender.later(400)
    // A host that was never silent is not reported.
    await append(t, { ...event('heardAgain'), agentId: randomUUID() })
    await sender.tick()
    await sender.later(400)
    // A host that was silent and checked in within one run leaves no open alert.
    await append(t, event('silent'), event('heardAgain'))
    await sender.tick()
    expect((await (await t.admin()).get(base)).json().total).toBe(0)
    expect(mail.taken.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1])).toEqual([
      '[Warning] WS-1 stopped checking in',
      '[OK, over] WS-1 stopped checking in',
    ])
  })

  it('begins with the most severe alert and names up to three hosts of each, with a link to the alert', async () => {
    const mail = sender.opened(await startMail(t))
    for (const id of [1, 2])
      await sender.group(id, { channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    const raise = (kind: 'attackTool' | 'blocked' | 'vulnerable', host: number, severity?: 3) =>
      deviceEvent(kind, { agentId: randomUUID(), entity: `WS-${host} (10.0.0.1)`, ...(severity && { severity }) })
    await append(t, raise('vulnerable', 1), ...[2, 3, 4, 5, 6].map((host) => raise('blocked', host, 3)))
    await append(t, ...Array.from({ length: 12 }, (_, host) => raise('attackTool', host)))
    await sender.tick()
    await sender.later(16)
    const texts = mail.taken.map(({ text }) => text.replaceAll('=\r\n', '').replaceAll('=3D', '='))
    const attack = texts.find((text) => text.includes('Subject: [Critical] O.MG Cable (attack tool) on 12 hosts'))
    expect(attack).toMatch(/Hosts: WS-\d+, WS-\d+, WS-\d+ and 9 more/)
    expect(attack).toMatch(/http:\/\/portcullis\.test\/notices\?open=\d+/)
    const devices = texts.find((text) => text.includes('2 alerts')) ?? ''
    expect(devices).toMatch(/^Subject: 2 alerts, most severe: \[Error\] O\.MG Cable \(blocked by policy\) on 5/m)
    expect(devices.indexOf('(blocked by policy) on 5 hosts')).toBeLessThan(devices.indexOf('(vulnerable) on WS-1'))
    expect(devices).toMatch(/Hosts: WS-\d, WS-\d, WS-\d and 2 more/)
  })

  it('reaches groups that an alert matches later by its tags or severity', async () => {
    const mail = sender.opened(await startMail(t))
    await sender.group(2, {
      hashtags: ['server'],
      channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } },
    })
    await append(t, deviceEvent('blocked', { hashtags: 'lobby' }))
    await sender.tick()
    await sender.later(16)
    expect(mail.taken).toEqual([])
    await append(t, deviceEvent('blocked', { hashtags: 'server,dc' }))
    await sender.tick()
    await sender.later(16)
    expect(mail.taken).toHaveLength(1)
    await append(t, deviceEvent('blocked', { hashtags: 'server' }))
    await sender.tick()
    await sender.later(3_600)
    expect(mail.taken).toHaveLength(1)
    await append(t, deviceEvent('blocked', { hashtags: 'server', severity: 1 }))
    await sender.tick()
    await sender.later(16)
    expect(mail.taken).toHaveLength(2)
  })

  it('respects quiet hours and batching, except for more severe alerts', async () => {
    const mail = sender.opened(await startMail(t))
    // The test's clock shows 10:11 UTC, 12:11 in Berlin.
    await sender.group(2, {
      channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } },
      minimumSeverity: 'Debug',
      quietHours: { from: '12:00', to: '13:00', timeZone: 'Europe/Berlin', passSeverity: 'Error' },
    })
    await append(t, deviceEvent('vulnerable'))
    await sender.tick()
    await sender.later(60)
    expect(mail.taken).toEqual([])
    const waiting = async () => (await (await t.admin()).get(`${base}/notifications/waiting`)).json()
    const shown = { groupId: 2, groupName: 'Devices', channel: 'email', notices: 1 }
    expect(await waiting()).toEqual([
      { ...shown, since: '2031-05-04T10:11:12.000Z', isForQuietHours: true, nextAt: '2031-05-04T11:00:00.000Z' },
    ])
    expect((await (await person(t, { profile: 30 })).api.get(`${base}/notifications/waiting`)).statusCode).toBe(403)
    await append(t, deviceEvent('blocked', { severity: 3 }))
    await sender.tick()
    await sender.later(60)
    expect(mail.taken).toHaveLength(1)
    await sender.later(48 * 60)
    expect(mail.taken).toHaveLength(2)
    expect(mail.taken[1]?.text).toContain('(vulnerable) on HOST-1')
    await sender.group(2, { quietHours: null, digestMinutes: 60 })
    await append(t, deviceEvent('blocked', { pid: '0001' }))
    await sender.tick()
    const [gathered] = await waiting()
    expect([gathered.isForQuietHours, Date.parse(gathered.nextAt) - Date.parse(gathered.since)]).toEqual([
      false,
      3_600_000,
    ])
    await sender.later(30 * 60)
    await append(t, deviceEvent('blocked', { pid: '0002' }))
    await sender.later(60)
    expect(mail.taken).toHaveLength(2)
    await sender.later(30 * 60)
    await sender.later(60)
    expect(mail.taken).toHaveLength(3)
    expect(mail.taken[2]?.text).toContain('2 alerts')
    expect(await waiting()).toEqual([])
  })
})

describe('a webhook of a group', () => {
  it('is signed, and has the same id and body with every attempt', async () => {
    const peer = sender.opened(await startWebhookReceiver())
    const made = await sender.group(1, {
      channels: { webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/hook?token=secret` } },
    })
    const { secret } = made.channels.webhook
    expect(secret).toMatch(/^whsec_/)
    peer.state.next = [{ status: 500 }, 'reset', { status: 429, headers: { 'retry-after': '90' } }]
    const agentId = randomUUID()
    await append(t, deviceEvent('attackTool', { agentId }))
    await sender.tick()
    await sender.later(6)
    await sender.later(31)
    await sender.later(60)
    expect(peer.seen).toHaveLength(3)
    await sender.later(5 * 60)
    expect(peer.seen).toHaveLength(4)
    expect(new Set(peer.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(peer.seen.map(({ body }) => body)).size).toBe(1)
    const last = peer.seen.at(-1) as (typeof peer.seen)[number]
    // The test's clock is years ahead, but the library compares with the real time.
    const message = JSON.parse(last.body)
    expect(message).toMatchObject({
      type: 'notices',
      data: {
        group: 'Attacks',
        notices: [
          {
            kind: 'attackTool',
            count: 1,
            news: 'opened',
            url: 'http://portcullis.test/notices?open=1',
            hosts: [{ uuid: agentId }],
          },
        ],
      },
    })
    const signed = new Webhook(secret).sign(
      last.headers['webhook-id'] as string,
      new Date(Number(last.headers['webhook-timestamp']) * 1000),
      last.body,
    )
    expect(last.headers['webhook-signature']).toBe(signed)
    expect(
      (await sender.deliveries()).map(({ state, attempts, destination }) => [state, attempts, destination]),
    ).toEqual([['delivered', 4, `127.0.0.1:${peer.port}`]])
  })

  it('fails at once after a 4xx response, and does not delay mail while it hangs', async () => {
    const peer = sender.opened(await startWebhookReceiver())
    const mail = sender.opened(await startMail(t))
    await sender.group(2, {
      channels: {
        webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/` },
        email: { isEnabled: true, recipients: ['soc@example.org'] },
      },
    })
    peer.state.next = [{ status: 404 }]
    await append(t, deviceEvent('blocked', { pid: '0001' }))
    await sender.tick()
    expect(
      (await sender.deliveries('?channel=webhook')).map(({ state, error }) => [state, error.slice(0, 25)]),
    ).toEqual([['failed', 'The webhook answered 404.']])
    peer.state.always = 'reset'
    await append(t, deviceEvent('blocked', { pid: '0002' }))
    await sender.tick()
    await sender.later(16)
    expect(mail.taken).toHaveLength(1)
    const health = await t.deliveries.health()
    expect([health.status, health.description]).toEqual(['Warning', expect.stringContaining('1 message waits')])
  })
})
