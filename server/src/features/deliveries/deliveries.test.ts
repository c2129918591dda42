import { randomUUID } from 'node:crypto'
import type { Delivery, EventOutput, NotificationGroup } from '@portcullis/contract'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '#platform/db/sql.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { append, deviceEvent, startMail } from '#test/notices.ts'
import { startSyslogReceiver } from '#test/peers/syslog-receiver.ts'
import { startWebhookReceiver } from '#test/peers/webhook-receiver.ts'
import { person } from '#test/people.ts'

const base = '/prime/webui/systemNotification'
let t: TestApp
const open: { close(): unknown }[] = []
beforeEach(async () => {
  t = await startTestApp({ outboundAllow: ['127.0.0.0/8'] })
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  await t.close()
})
afterAll(() => {})

const opened = <T extends { close(): unknown }>(one: T): T => {
  open.push(one)
  return one
}

const group = async (id: number, change: Record<string, unknown>): Promise<NotificationGroup> => {
  const answer = await (await t.admin()).post(`${base}/notifications/update`, { id, ...change })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().find((one: NotificationGroup) => one.id === id)
}
const deliveries = async (query = ''): Promise<Delivery[]> =>
  (await (await t.admin()).get(`${base}/deliveries${query}`)).json().data
const outputs = async (): Promise<EventOutput[]> => (await (await t.admin()).get(`${base}/outputs`)).json()
/** What the timers do, once. */
const tick = async (): Promise<void> => {
  await t.notifications.run()
  await t.deliveries.deliver()
}
const later = async (seconds: number): Promise<void> => {
  t.clock.advance(seconds * 1_000)
  await tick()
}

