import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { createSyslogSender, parseSyslogAddress, SyslogError } from '@portcullis/platform/server/syslog/index.ts'
import {
  createWebhookSender,
  newWebhookSecret,
  parseWebhookSecret,
  WebhookError,
} from '@portcullis/platform/server/webhooks/index.ts'
import {
  type Channel,
  type ConfigTested,
  type ConfigTestStep,
  maskedSecret,
  type NotificationGroupChange,
  severityNames,
} from '#features/contract.ts'
import { layOut, MailError } from '#features/deliveries/server/mail/index.ts'
import { formatCef, formatOcsf, formatRfc5424, type SiemEvent } from '#features/deliveries/server/siem/index.ts'
import { certificatesOf } from '#features/settings/server/index.ts'
import type { AlertsContext } from './context.ts'
import type { GroupsService } from './groups.service.ts'
import type { Group, GroupConfig } from './groups.ts'

/** Largest number of recipients of a test mail; the others use the same server. */
const mostRecipients = 5

/** Sends a test message through a channel and reports the result. */
export const createChannelTest = (
  { db, clock, audit, deliveries, mail, resolve }: AlertsContext,
  groups: GroupsService,
) => {
  const testText = (actor: Actor): string => `${actor.userName} sent this message to test the channel.`

  async function byMail(actor: Actor, group: Group, { channels: { email } }: GroupConfig): Promise<ConfigTestStep[]> {
    if (email.recipients.length === 0)
      throw invalid('body.channels.email.recipients', 'must have a recipient for the test')
    const { text, html } = layOut({
      subject: '',
      heading: `Test mail of the notification group "${group.definition.groupName}"`,
      paragraphs: [testText(actor)],
    })
    const steps: ConfigTestStep[] = []
    const tried = email.recipients.slice(0, mostRecipients)
    for (const [i, to] of tried.entries()) {
      const step = `Mail to ${to}`
      try {
        const messageId = `<${newId(clock.now())}@portcullis>`
        await mail.send({ to, subject: 'Portcullis: test of a notification group', text, html, messageId })
        steps.push({ step, ok: true, message: 'The mail server accepted it.' })
      } catch (error) {
        if (!(error instanceof MailError)) throw error
        const isOfRecipient = error.step === 'send' && error.field !== 'SMTP_FROM'
        const field = isOfRecipient ? { field: 'channels.email.recipients' } : {}
        steps.push({ step, ok: false, message: error.message, ...field })
        if (error.step === 'send') continue
        // A fault of the server affects all recipients.
        for (const other of tried.slice(i + 1))
          steps.push({ step: `Mail to ${other}`, ok: false, message: 'Not tested: it uses the same mail server.' })
        break
      }
    }
    const more = email.recipients.length - tried.length
    if (more > 0 && steps.every(({ ok }) => ok))
      steps.push({
        step: more === 1 ? '1 more recipient' : `${more} more recipients`,
        ok: true,
        message: `Not tested: a test sends at most ${mostRecipients} mails.`,
      })
    return steps
  }

  async function byWebhook(
    actor: Actor,
    group: Group,
    config: GroupConfig,
    given: string | undefined,
  ): Promise<ConfigTestStep[]> {
    const { webhook } = config.channels
    if (webhook.url === '') throw invalid('body.channels.webhook.url', 'is required for the test')
    const isKept = given === undefined || given === maskedSecret
    const isSamePlace =
      group.config.channels.webhook.url !== '' &&
      new URL(group.config.channels.webhook.url).host === new URL(webhook.url).host
    // The stored secret signs only for the host it was stored for.
    const stored = isKept && isSamePlace ? groups.openSecret(group) : null
    const secret = isKept || given === '' ? (stored ?? newWebhookSecret()) : parseWebhookSecret(given)
    if (secret === null)
      throw invalid('body.channels.webhook.secret', 'must be whsec_ followed by base64 of 24 to 64 bytes')
    const step = `Message to ${new URL(webhook.url).host}`
    const { sendWebhook } = createWebhookSender({ resolve, ca: certificatesOf(webhook.ca), now: clock.now })
    try {
      const { status } = await sendWebhook({
        url: webhook.url,
        secret,
        id: newId(clock.now()),
        timestamp: Math.floor(clock.now() / 1000),
        body: JSON.stringify({
          type: 'test',
          timestamp: new Date(clock.now()).toISOString(),
          data: { group: group.definition.groupName, message: testText(actor) },
        }),
      })
      const ok = status >= 200 && status < 300
      return [
        {
          step,
          ok,
          ...(ok ? {} : { field: 'channels.webhook.url' }),
          message: ok
            ? `The receiver answered ${status}.${stored === null && isKept ? ' The message was signed with a temporary key, because no secret is stored yet.' : ''}`
            : `The receiver answered ${status}. Check the address, and the receiver's log about the signature.`,
        },
      ]
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error
      const field = `channels.webhook.${error.fault === 'certificate' ? 'ca' : 'url'}`
      return [{ step, ok: false, message: error.message, field }]
    }
  }

  async function bySyslog(actor: Actor, config: GroupConfig): Promise<ConfigTestStep[]> {
    const { syslog } = config.channels
    const address = parseSyslogAddress(syslog.address, syslog.protocol)
    if (address === null) throw invalid('body.channels.syslog.address', 'is required for the test')
    const message: SiemEvent = {
      eventID: 0,
      category: 'System',
      creationTime: new Date(clock.now()).toISOString().slice(0, -1),
      occurredAt: new Date(clock.now()).toISOString().slice(0, -1),
      occurredUncertaintyMs: null,
      eventCode: '0x130000',
      severity: 6,
      severityString: severityNames[6],
      eventEntityID: deliveries.source().instance,
      description: 'Test message',
      hashtags: '',
      peripheralIcon: '-1',
      details: testText(actor),
      agentId: '',
      hostName: '',
      address: '',
      deviceId: '',
      vid: '',
      pid: '',
      serial: '',
      vendorName: '',
      productName: '',
    }
    const format = { rfc5424: formatRfc5424, cef: formatCef, ocsf: formatOcsf }[syslog.format]
    const step = `Message to ${syslog.address} (${syslog.protocol}, ${syslog.format})`
    const sender = createSyslogSender({ address, ca: certificatesOf(syslog.ca), resolve })
    try {
      await sender.send([format(message, deliveries.source())])
      return [
        {
          step,
          ok: true,
          message:
            syslog.protocol === 'udp'
              ? 'It was sent. UDP does not confirm delivery.'
              : 'The receiver read it completely.',
        },
      ]
    } catch (error) {
      if (!(error instanceof SyslogError)) throw error
      const field = `channels.syslog.${error.fault === 'certificate' ? 'ca' : 'address'}`
      return [{ step, ok: false, message: error.message, field }]
    } finally {
      sender.close()
    }
  }

  return async (
    actor: Actor,
    { id, channel, channels }: { id: number; channel: Channel; channels?: NotificationGroupChange['channels'] },
  ): Promise<ConfigTested> => {
    const group = groups.groupOf(await groups.read(db), id)
    if (!group.definition.channels.includes(channel))
      throw invalid('body.channel', `is not a channel of this group. It has: ${group.definition.channels.join(', ')}`)
    const config = await groups.validated(group, { id, ...(channels === undefined ? {} : { channels }) })
    await db.transaction((tx) =>
      audit.write(tx, actor, {
        action: 'notification.channel.tested',
        entity: group.definition.groupName,
        details: channel,
        variant: channel,
      }),
    )
    const steps =
      channel === 'email'
        ? await byMail(actor, group, config)
        : channel === 'webhook'
          ? await byWebhook(actor, group, config, channels?.webhook?.secret)
          : await bySyslog(actor, config)
    return { ok: steps.every(({ ok }) => ok), steps }
  }
}
