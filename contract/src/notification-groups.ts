import { type Static, type TSchema, Type } from 'typebox'
import { severityNames } from './audit.ts'
import { ConfigTested } from './general-config.ts'
import { apiPrefix, closed, nullable, operation, utcTime } from './operation.ts'

const base = `${apiPrefix}/systemNotification`
const tag = 'Notification'

/** Channels of a group. */
export const channels = ['email', 'webhook', 'syslog'] as const
export type Channel = (typeof channels)[number]

/** Formats of messages to a SIEM; docs/guide/siem.md has the mapping. */
export const syslogFormats = ['rfc5424', 'cef', 'ocsf'] as const
export type SyslogFormat = (typeof syslogFormats)[number]
export const syslogProtocols = ['udp', 'tcp', 'tls'] as const
export type SyslogProtocol = (typeof syslogProtocols)[number]

/** Bounds of a group. */
export const groupLimits = { recipients: 50, hashtags: 100, digestMinutes: 10_080 } as const

const wallTime = (description: string) => Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description })

export const QuietHours = closed({
  from: wallTime('`HH:MM`; later than `to`: over midnight.'),
  to: wallTime('`HH:MM`, not included.'),
  timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, `Europe/Berlin`.' }),
  passSeverity: nullable(Type.Enum(severityNames), {
    description: 'Notices this severe or more are told at once all the same; null: none is.',
  }),
})
export type QuietHours = Static<typeof QuietHours>

const isEnabled = (description: string) => Type.Boolean({ description })

/** Some members of a closed shape, and no others: `Type.Partial` alone forgets that it was closed. */
const partOf = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(closed(properties), { additionalProperties: false })

const emailChannel = {
  isEnabled: isEnabled('Needs a mail server in the configuration to be of effect.'),
  recipients: Type.Array(
    Type.String({
      maxLength: 254,
      pattern:
        '^[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>"(),:;\\[\\]\\\\]{1,64}@[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>"(),:;\\[\\]\\\\]{1,190}$',
      description: 'Mail address, nothing around it.',
    }),
    {
      maxItems: groupLimits.recipients,
      description: `Each gets a mail of his own; at most ${groupLimits.recipients}: for more, use a distribution list.`,
    },
  ),
}
const webhookChannel = {
  isEnabled: isEnabled('Needs a URL.'),
  url: Type.String({
    maxLength: 2_048,
    description:
      '`https://…`. Responses show only the host. The path and query, which often contain a token, are masked as `********`. Send the masked URL to keep the stored path and query. To change the host or the certificates, send the full URL.',
  }),
  secret: Type.String({
    maxLength: 128,
    description:
      'Signs each message (Standard Webhooks): `whsec_` and base64 of 24 to 64 bytes. Written, never read: `********` when set, and that keeps it; empty makes a new one, which this answer shows once.',
  }),
  ca: Type.String({
    maxLength: 65_536,
    description: 'PEM certificates to trust in place of those of the system; empty: those of the system.',
  }),
}
const syslogChannel = {
  isEnabled: isEnabled('Needs an address.'),
  address: Type.String({
    maxLength: 300,
    description: '`host`, `host:port` or `[IPv6]:port`; port 514 for udp, 601 for tcp, 6514 for tls when absent.',
  }),
  protocol: Type.Enum(syslogProtocols),
  format: Type.Enum(syslogFormats),
  ca: Type.String({
    maxLength: 65_536,
    description: 'PEM certificates to trust for tls in place of those of the system; empty: those of the system.',
  }),
}

const NotificationSwitch = closed({
  id: Type.String({ maxLength: 40, description: 'A kind of notice, a subsystem, or a category of events.' }),
  name: Type.String({ maxLength: 100 }),
  isEnabled: Type.Boolean(),
})

const groupMembers = {
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'A group that does not exist answers 404.' }),
  groupName: Type.String({ maxLength: 100, description: 'Read-only: groups are a fixed set.' }),
  description: Type.String({ maxLength: 500, description: 'Read-only.' }),
  kind: Type.Enum(['Risk', 'SystemHealth'] as const, {
    description: 'Read-only. `Risk`: what events of hosts and devices say; `SystemHealth`: how this server is.',
  }),
  minimumSeverity: Type.Enum(severityNames, { description: 'This severe or more.' }),
  hashtags: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: groupLimits.hashtags,
    description: 'Only hosts with one of these tags; empty: all. Health has no tags.',
  }),
  isEnabled: Type.Boolean({ description: 'False: nobody is told anything by this group.' }),
  notifications: Type.Array(NotificationSwitch, { maxItems: 40, description: 'What it tells of.' }),
  channels: closed({
    email: closed(emailChannel),
    webhook: closed(webhookChannel),
    syslog: closed(syslogChannel),
  }),
  digestMinutes: Type.Integer({
    minimum: 0,
    maximum: groupLimits.digestMinutes,
    description:
      'Mail and webhook gather notices for so long and send them as one; 0: at once (mail after some seconds).',
  }),
  quietHours: nullable(QuietHours, { description: 'Mail and webhook wait for their end; null: none.' }),
}

/** Who is told of what, and how. Groups are a fixed set. */
export const NotificationGroup = closed(groupMembers)
export type NotificationGroup = Static<typeof NotificationGroup>

