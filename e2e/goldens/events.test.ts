import {
  alertCatalogue,
  type EventKind,
  eventCatalogue,
  subsystemNames,
  syslogFormats,
} from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewEvent } from '../../features/events/server/index.ts'
import { append, deviceEvent, startMail } from '../../server/test/alerts.ts'
import { startSender } from '../../server/test/deliveries.ts'
import { startSyslogReceiver } from '../../server/test/peers/syslog-receiver.ts'
import { startWebhookReceiver } from '../../server/test/peers/webhook-receiver.ts'
import { expectGolden, masked } from './golden.ts'

const kinds = Object.keys(eventCatalogue) as EventKind[]
const agentId = '0197a1b2-7c3d-7000-8000-000000000001'

/** Returns one event of a kind, as the server appends it. */
const sample = (kind: EventKind, entity?: string): NewEvent => {
  const { category } = eventCatalogue[kind]
  const of = category === 'System' ? { agentId: null, entity: 'SUBJECT' } : { agentId, entity: 'HOST-1 (10.0.0.1)' }
  const event = { ...of, hashtags: 'lab,kiosk', ...(entity === undefined ? {} : { entity }) }
  return category === 'USB'
    ? { ...deviceEvent(kind, event), icon: 1, deviceId: 'USB\\VID_1209&PID_6667\\S1' }
    : ({ kind, details: `Details of ${kind} "quoted", =1+1 | <b>`, ...event } as NewEvent)
}

let sender: Awaited<ReturnType<typeof startSender>>
let mail: Awaited<ReturnType<typeof startMail>>
let hook: Awaited<ReturnType<typeof startWebhookReceiver>>
beforeAll(async () => {
  sender = await startSender()
  mail = sender.opened(await startMail(sender.t))
  hook = sender.opened(await startWebhookReceiver())
  const domain = { SERVER_DOMAIN_NAME: 'https://portcullis.example' }
  const saved = await (await sender.t.admin()).post('/prime/webui/generalconfig/SetServerDomainName', domain)
  expect(saved.statusCode, saved.body).toBe(200)
})
afterAll(() => sender?.close())

const bodies = (): unknown[] => hook.seen.splice(0).map(({ body }) => JSON.parse(body))
const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`

/** Returns the mails since the last call, without the values that the mailer generates. */
const mails = (): string =>
  mail.taken
    .splice(0)
    .map(({ to, text }) => `To: ${to}\n${text}`)
    .join('\n')
    .replaceAll('\r\n', '\n')
    .replace(/--_NmP-[\w-]+/g, '--<boundary>')
    .replace(/^(Message-ID|Date):.*$/gm, '$1: <masked>')

describe('an alert is sent as the same mail and webhook message', () => {
  beforeAll(async () => {
    for (const id of [1, 2, 3, 4, 5, 7])
      await sender.group(id, {
        minimumSeverity: 'Debug',
        channels: {
          email: { isEnabled: true, recipients: ['soc@example.org'] },
          webhook: { isEnabled: true, url: hook.url },
        },
      })
    await sender.tick()
    mail.taken.length = 0
    hook.seen.length = 0
  })

  /** Raises an alert, and returns its messages. */
  const raise = async (...events: NewEvent[]): Promise<{ mail: string; webhooks: unknown[] }> => {
    await append(sender.t, ...events)
    await sender.tick()
    await sender.later(86_400)
    return { mail: mails(), webhooks: bodies() }
  }

  it('about hosts, devices and accounts', async () => {
    const all = []
    for (const { event } of Object.values(alertCatalogue)) all.push(await raise(sample(event)))
    await expectGolden('events/alerts.mail.txt', masked(all.map(({ mail }) => mail).join('\n')))
    await expectGolden('events/alerts.webhook.txt', masked(json(all.flatMap(({ webhooks }) => webhooks))))
  })

  it('about the server', async () => {
    const all = []
    for (const name of subsystemNames)
      for (const kind of ['degraded', 'recovered'] as const) all.push(await raise(sample(kind, name)))
    await expectGolden('events/health.mail.txt', masked(all.map(({ mail }) => mail).join('\n')))
    await expectGolden('events/health.webhook.txt', masked(json(all.flatMap(({ webhooks }) => webhooks))))
  })
})

describe('an event of each kind is sent as the same', () => {
  it.each(syslogFormats)('syslog message in the format %s', async (format) => {
    const peer = sender.opened(await startSyslogReceiver({ protocol: 'tcp' }))
    const syslog = { isEnabled: true, address: peer.address, protocol: 'tcp', format }
    await sender.group(6, { channels: { syslog } })
    await sender.tick()
    await append(sender.t, ...kinds.map((kind) => sample(kind)))
    await sender.tick()
    expect(peer.messages).toHaveLength(kinds.length)
    await expectGolden(`events/${format}.txt`, masked(`${peer.texts().join('\n')}\n`))
    await sender.group(6, { channels: { syslog: { isEnabled: false } } })
  })

  it('webhook message', async () => {
    const webhook = { isEnabled: true, url: hook.url }
    await sender.group(6, { channels: { webhook } })
    await sender.tick()
    hook.seen.length = 0
    await append(sender.t, ...kinds.map((kind) => sample(kind)))
    await sender.tick()
    await expectGolden('events/webhook.txt', masked(json(bodies())))
    await sender.group(6, { channels: { webhook: { isEnabled: false } } })
  })
})
