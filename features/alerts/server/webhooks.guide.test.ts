// Invariant: The guide shows the messages to webhooks exactly as they are sent.

import { readFileSync } from 'node:fs'
import { append, deviceEvent } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { startWebhookReceiver } from '@portcullis/server/test/peers/webhook-receiver.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const base = '/prime/webui/systemNotification/notifications'
const guide = readFileSync(new URL('../../../docs/guide/siem.md', import.meta.url), 'utf8')
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ outboundAllow: ['127.0.0.0/8'] })
})
afterAll(() => t.close())

/** Replaces ids and addresses in bodies by those of the guide. */
const asInGuide = (body: string): string => body.replaceAll('http://portcullis.test', 'https://portcullis.example.org')

describe('webhook messages of groups', () => {
  it('match the guide, which names each member', async () => {
    const peer = await startWebhookReceiver()
    const admin = await t.admin()
    const channels = { webhook: { isEnabled: true, url: peer.url } }
    try {
      expect((await admin.post(`${base}/test`, { id: 1, channel: 'webhook', channels })).json().ok).toBe(true)
      expect((await admin.post(`${base}/update`, { id: 1, channels })).statusCode).toBe(200)
      await append(
        t,
        deviceEvent('attackTool', { agentId: '0197a1b2-7c3d-7000-8000-0123456789ab', entity: 'ws-1 (10.1.2.3)' }),
      )
      await t.alerts.run()
      await t.deliveries.deliver()
      const [test = '', notices = ''] = peer.seen.map(({ body }) => asInGuide(body))
      for (const body of [test, notices]) expect(guide).toContain(`\n${body}\n`)
      expect([JSON.parse(test).type, JSON.parse(notices).type]).toEqual(['test', 'notices'])
      for (const member of Object.keys(JSON.parse(notices).data.notices[0])) expect(guide).toContain(`\`${member}\``)
    } finally {
      await peer.close()
    }
  })
})
