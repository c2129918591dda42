import { startMail } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { startSyslogReceiver } from '@portcullis/server/test/peers/syslog-receiver.ts'
import { startWebhookReceiver } from '@portcullis/server/test/peers/webhook-receiver.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigTested, NotificationGroup } from '#features/contract.ts'

const base = '/prime/webui/systemNotification/notifications'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ outboundAllow: ['127.0.0.0/8'] })
})
afterAll(() => t.close())

const groups = async (): Promise<NotificationGroup[]> => (await (await t.admin()).get(base)).json()
const update = async (change: unknown) => (await t.admin()).post(`${base}/update`, change)
const group = async (id: number): Promise<NotificationGroup> =>
  (await groups()).find((one) => one.id === id) as NotificationGroup

describe('notification groups', () => {
  it('are a fixed set, enabled, and send nothing without recipients', async () => {
    const all = await groups()
    expect(all.map(({ id, groupName, kind, isEnabled }) => [id, groupName, kind, isEnabled])).toEqual([
      [1, 'Attacks', 'Risk', true],
      [2, 'Devices', 'Risk', true],
      [3, 'Disconnected hosts', 'Risk', true],
      [4, 'This server', 'SystemHealth', true],
      [5, 'Connected systems', 'SystemHealth', true],
      [6, 'All events', 'Risk', true],
      [7, 'Accounts and tokens', 'Risk', true],
    ])
    for (const { channels, notifications } of all) {
      expect([channels.email.isEnabled, channels.webhook.isEnabled, channels.syslog.isEnabled]).toEqual([
        false,
        false,
        false,
      ])
      expect(notifications.every(({ isEnabled }) => isEnabled)).toBe(true)
    }
    // Every kind of alert and every subsystem belongs to exactly one group.
    const ids = all.flatMap(({ notifications }) => notifications.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('are not overwritten by an edit that began before the change of another person', async () => {
    const before = await group(2)
    expect([before.updatedAt, before.updatedBy]).toEqual(['', ''])
    const first = await update({ id: 2, digestMinutes: 5, ifUpdatedAt: before.updatedAt })
    expect(first.statusCode, first.body).toBe(200)
    const stored = await group(2)
    expect(stored).toMatchObject({ digestMinutes: 5, updatedBy: 'admin' })
    t.clock.advance(1_000)
    const late = await update({ id: 2, digestMinutes: 9, ifUpdatedAt: before.updatedAt })
    expect([late.statusCode, late.json().code]).toEqual([409, 'conflict'])
    expect(late.json().detail).toContain(`admin changed this group at ${stored.updatedAt}`)
    expect(await group(2)).toEqual(stored)
    // Sending back a group as it was read changes nothing, and without the condition the last write wins.
    expect((await update({ ...stored, ifUpdatedAt: stored.updatedAt })).statusCode).toBe(200)
    expect(await group(2)).toEqual(stored)
    expect((await update({ id: 2, digestMinutes: before.digestMinutes })).statusCode).toBe(200)
    expect((await group(2)).updatedAt > stored.updatedAt).toBe(true)
  })

  it('change atomically, keep members that are not given, and are audited', async () => {
    const before = await group(1)
    const answer = await update({
      id: 1,
      minimumSeverity: 'Critical',
      hashtags: ['Kiosk', 'kiosk', 'lab'],
      notifications: [{ id: 'keyClone', isEnabled: false }],
      quietHours: { from: '22:00', to: '06:00', timeZone: 'America/New_York', passSeverity: null },
    })
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toHaveLength(7)
    const after = await group(1)
    expect(after).toEqual({
      ...before,
      updatedAt: after.updatedAt,
      updatedBy: 'admin',
      minimumSeverity: 'Critical',
      hashtags: ['Kiosk', 'lab'],
      notifications: before.notifications.map((one) => ({ ...one, isEnabled: one.id !== 'keyClone' })),
      quietHours: { from: '22:00', to: '06:00', timeZone: 'America/New_York', passSeverity: null },
    })
    const audits = async () =>
      (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=1')).json().data[0]
    const audited = await audits()
    expect(audited).toMatchObject({ action: 'notification.group.updated', entity: 'Attacks' })
    expect(audited.details).toContain('minimum severity: Warning → Critical')
    // Sending back the response changes nothing and audits nothing.
    expect((await update(after)).statusCode).toBe(200)
    expect((await audits()).auditTrailID).toBe(audited.auditTrailID)
  })

  it('reject invalid changes, name the member, and store nothing', async () => {
    const before = await groups()
    const mail = (recipients: unknown) => ({
      id: 2,
      minimumSeverity: 'Alert',
      channels: { email: { isEnabled: true, recipients } },
    })
    const hook = (url: string, more: Record<string, unknown> = {}) => ({
      id: 2,
      minimumSeverity: 'Alert',
      channels: { webhook: { isEnabled: true, url, ...more } },
    })
    const syslog = (address: string) => ({
      id: 2,
      minimumSeverity: 'Alert',
      channels: { syslog: { isEnabled: true, address, protocol: 'tcp' } },
    })
    for (const [change, status, said] of [
      [{ id: 8 }, 404, /Notification group 8 does not exist/],
      [{ id: 1, colour: 'red' }, 400, /colour/],
      [{ id: 1, channels: { email: { bcc: ['all@example.org'] } } }, 400, /channels\.email\.bcc/],
      [mail([]), 400, /recipients: must not be empty/],
      [mail(['soc@example.org\r\nBcc: all@example.org']), 400, /recipients/],
      [mail(['"x" <soc@example.org>']), 400, /recipients/],
      [mail(Array.from({ length: 10_000 }, (_, i) => `p${i}@example.org`)), 400, /recipients.*50/],
      [{ ...mail(['soc@example.org']), id: 6 }, 400, /not mailed/],
      [{ id: 4, hashtags: ['kiosk'] }, 400, /hashtags: must be empty/],
      [{ id: 2, hashtags: ['a,b'] }, 400, /is not a tag/],
      [
        { id: 2, notifications: [{ id: 'nothing', isEnabled: true }] },
        400,
        /notifications\[0\]\.id.*vulnerable, uncommon/,
      ],
      [
        { id: 2, quietHours: { from: '22:00', to: '06:00', timeZone: 'Mars/Olympus', passSeverity: null } },
        400,
        /timeZone/,
      ],
      [{ id: 2, quietHours: { from: '25:00', to: '06:00', timeZone: 'UTC', passSeverity: null } }, 400, /from/],
      [{ id: 2, quietHours: { from: '06:00', to: '06:00', timeZone: 'UTC', passSeverity: null } }, 400, /must differ/],
      [{ id: 2, digestMinutes: -1 }, 400, /digestMinutes/],
      [hook('ftp://example.org/'), 400, /https/],
      [hook('https://user:word@example.org/'), 400, /user name or password/],
      [hook('https://example.org/#x'), 400, /fragment/],
      [hook('https://soar.example.org/', { secret: 'whsec_short' }), 400, /whsec_/],
      [hook('https://soar.example.org/', { ca: 'no certificate' }), 400, /PEM/],
      // Metadata services and non-hosts in other spellings.
      [hook('https://169.254.169.254/latest/meta-data'), 422, /does not connect/],
      [hook('https://[::ffff:169.254.169.254]/'), 422, /does not connect/],
      [hook('https://0xa9fea9fe/'), 422, /does not connect/],
      [hook('https://0.0.0.0/'), 422, /does not connect/],
      [syslog('169.254.169.254:514'), 422, /does not connect/],
      [syslog('host:0'), 400, /address/],
      [syslog('a b'), 400, /address/],
      [syslog('host\r\nhost2'), 400, /address/],
    ] as const) {
      const answer = await update(change)
      expect([answer.statusCode, answer.json().detail], JSON.stringify(change).slice(0, 200)).toEqual([
        status,
        expect.stringMatching(said),
      ])
    }
    expect(await groups()).toEqual(before)
  })

  it('can be changed by Administrators only', async () => {
    const [manager, user] = await Promise.all([person(t, { profile: 20 }), person(t)])
    for (const one of [manager, user]) {
      expect((await one.api.post(`${base}/update`, { id: 1 })).statusCode).toBe(403)
      expect((await one.api.post(`${base}/test`, { id: 1, channel: 'email' })).statusCode).toBe(403)
    }
  })

  it('never show the path or query of a webhook, and keep them when the masked URL is saved', async () => {
    const peer = await startWebhookReceiver()
    try {
      const { origin } = new URL(peer.url)
      const masked = `${origin}/********`
      const set = (webhook: Record<string, unknown>) => update({ id: 3, channels: { webhook } })
      const saved = await set({ isEnabled: true, url: `${origin}/T0/B0/token?key=word` })
      expect([saved.statusCode, saved.json()[2].channels.webhook.url]).toEqual([200, masked])
      const people = await Promise.all([person(t, { profile: 20 }), person(t)])
      for (const api of [await t.admin(), ...people.map((one) => one.api)]) {
        const answer = await api.get(base)
        expect(answer.body).not.toMatch(/T0|key=word/)
        expect(answer.json()[2].channels.webhook.url).toBe(masked)
      }
      const document = '/prime/webui/generalconfig/document'
      const exported = (await (await t.admin()).get(document)).json()
      expect(JSON.stringify(exported)).not.toMatch(/T0|key=word/)
      const applied = await (await t.admin()).post(document, { notificationGroups: exported.notificationGroups })
      expect([applied.statusCode, applied.json().notificationGroups]).toEqual([200, []])
      expect((await set({ url: masked })).statusCode).toBe(200)
      expect((await set({ isEnabled: true })).statusCode).toBe(200)
      const tried = await (await t.admin()).post(`${base}/test`, { id: 3, channel: 'webhook' })
      expect(tried.json().ok, tried.body).toBe(true)
      expect(peer.seen.at(-1)?.path).toBe('/T0/B0/token?key=word')
      const ca = (await createAuthority()).pem
      for (const webhook of [{ url: 'https://other.example.org/********', secret: '' }, { ca }, { ca, url: masked }]) {
        const refused = await set(webhook)
        expect([refused.statusCode, refused.json().errors[0].field]).toEqual([400, 'body.channels.webhook.url'])
        const test = await (await t.admin()).post(`${base}/test`, { id: 3, channel: 'webhook', channels: { webhook } })
        expect([test.statusCode, test.json().errors[0].field]).toEqual([400, 'body.channels.webhook.url'])
      }
      expect((await set({ ca, url: `${origin}/T0/B0/token` })).statusCode).toBe(200)
      expect((await set({ ca: '', url: `${origin}/` })).json()[2].channels.webhook.url).toBe(`${origin}/`)
    } finally {
      await peer.close()
    }
  })

  it('never reveal the secret of a webhook, and never use it for another host', async () => {
    const url = 'https://one.example.org/hook'
    const made = (await update({ id: 4, channels: { webhook: { isEnabled: true, url } } })).json()[3].channels.webhook
      .secret
    expect(made).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
    expect((await group(4)).channels.webhook.secret).toBe('********')
    // The same host with another path: kept.
    expect((await update({ id: 4, channels: { webhook: { url: `${url}2`, secret: '********' } } })).statusCode).toBe(
      200,
    )
    const moved = await update({
      id: 4,
      channels: { webhook: { url: 'https://evil.example.org/', secret: '********' } },
    })
    expect([moved.statusCode, moved.json().errors[0].field]).toEqual([400, 'body.channels.webhook.secret'])
    const given = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const changed = await update({ id: 4, channels: { webhook: { url: 'https://two.example.org/', secret: given } } })
    expect([changed.statusCode, changed.json()[3].channels.webhook.secret]).toEqual([200, '********'])
    const fresh = (await update({ id: 4, channels: { webhook: { secret: '' } } })).json()[3].channels.webhook.secret
    expect(fresh).not.toBe(made)
    // Not in any response, event or table.
    const audits = (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=100')).body
    for (const secret of [made, given, fresh]) expect(audits).not.toContain(secret)
  })

  it.each([9, 1_000, 1_001, 2_147_483_647])('answer 404 for the id %i, which no group has', async (id) => {
    for (const [path, body] of [
      ['notifications/update', { id, isEnabled: false }],
      ['notifications/test', { id, channel: 'webhook' }],
    ] as const) {
      const answer = await (await t.admin()).post(`/prime/webui/systemNotification/${path}`, body)
      expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found'])
    }
  })

  it('send a test with stored or given values, and report the result', async () => {
    let mail = await startMail(t)
    const peer = await startWebhookReceiver()
    const receiver = await startSyslogReceiver({ protocol: 'tcp' })
    const test = async (body: unknown): Promise<ConfigTested> => {
      const answer = await (await t.admin()).post(`${base}/test`, body)
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json()
    }
    try {
      expect(await test({ id: 5, channel: 'email', channels: { email: { recipients: ['it@example.org'] } } })).toEqual({
        ok: true,
        steps: [{ step: 'Mail to it@example.org', ok: true, message: 'The mail server accepted it.' }],
      })
      expect(mail.taken).toHaveLength(1)
      // Each recipient has its own line; recipients beyond the limit are counted.
      const recipients = Array.from({ length: 7 }, (_, n) => `p${n}@example.org`)
      const many = await test({ id: 5, channel: 'email', channels: { email: { recipients } } })
      expect([many.ok, many.steps.map(({ step }) => step)]).toEqual([
        true,
        [...recipients.slice(0, 5).map((to) => `Mail to ${to}`), '2 more recipients'],
      ])
      await mail.close()
      const { port } = mail
      expect(
        await test({ id: 5, channel: 'email', channels: { email: { recipients: recipients.slice(0, 2) } } }),
      ).toEqual({
        ok: false,
        steps: [
          {
            step: 'Mail to p0@example.org',
            ok: false,
            message: `Connection refused by 127.0.0.1:${port}. Check host and port.`,
          },
          { step: 'Mail to p1@example.org', ok: false, message: 'Not tested: it uses the same mail server.' },
        ],
      })
      mail = await startMail(t)
      mail.state.refuse = { code: 550, message: 'nobody here' }
      expect(
        (await test({ id: 5, channel: 'email', channels: { email: { recipients: ['it@example.org'] } } })).ok,
      ).toBe(false)
      const channels = { webhook: { isEnabled: true, url: peer.url } }
      expect((await test({ id: 5, channel: 'webhook', channels })).ok).toBe(true)
      expect(JSON.parse(peer.seen[0]?.body ?? '')).toMatchObject({ type: 'test', data: { group: 'Connected systems' } })
      peer.state.next = [{ status: 401, body: 'the secret of the receiver' }]
      const refused = await test({ id: 5, channel: 'webhook', channels })
      expect([refused.ok, refused.steps[0]?.message]).toEqual([false, expect.stringContaining('401')])
      expect(JSON.stringify(refused)).not.toContain('the secret of the receiver')
      for (const format of ['rfc5424', 'cef', 'ocsf']) {
        const syslog = { isEnabled: true, address: receiver.address, protocol: 'tcp', format }
        expect((await test({ id: 6, channel: 'syslog', channels: { syslog } })).ok, format).toBe(true)
      }
      expect(receiver.texts()).toHaveLength(3)
      const nowhere = { isEnabled: true, address: '127.0.0.1:1', protocol: 'tcp', format: 'cef' }
      expect((await test({ id: 6, channel: 'syslog', channels: { syslog: nowhere } })).ok).toBe(false)
      expect((await (await t.admin()).post(`${base}/test`, { id: 6, channel: 'email' })).statusCode).toBe(400)
      expect((await (await t.admin()).post(`${base}/test`, { id: 1, channel: 'webhook' })).statusCode).toBe(400)
    } finally {
      await Promise.all([mail.close(), peer.close(), receiver.close()])
    }
  })
})