describe('mail of a group', () => {
  it('is one for a flood, with its number, and safe with hostile strings', async () => {
    const mail = opened(await startMail(t))
    await group(2, {
      channels: { email: { isEnabled: true, recipients: ['soc@example.org', 'SOC@example.org', 'it@example.org'] } },
    })
    const hostile = '<img src=x onerror=alert(1)>\r\nBcc: everybody@example.org\r\n\r\nHello \u202e'
    for (let i = 0; i < 10; i++) {
      await append(t, ...Array.from({ length: 1_000 }, () => deviceEvent('blocked', { name: hostile })))
      await tick()
    }
    expect(mail.taken).toEqual([])
    await later(16)
    expect(mail.taken.map(({ to }) => to).sort()).toEqual([['it@example.org'], ['soc@example.org']])
    const [head = '', ...body] = (mail.taken[0]?.text ?? '').split('\r\n\r\n')
    expect(head).toMatch(/^Subject: \[Error\] Blocked peripheral: /m)
    expect(head).not.toMatch(/^Bcc:/im)
    expect(body.join('\n')).toContain('10,000 times')
    // In plain text it is what it is; in HTML it is text, too.
    expect(mail.taken[0]?.text.split('text/html')[1]).not.toContain('<img')
    await later(3_600)
    expect(mail.taken).toHaveLength(2)
    expect((await deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ])
  })

  it('waits for a server that is away, however long, and then has everything', async () => {
    const mail = opened(await startMail(t))
    await group(2, { channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    mail.state.refuse = { code: 451, message: 'try later' }
    for (let i = 0; i < 5; i++) {
      await append(t, deviceEvent('blocked', { pid: `000${i}` }))
      await tick()
      await later(61)
    }
    expect(mail.taken).toEqual([])
    const stuck = await deliveries('?isStuck=true')
    expect(stuck.length).toBeGreaterThan(0)
    expect(stuck.every(({ error }) => error.includes('try later'))).toBe(true)
    t.clock.advance(50 * 3_600_000)
    await tick()
    mail.state.refuse = null
    await later(3_600)
    expect((await deliveries('?state=waiting')).length).toBe(0)
    expect(mail.taken.length).toBeGreaterThanOrEqual(2)
    for (let i = 0; i < 5; i++)
      expect(mail.taken.some(({ text }) => text.replaceAll('=\r\n', '').includes(`1209:000${i}`))).toBe(true)
  })

  it('that is refused for good is seen, and is sent again or dropped by a person', async () => {
    const mail = opened(await startMail(t))
    await group(2, { channels: { email: { isEnabled: true, recipients: ['a@example.org', 'b@example.org'] } } })
    mail.state.refuse = { code: 550, message: 'no such person' }
    await append(t, deviceEvent('blocked'))
    await tick()
    await later(16)
    const [first, second] = (await deliveries('?state=failed')) as [Delivery, Delivery]
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
    await tick()
    expect(mail.taken).toHaveLength(1)
    expect((await deliveries()).map(({ state }) => state).sort()).toEqual(['delivered', 'dropped'])
  })

  it('to one full mailbox keeps nobody else waiting', async () => {
    const mail = opened(await startMail(t))
    await group(1, { channels: { email: { isEnabled: true, recipients: ['ciso@example.org'] } } })
    await group(2, { channels: { email: { isEnabled: true, recipients: ['full@example.org'] } } })
    mail.state.refuse = { code: 452, message: 'mailbox full', of: 'full@example.org' }
    for (let i = 0; i < 6; i++) {
      await append(t, deviceEvent('blocked', { pid: `000${i}` }))
      await tick()
      await later(3_700)
    }
    await append(t, deviceEvent('attackTool', { agentId: randomUUID() }))
    await tick()
    await later(16)
    expect(mail.taken.map(({ to }) => to)).toEqual([['ciso@example.org']])
    expect((await t.deliveries.health()).status).not.toBe('OK')
  })

  it('that waits for a mail server which is down is told by the part mail alone, until that is well', async () => {
    let mail = opened(await startMail(t))
    const { port } = mail
    const peer = opened(await startWebhookReceiver())
    await group(2, { channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    await mail.close()
    await append(t, deviceEvent('blocked'))
    await tick()
    await later(16)
    expect(await t.server.mail.health()).toEqual({
      status: 'Error',
      description: `Nothing listens at 127.0.0.1:${port}. Check host and port.`,
    })
    expect(await t.deliveries.health()).toEqual({
      status: 'OK',
      description: '1 mail waits for the mail server; see the part mail.',
    })
    // A webhook that is down is a matter of its own.
    await group(1, { channels: { webhook: { isEnabled: true, url: peer.url } } })
    peer.state.always = 'reset'
    await append(t, deviceEvent('attackTool', { agentId: randomUUID() }))
    await tick()
    const both = await t.deliveries.health()
    expect([both.status, both.description]).toEqual([
      'Warning',
      expect.stringMatching(/^1 message waits for a receiver\..* 1 mail waits/),
    ])
    expect(both.description).not.toContain(String(port))
    mail = opened(await startMail(t))
    peer.state.always = { status: 204 }
    await later(3_700)
    await later(3_700)
    expect(mail.taken.map(({ to }) => to)).toContainEqual(['soc@example.org'])
    expect([(await t.server.mail.health()).status, await t.deliveries.health()]).toEqual([
      'OK',
      { status: 'OK', description: 'Nothing waits.' },
    ])
  })

  it('speaks of a subsystem as it is when it leaves', async () => {
    const mail = opened(await startMail(t))
    await group(4, { channels: { email: { isEnabled: true, recipients: ['ops@example.org'] } } })
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
    await tick()
    await later(16)
    await health('recovered')
    await tick()
    await health('degraded')
    await tick()
    await later(400)
    expect(mail.taken.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1])).toEqual([
      '[Error] database: Error',
      '[Error, again] database: Error',
    ])
  })

  it('says that a silent host was heard again, to who was told of its silence', async () => {
    const mail = opened(await startMail(t))
    await group(3, { channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    const agentId = randomUUID()
    const event = (kind: 'silent' | 'heardAgain') => ({
      kind,
      agentId,
      entity: 'WS-1 (10.0.0.1)',
      hashtags: '',
      details: '',
    })
    await append(t, event('silent'))
    await tick()
    await later(16)
    await append(t, event('heardAgain'))
    await tick()
    await later(400)
    // One that was never silent is no news.
    await append(t, { ...event('heardAgain'), agentId: randomUUID() })
    await tick()
    await later(400)
    // Silent and heard within one run: nothing is left open.
    await append(t, event('silent'), event('heardAgain'))
    await tick()
    expect((await (await t.admin()).get(base)).json().total).toBe(0)
    expect(mail.taken.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1])).toEqual([
      '[Warning] Silent agent: WS-1 (10.0.0.1)',
      '[OK, over] Silent agent: WS-1 (10.0.0.1)',
    ])
  })

  it('reaches who hears of a notice only now, by its tags or its severity', async () => {
    const mail = opened(await startMail(t))
    await group(2, { hashtags: ['server'], channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } })
    await append(t, deviceEvent('blocked', { hashtags: 'lobby' }))
    await tick()
    await later(16)
    expect(mail.taken).toEqual([])
    await append(t, deviceEvent('blocked', { hashtags: 'server,dc' }))
    await tick()
    await later(16)
    expect(mail.taken).toHaveLength(1)
    await append(t, deviceEvent('blocked', { hashtags: 'server' }))
    await tick()
    await later(3_600)
    expect(mail.taken).toHaveLength(1)
    await append(t, deviceEvent('blocked', { hashtags: 'server', severity: 1 }))
    await tick()
    await later(16)
    expect(mail.taken).toHaveLength(2)
  })

  it('keeps quiet hours and digests, but for what is worse', async () => {
    const mail = opened(await startMail(t))
    // The clock of the test stands at 10:11 UTC, 12:11 in Berlin.
    await group(2, {
      channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } },
      minimumSeverity: 'Debug',
      quietHours: { from: '12:00', to: '13:00', timeZone: 'Europe/Berlin', passSeverity: 'Error' },
    })
    await append(t, deviceEvent('vulnerable'))
    await tick()
    await later(60)
    expect(mail.taken).toEqual([])
    const waiting = async () => (await (await t.admin()).get(`${base}/notifications/waiting`)).json()
    const shown = { groupId: 2, groupName: 'Peripherals', channel: 'email', notices: 1 }
    expect(await waiting()).toEqual([
      { ...shown, since: '2031-05-04T10:11:12.000Z', isForQuietHours: true, nextAt: '2031-05-04T11:00:00.000Z' },
    ])
    expect((await (await person(t, { profile: 30 })).api.get(`${base}/notifications/waiting`)).statusCode).toBe(403)
    await append(t, deviceEvent('blocked'))
    await tick()
    await later(60)
    expect(mail.taken).toHaveLength(1)
    await later(48 * 60)
    expect(mail.taken).toHaveLength(2)
    expect(mail.taken[1]?.text).toContain('Vulnerable peripheral')
    await group(2, { quietHours: null, digestMinutes: 60 })
    await append(t, deviceEvent('blocked', { pid: '0001' }))
    await tick()
    const [gathered] = await waiting()
    expect([gathered.isForQuietHours, Date.parse(gathered.nextAt) - Date.parse(gathered.since)]).toEqual([
      false,
      3_600_000,
    ])
    await later(30 * 60)
    await append(t, deviceEvent('blocked', { pid: '0002' }))
    await later(60)
    expect(mail.taken).toHaveLength(2)
    await later(30 * 60)
    await later(60)
    expect(mail.taken).toHaveLength(3)
    expect(mail.taken[2]?.text).toContain('2 notices')
    expect(await waiting()).toEqual([])
  })
})

