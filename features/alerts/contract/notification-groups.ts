import { apiPrefix, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { severityNames } from '@portcullis/platform/contract/severities.ts'
import { type Static, type TSchema, Type } from 'typebox'
import { ConfigTested } from '#features/settings/contract/general-config.ts'

const base = `${apiPrefix}/systemNotification`
const tag = 'Notification'

/** Channels of a notification group. */
export const channels = ['email', 'webhook', 'syslog'] as const
export type Channel = (typeof channels)[number]
export const channelLabels: Readonly<Record<Channel, string>> = { email: 'Email', webhook: 'Webhook', syslog: 'Syslog' }

/** Formats of messages to a SIEM. docs/guide/siem.md has the mapping. */
export const syslogFormats = ['rfc5424', 'cef', 'ocsf'] as const
export type SyslogFormat = (typeof syslogFormats)[number]
export const syslogProtocols = ['udp', 'tcp', 'tls'] as const
export type SyslogProtocol = (typeof syslogProtocols)[number]

/** Limits of a notification group. */
export const groupLimits = { recipients: 50, hashtags: 100, digestMinutes: 10_080 } as const

const wallTime = (description: string) => Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description })

export const QuietHours = closed({
  from: wallTime('Start, `HH:MM`. If it is later than `to`, the quiet hours span midnight.'),
  to: wallTime('End, `HH:MM`, exclusive.'),
  timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone, for example `Europe/Berlin`.' }),
  passSeverity: nullable(Type.Enum(severityNames), {
    description: 'Alerts of this severity or higher are sent at once despite quiet hours. `null`: none are.',
  }),
})
export type QuietHours = Static<typeof QuietHours>

const isEnabled = (description: string) => Type.Boolean({ description })

/** Makes all fields optional and refuses unknown ones. `Type.Partial` alone accepts unknown fields. */
const partOf = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(closed(properties), { additionalProperties: false })

const emailChannel = {
  isEnabled: isEnabled('True: send emails. Requires a mail server in the settings.'),
  recipients: Type.Array(
    Type.String({
      maxLength: 254,
      pattern:
        '^[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>"(),:;\\[\\]\\\\]{1,64}@[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>"(),:;\\[\\]\\\\]{1,190}$',
      description: 'Email address, without a display name.',
    }),
    {
      maxItems: groupLimits.recipients,
      description: `Each recipient gets a separate email. At most ${groupLimits.recipients}; for more, use a distribution list.`,
    },
  ),
}
const webhookChannel = {
  isEnabled: isEnabled('True: send webhooks. Requires `url`.'),
  url: Type.String({
    maxLength: 2_048,
    description:
      '`https://…`. Responses show only the host. The path and query, which often contain a token, are masked as `********`. Send the masked URL to keep the stored path and query. To change the host or the certificates, send the full URL.',
  }),
  secret: Type.String({
    maxLength: 128,
    description:
      'Secret that signs each message (Standard Webhooks): `whsec_` and Base64 of 24 to 64 bytes. Responses contain `********` if it is set. Send `********` to keep it. An empty string creates a new secret, which the response contains once.',
  }),
  ca: Type.String({
    maxLength: 65_536,
    description:
      'PEM certificates to trust instead of the certificates of the system. Empty: trust those of the system.',
  }),
}
const syslogChannel = {
  isEnabled: isEnabled('True: send syslog messages. Requires `address`.'),
  address: Type.String({
    maxLength: 300,
    description: '`host`, `host:port` or `[IPv6]:port`. Default ports: 514 for udp, 601 for tcp, 6514 for tls.',
  }),
  protocol: Type.Enum(syslogProtocols),
  format: Type.Enum(syslogFormats),
  ca: Type.String({
    maxLength: 65_536,
    description:
      'PEM certificates to trust for tls instead of the certificates of the system. Empty: trust those of the system.',
  }),
}

const NotificationSwitch = closed({
  id: Type.String({ maxLength: 40, description: 'Kind of alert, subsystem, or category of events.' }),
  name: Type.String({ maxLength: 100 }),
  isEnabled: Type.Boolean(),
})

