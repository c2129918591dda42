import { hostileStrings, rubberDucky } from '@portcullis/domain/testing'
import type { NotificationGroup, RiskNotification } from '@portcullis/features/contract.ts'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  adminPassword,
  createTree,
  type RunningServer,
  remove,
  type Started,
  startAgent,
  startServer,
  temporaryDir,
  until,
} from '../proof/kit/harness.ts'
import { startSyslogReceiver } from '../server/test/peers/syslog-receiver.ts'
import { startWebhookReceiver } from '../server/test/peers/webhook-receiver.ts'
import { serverDir } from './prepared.ts'

/** Attaches a device to a host and checks all its effects, without simulated steps. */
let server: RunningServer
let agent: Started
const dirs: string[] = []
const folder = (): string => {
  const dir = temporaryDir()
  dirs.push(dir)
  return dir
}
const mails: string[] = []
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData: (stream, _session, done) => {
    let text = ''
    stream.on('data', (part: Buffer) => {
      text += part.toString('utf8')
    })
    stream.on('end', () => {
      mails.push(text)
      done()
    })
  },
})
let webhook: Awaited<ReturnType<typeof startWebhookReceiver>>
let siem: Awaited<ReturnType<typeof startSyslogReceiver>>

beforeAll(async () => {
  ;[webhook, siem] = await Promise.all([startWebhookReceiver(), startSyslogReceiver({ protocol: 'tcp' })])
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const dataDir = serverDir()
  dirs.push(dataDir)
  server = await startServer(dataDir, {
    PORTCULLIS_ADMIN_PASSWORD: adminPassword,
    PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8',
  })
}, 90_000)
afterAll(async () => {
  agent?.child.kill('SIGTERM')
  await agent?.ended
  await server?.stop()
  await Promise.all([webhook.close(), siem.close(), new Promise<void>((resolve) => smtp.close(() => resolve()))])
  for (const dir of dirs) remove(dir)
})

describe('an attached attack tool', () => {
  it('causes an alert, a mail, a signed webhook, a line in the SIEM and a message of the asset stream', async () => {
    const { port } = smtp.server.address() as { port: number }
    await server.post('generalconfig/AddOrUpdateSMPTConfig', {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(port),
      SMTP_SECURITY: 'none',
      SMTP_FROM: 'portcullis@example.org',
    })
    const change = (body: unknown) => server.post<NotificationGroup[]>('systemNotification/notifications/update', body)
    await change({
      id: 1,
      channels: {
        email: { isEnabled: true, recipients: ['soc@example.org'] },
        webhook: { isEnabled: true, url: webhook.url },
      },
    })
    await change({
      id: 6,
      channels: { syslog: { isEnabled: true, address: siem.address, protocol: 'tcp', format: 'cef' } },
    })
    const tree = createTree()
    agent = startAgent(server, await server.enrolmentToken(), tree, folder())
    const { value: host } = await until('the host', async () => (await server.agents())[0])
    await until('its inventory', async () =>
      (await server.agent(host.uuid)).recentEvents.some(({ eventCode }) => eventCode === '0x120001'),
    )
    // The device has strings that would break mails, headers and log lines without encoding.
    const { product = '' } = hostileStrings('html')
    const startedAt = performance.now()
    tree.plug(rubberDucky({ product }))
    const { value: notice } = await until(
      'a notice',
      async () => (await server.get<RiskNotification[]>('systemNotification/riskNotifications?kind=attackTool'))[0],
    )
    const toAlert = performance.now() - startedAt
    expect(notice).toMatchObject({
      severityString: 'Critical',
      entityType: 'Model',
      hosts: [{ uuid: host.uuid }],
      hostsCount: 1,
      count: 1,
    })
    await until('the webhook', () => webhook.seen[0])
    const toWebhook = performance.now() - startedAt
    expect(JSON.parse(webhook.seen[0]?.body ?? '')).toMatchObject({
      type: 'notices',
      data: { notices: [{ id: notice.id, kind: 'attackTool' }] },
    })
    await until('the SIEM', () => siem.texts().some((text) => text.includes('0x110010')))
    const toSiem = performance.now() - startedAt
    await until('the mail', () => mails[0], 60_000)
    const toMail = performance.now() - startedAt
    expect(mails[0]).toMatch(/^Subject: \[Critical\] (?:.|\r\n )*\(attack tool\)/m)
    const asset = await server.request(`/prime/webui/assetproducer/stream?after=0&follow=false`, {
      headers: { authorization: `Bearer ${await server.signIn()}`, accept: 'application/x-ndjson' },
    })
    const messages = asset.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; subject: string; data: { present?: boolean } })
    expect(messages.some(({ subject, data }) => subject.startsWith(`peripheral/${host.uuid}/`) && data.present)).toBe(
      true,
    )
    // Each arrives once, and the SIEM has every event of the host exactly once.
    expect([mails.length, webhook.seen.length]).toEqual([1, 1])
    const ids = siem.texts().map((text) => Number(/externalId=(\d+)/.exec(text)?.[1]))
    const stored = (await server.events()).map(({ eventID }) => eventID)
    expect(ids).toEqual(stored.filter((id) => id >= (ids[0] as number)).sort((a, b) => a - b))
    console.log(
      `plugged in to alert ${Math.round(toAlert)} ms, webhook ${Math.round(toWebhook)} ms, SIEM ${Math.round(toSiem)} ms, mail ${Math.round(toMail)} ms`,
    )
  }, 120_000)
})