const NotificationGroups = Type.Array(NotificationGroup)
const channelsExample = {
  email: { isEnabled: true, recipients: ['soc@example.org'] },
  webhook: { isEnabled: true, url: 'https://soar.example.org/********', secret: '********', ca: '' },
  syslog: {
    isEnabled: false,
    address: 'siem.example.org:6514',
    protocol: 'tls',
    format: 'ocsf',
    ca: '',
  },
} as const
const groupExample = {
  id: 1,
  groupName: 'Attacks',
  description: 'Attack tools and copied agent keys.',
  kind: 'Risk',
  minimumSeverity: 'Warning',
  hashtags: ['kiosk'],
  isEnabled: true,
  notifications: [{ id: 'attackTool', name: 'Attack tool', isEnabled: true }],
  channels: channelsExample,
  digestMinutes: 0,
  quietHours: { from: '22:00', to: '06:00', timeZone: 'Europe/Berlin', passSeverity: 'Critical' },
} as const

export const listNotificationGroups = operation({
  id: 'listNotificationGroups',
  method: 'GET',
  path: `${base}/notifications`,
  tag,
  summary: 'Lists notification groups',
  permission: 'notices:read',
  response: NotificationGroups,
  examples: { response: [groupExample] },
})

const ignored = 'Ignored: read-only, and accepted so that a group can be sent back as it was read.'

/** One group, changed: absent members stay as they are; name, description and kind are accepted and ignored. */
export const NotificationGroupChange = closed({
  id: groupMembers.id,
  groupName: Type.Optional(Type.String({ maxLength: 100, description: ignored })),
  description: Type.Optional(Type.String({ maxLength: 500, description: ignored })),
  kind: Type.Optional(Type.Enum(['Risk', 'SystemHealth'] as const, { description: ignored })),
  minimumSeverity: Type.Optional(groupMembers.minimumSeverity),
  hashtags: Type.Optional(groupMembers.hashtags),
  isEnabled: Type.Optional(groupMembers.isEnabled),
  notifications: Type.Optional(
    Type.Array(
      closed({
        id: NotificationSwitch.properties.id,
        name: Type.Optional(Type.String({ maxLength: 100, description: ignored })),
        isEnabled: Type.Boolean(),
      }),
      { maxItems: 40, description: 'Those that are absent stay as they are.' },
    ),
  ),
  channels: Type.Optional(
    closed({
      email: Type.Optional(partOf(emailChannel)),
      webhook: Type.Optional(partOf(webhookChannel)),
      syslog: Type.Optional(partOf(syslogChannel)),
    }),
  ),
  digestMinutes: Type.Optional(groupMembers.digestMinutes),
  quietHours: Type.Optional(groupMembers.quietHours),
})
export type NotificationGroupChange = Static<typeof NotificationGroupChange>

export const updateNotificationGroup = operation({
  id: 'updateNotificationGroup',
  method: 'POST',
  path: `${base}/notifications/update`,
  tag,
  summary: 'Changes one notification group; answers all',
  description:
    'Absent members stay as they are; groupName, description and kind are ignored. Judged as a whole before anything is stored, and audited. A webhook or syslog server at an address that this server does not connect to: 422. A webhook that moves to another host needs its secret again, or gets a new one.',
  permission: 'config:write',
  body: NotificationGroupChange,
  response: NotificationGroups,
  errors: ['not_found', 'unprocessable'],
  examples: { request: groupExample, response: [groupExample] },
})

export const testNotificationChannel = operation({
  id: 'testNotificationChannel',
  method: 'POST',
  path: `${base}/notifications/test`,
  tag,
  summary: 'Sends a real message by a channel of a group, as it is stored or as it is given',
  permission: 'config:write',
  body: closed({
    id: groupMembers.id,
    channel: Type.Enum(channels),
    channels: Type.Optional(
      closed({
        email: Type.Optional(partOf(emailChannel)),
        webhook: Type.Optional(partOf(webhookChannel)),
        syslog: Type.Optional(partOf(syslogChannel)),
      }),
    ),
  }),
  response: ConfigTested,
  errors: ['not_found', 'unprocessable'],
  examples: {
    request: { id: 1, channel: 'webhook', channels: { webhook: channelsExample.webhook } },
    response: { ok: true, steps: [{ step: 'Message to soar.example.org', ok: true, message: 'It answers 200.' }] },
  },
})

export const WaitingNotices = closed({
  groupId: groupMembers.id,
  groupName: Type.String(),
  channel: Type.Enum(['email', 'webhook'] as const),
  notices: Type.Integer({ minimum: 1, maximum: 500, description: 'Notices that wait; counted up to 500.' }),
  since: utcTime('When the first of them came.'),
  isForQuietHours: Type.Boolean({
    description: 'True: all of them wait for the end of the quiet hours; false: they are gathered.',
  }),
  nextAt: utcTime('When a message is written down at the earliest.'),
})
export type WaitingNotices = Static<typeof WaitingNotices>

export const listWaitingNotices = operation({
  id: 'listWaitingNotices',
  method: 'GET',
  path: `${base}/notifications/waiting`,
  tag,
  summary: 'Lists what groups have to tell and do not yet: for quiet hours, or because it is gathered',
  description: 'What is told is a delivery from then on.',
  permission: 'config:read',
  response: Type.Array(WaitingNotices),
})