const groupMembers = {
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'ID of the group. An unknown ID gets 404.' }),
  groupName: Type.String({ maxLength: 100, description: 'Read-only. The set of groups is fixed.' }),
  description: Type.String({ maxLength: 500, description: 'Read-only.' }),
  kind: Type.Enum(['Risk', 'SystemHealth'] as const, {
    description: 'Read-only. `Risk`: alerts about hosts and devices. `SystemHealth`: alerts about this server.',
  }),
  minimumSeverity: Type.Enum(severityNames, { description: 'Lowest severity that the group sends.' }),
  hashtags: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: groupLimits.hashtags,
    description:
      'Tags. The group sends alerts only for hosts with one of them. Empty: all hosts. Health alerts have no tags.',
  }),
  isEnabled: Type.Boolean({ description: 'False: the group sends no notifications.' }),
  notifications: Type.Array(NotificationSwitch, { maxItems: 40, description: 'Kinds of alerts that the group sends.' }),
  channels: closed({
    email: closed(emailChannel),
    webhook: closed(webhookChannel),
    syslog: closed(syslogChannel),
  }),
  digestMinutes: Type.Integer({
    minimum: 0,
    maximum: groupLimits.digestMinutes,
    description:
      'Minutes for which email and webhook notifications are batched into one message. 0: send at once (email after a few seconds).',
  }),
  quietHours: nullable(QuietHours, {
    description: 'Quiet hours. Email and webhook notifications wait until they end. `null`: none.',
  }),
}

/** A notification group: which alerts it sends, to whom and by which channel. The set of groups is fixed. */
export const NotificationGroup = closed({
  ...groupMembers,
  updatedAt: Type.String({ description: 'Time of the last change, ISO 8601. Empty if the group was never changed.' }),
  updatedBy: Type.String({ description: 'User name of the person who made it.' }),
})
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
  updatedAt: '2026-11-28T09:30:00.000Z',
  updatedBy: 'ben',
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

const ignored = 'Ignored, so that you can send back a group as you read it.'

/** A change of a notification group. Absent fields keep their values. Name, description and kind are ignored. */
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
      { maxItems: 40, description: 'Switches to change. Absent ones keep their values.' },
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
  updatedAt: Type.Optional(Type.String({ maxLength: 64, description: ignored })),
  updatedBy: Type.Optional(Type.String({ maxLength: 256, description: ignored })),
  ifUpdatedAt: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        '`updatedAt` of the group as you read it. If it has changed since, the server returns 409 and changes nothing.',
    }),
  ),
})
export type NotificationGroupChange = Static<typeof NotificationGroupChange>

export const updateNotificationGroup = operation({
  id: 'updateNotificationGroup',
  method: 'POST',
  path: `${base}/notifications/update`,
  tag,
  summary: 'Changes a notification group and returns all groups',
  description:
    'Absent fields keep their values, and `groupName`, `description` and `kind` are ignored. The server validates the complete request before it stores anything. The change is audited. A webhook or syslog address that the server does not connect to gets 422. If you move a webhook to another host, send its secret again or the server creates a new one.',
  permission: 'config:write',
  body: NotificationGroupChange,
  response: NotificationGroups,
  errors: ['not_found', 'unprocessable', 'conflict'],
  examples: { request: groupExample, response: [groupExample] },
})

export const testNotificationChannel = operation({
  id: 'testNotificationChannel',
  method: 'POST',
  path: `${base}/notifications/test`,
  tag,
  summary: 'Sends a test message by a channel of a notification group',
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
    response: {
      ok: true,
      steps: [{ step: 'Message to soar.example.org', ok: true, message: 'The receiver answered 200.' }],
    },
  },
})

export const WaitingNotices = closed({
  groupId: groupMembers.id,
  groupName: Type.String(),
  channel: Type.Enum(['email', 'webhook'] as const),
  notices: Type.Integer({ minimum: 1, maximum: 500, description: 'Number of waiting alerts, counted up to 500.' }),
  since: utcTime('Time of the oldest waiting alert.'),
  isForQuietHours: Type.Boolean({
    description: 'True: all of them wait for the end of the quiet hours. False: they are batched.',
  }),
  nextAt: utcTime('Earliest time of the next message.'),
})
export type WaitingNotices = Static<typeof WaitingNotices>

export const listWaitingNotices = operation({
  id: 'listWaitingNotices',
  method: 'GET',
  path: `${base}/notifications/waiting`,
  tag,
  summary: 'Lists notifications that wait for quiet hours or batching',
  description: 'After sending starts, a notification appears in the list of deliveries.',
  permission: 'config:read',
  response: Type.Array(WaitingNotices),
})