describe('a webhook of a group', () => {
  it('is signed, and has the same id and body with every try', async () => {
    const peer = opened(await startWebhookReceiver())
    const made = await group(1, {
      channels: { webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/hook?token=secret` } },
    })
    const { secret } = made.channels.webhook
    expect(secret).toMatch(/^whsec_/)
    peer.state.next = [{ status: 500 }, 'reset', { status: 429, headers: { 'retry-after': '90' } }]
    const agentId = randomUUID()
    await append(t, deviceEvent('attackTool', { agentId }))
    await tick()
    await later(6)
    await later(31)
    await later(60)
    expect(peer.seen).toHaveLength(3)
    await later(5 * 60)
    expect(peer.seen).toHaveLength(4)
    expect(new Set(peer.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(peer.seen.map(({ body }) => body)).size).toBe(1)
    const last = peer.seen.at(-1) as (typeof peer.seen)[number]
    // The clock of the test is years ahead: the library checks the time against its own.
    const told = JSON.parse(last.body)
    expect(told).toMatchObject({
      type: 'notices',
      data: {
        group: 'Attacks',
        notices: [{ kind: 'attackTool', count: 1, news: 'opened', url: `http://portcullis.test/agents/${agentId}` }],
      },
    })
    const signed = new Webhook(secret).sign(
      last.headers['webhook-id'] as string,
      new Date(Number(last.headers['webhook-timestamp']) * 1000),
      last.body,
    )
    expect(last.headers['webhook-signature']).toBe(signed)
    expect((await deliveries()).map(({ state, attempts, destination }) => [state, attempts, destination])).toEqual([
      ['delivered', 4, `127.0.0.1:${peer.port}`],
    ])
  })

  it('that answers 4xx has failed at once; one that hangs keeps mail going', async () => {
    const peer = opened(await startWebhookReceiver())
    const mail = opened(await startMail(t))
    await group(2, {
      channels: {
        webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/` },
        email: { isEnabled: true, recipients: ['soc@example.org'] },
      },
    })
    peer.state.next = [{ status: 404 }]
    await append(t, deviceEvent('blocked', { pid: '0001' }))
    await tick()
    expect((await deliveries('?channel=webhook')).map(({ state, error }) => [state, error.slice(0, 24)])).toEqual([
      ['failed', 'The webhook answers 404.'],
    ])
    peer.state.always = 'reset'
    await append(t, deviceEvent('blocked', { pid: '0002' }))
    await tick()
    await later(16)
    expect(mail.taken).toHaveLength(1)
    const health = await t.deliveries.health()
    expect([health.status, health.description]).toEqual(['Warning', expect.stringContaining('1 message waits')])
  })
})

describe('a stream of events', () => {
  it('gives a syslog server every event once, in order, also after it was away', async () => {
    let peer = opened(await startSyslogReceiver({ protocol: 'tcp' }))
    const { port } = peer
    await append(t, deviceEvent('attached'))
    await group(6, {
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${port}`, protocol: 'tcp', format: 'rfc5424' } },
    })
    await tick()
    // From when it was switched on; what was before is history.
    const ids = await append(t, ...Array.from({ length: 2_500 }, () => deviceEvent('attached')))
    await tick()
    const idsOf = (texts: readonly string[]) => texts.map((text) => Number(/eventID="(\d+)"/.exec(text)?.[1]))
    expect(idsOf(peer.texts())).toEqual(ids)
    await peer.close()
    const missed = await append(t, ...Array.from({ length: 1_500 }, () => deviceEvent('gone')))
    for (let i = 0; i < 6; i++) await later(400)
    expect(await outputs()).toMatchObject([{ behind: 1_500, isPaused: true, error: expect.stringMatching(/./) }])
    expect((await t.deliveries.health()).status).toBe('Error')
    // Retention does not take what is still to be sent.
    t.clock.advance(100 * 86_400_000)
    expect(await t.events.forget(30, await t.deliveries.sentUpTo())).toBe(2_501)
    peer = opened(await startSyslogReceiver({ protocol: 'tcp', port }))
    await later(300)
    expect(idsOf(peer.texts())).toEqual(missed)
    expect(await outputs()).toMatchObject([{ behind: 0, failures: 0, isPaused: false, sent: 4_000, error: '' }])
  })

  it('sends again what a server took and did not read to the end', async () => {
    const peer = opened(await startSyslogReceiver({ protocol: 'tcp', behaviour: { reset: 1 } }))
    await group(6, {
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${peer.port}`, protocol: 'tcp', format: 'cef' } },
    })
    await tick()
    const ids = await append(t, deviceEvent('attached'), deviceEvent('gone'))
    await tick()
    expect(await outputs()).toMatchObject([{ behind: 2, failures: 1 }])
    peer.state.behaviour = 'normal'
    await later(6)
    expect(peer.texts().map((text) => Number(/externalId=(\d+)/.exec(text)?.[1]))).toEqual(ids)
  })

  it('goes to a webhook in batches whose id and body never change', async () => {
    const peer = opened(await startWebhookReceiver())
    await group(6, { channels: { webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/` } } })
    await tick()
    peer.state.next = [{ status: 503 }]
    await append(t, ...Array.from({ length: 30 }, () => deviceEvent('attached')))
    await tick()
    // More came: the batch that failed keeps its ends.
    const ids = await append(t, ...Array.from({ length: 250 }, () => deviceEvent('gone')))
    await later(6)
    const batches = peer.seen.map(({ headers, body }) => ({ id: headers['webhook-id'], body: JSON.parse(body) }))
    expect(peer.seen[0]?.body).toBe(peer.seen[1]?.body)
    expect(batches[0]?.id).toBe(batches[1]?.id)
    const all = batches
      .slice(1)
      .flatMap(({ body }) => body.data.events.map((event: { data: { eventID: number } }) => event.data.eventID))
    expect(all).toEqual([...Array.from({ length: 30 }, (_, i) => (ids[0] as number) - 30 + i), ...ids])
    expect(batches.map(({ body }) => body.data.events.length)).toEqual([30, 30, 100, 100, 50])
  })

  it('to a webhook that refuses it goes in smaller batches, and under another id when its content is another', async () => {
    const peer = opened(await startWebhookReceiver())
    await group(6, { channels: { webhook: { isEnabled: true, url: `http://127.0.0.1:${peer.port}/` } } })
    await append(t, ...Array.from({ length: 60 }, () => deviceEvent('attached')), deviceEvent('blocked'))
    peer.state.next = [{ status: 413 }, { status: 413 }, { status: 503 }]
    await tick()
    for (let i = 0; i < 3; i++) await later(301)
    const sizes = peer.seen.map(({ body }) => JSON.parse(body).data.events.length)
    // Refused, refused, and too much for the third time in a row; then it grows again.
    expect(sizes).toEqual([61, 50, 25, 12, 24, 25])
    peer.state.next = [{ status: 503 }]
    await append(t, deviceEvent('attached'), deviceEvent('blocked'))
    await later(10)
    await group(6, { minimumSeverity: 'Error' })
    await later(301)
    const [refused, taken] = peer.seen.slice(-2)
    expect(refused?.headers['webhook-id']).not.toBe(taken?.headers['webhook-id'])
    expect(JSON.parse(taken?.body ?? '').data.events).toHaveLength(1)
  })

  it('of a group whose secret can not be opened stops alone, and says so', async () => {
    const peer = opened(await startSyslogReceiver({ protocol: 'tcp' }))
    const hook = opened(await startWebhookReceiver())
    await group(6, {
      channels: {
        syslog: { isEnabled: true, address: peer.address, protocol: 'tcp', format: 'cef' },
        webhook: { isEnabled: true, url: hook.url },
      },
    })
    await t.db.execute(sql`update notification_groups set webhook_secret = ${Buffer.from('nonsense')}`)
    await append(t, deviceEvent('attached'))
    await tick()
    expect(peer.texts()).toHaveLength(1)
    expect(await outputs()).toMatchObject([
      { channel: 'syslog', behind: 0 },
      { channel: 'webhook', behind: 1, error: expect.stringContaining('Enter it again') },
    ])
    await group(6, { channels: { webhook: { secret: '' } } })
    await later(6)
    expect(hook.seen).toHaveLength(1)
  })

  it('has only what its group wants, and is skipped by an Administrator', async () => {
    const peer = opened(await startSyslogReceiver({ protocol: 'tcp' }))
    await group(6, {
      minimumSeverity: 'Error',
      hashtags: ['Kiosk'],
      notifications: [{ id: 'Agent', isEnabled: false }],
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${peer.port}`, protocol: 'tcp', format: 'ocsf' } },
    })
    await tick()
    const tagged = { hashtags: 'lobby,kiosk' }
    const [, wanted] = await append(
      t,
      deviceEvent('attached', tagged),
      deviceEvent('blocked', tagged),
      deviceEvent('blocked', { hashtags: 'other' }),
      { kind: 'agentError', agentId: null, entity: 'HOST (10.0.0.1)', details: '', ...tagged },
    )
    await tick()
    expect(peer.texts()).toHaveLength(1)
    expect(peer.texts()[0]).toContain(`"uid":"${wanted}"`)
    await peer.close()
    await append(t, deviceEvent('blocked', tagged))
    await tick()
    const manager = await person(t, { profile: 20 })
    expect((await manager.api.post(`${base}/outputs/skip`, { groupId: 6, channel: 'syslog' })).statusCode).toBe(403)
    const skipped = await (await t.admin()).post(`${base}/outputs/skip`, { groupId: 6, channel: 'syslog' })
    expect(skipped.json()).toMatchObject([{ behind: 0, failures: 0 }])
    expect((await manager.api.post(`${base}/outputs/retry`, { groupId: 1, channel: 'syslog' })).statusCode).toBe(404)
  })

  it('goes on where it was when two replicas send and one stops in the middle', async () => {
    const peer = opened(await startSyslogReceiver({ protocol: 'tcp' }))
    await group(6, {
      channels: { syslog: { isEnabled: true, address: `127.0.0.1:${peer.port}`, protocol: 'tcp', format: 'rfc5424' } },
    })
    await tick()
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
})
