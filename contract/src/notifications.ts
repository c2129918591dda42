import { type Static, type TSchema, Type } from 'typebox'
import { severityNames } from './audit.ts'
import { ConfigTested } from './general-config.ts'
import { healthStatuses } from './health.ts'
import { apiPrefix, closed, nullable, operation, paging, utcTime } from './operation.ts'

const base = `${apiPrefix}/systemNotification`
const tag = 'Notification'

/** What a risk notice is about. */
export const noticeKinds = [
  'attackTool',
  'vulnerable',
  'uncommon',
  'whitelistViolation',
  'blocked',
  'keyClone',
  'agentSilent',
] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** What `entityId` names: a host by uuid, a model by `VID:PID`, or many at once. */
export const noticeEntities = ['Agent', 'Model', 'Many'] as const
export type NoticeEntity = (typeof noticeEntities)[number]

const noticeId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Id of the notice.' })

const riskMembers = {
  id: noticeId,
  kind: Type.Enum(noticeKinds, { description: 'What it is about.' }),
  title: Type.String({ description: 'One sentence, with names as hosts and devices say them.' }),
  description: Type.String({ description: 'What happened last.' }),
  severity: Type.Integer({ minimum: 0, maximum: 7, description: 'Syslog number; the worst that was folded in.' }),
  severityString: Type.Enum(severityNames),
  creationTime: utcTime('First time.'),
  lastTime: utcTime('Last time.'),
  count: Type.Integer({ minimum: 1, description: 'Events that were folded into it.' }),
  isRead: Type.Boolean({ description: 'By the account that asks; one that comes up again is unread again.' }),
  isPinned: Type.Boolean({ description: 'By the account that asks.' }),
  isDismissed: Type.Boolean({ description: 'For all.' }),
  entityType: Type.Enum(noticeEntities),
  entityId: Type.String({ description: 'uuid of the host, `VID:PID` of the model; empty for many.' }),
  link: Type.String({ description: 'Where the console shows it: a path below the address of the server.' }),
}

/** A risk notice: repeats of one subject, folded. */
export const RiskNotification = closed(riskMembers)
export type RiskNotification = Static<typeof RiskNotification>

const riskExample: RiskNotification = {
  id: 7,
  kind: 'attackTool',
  title: 'Attack tool O.MG Cable (1209:6667) on KIOSK-0413 (10.4.1.13)',
  description: 'KIOSK-0413 (10.4.1.13): [Agent] Device VID/PID are 1209/6667  (O.MG Cable)',
  severity: 2,
  severityString: 'Critical',
  creationTime: '2031-05-04T10:11:12.345Z',
  lastTime: '2031-05-04T10:14:02.120Z',
  count: 2,
  isRead: false,
  isPinned: true,
  isDismissed: false,
  entityType: 'Agent',
  entityId: '0197a1b2-7c3d-7000-8000-0123456789ab',
  link: '/agents/0197a1b2-7c3d-7000-8000-0123456789ab',
}

const status = Type.Enum([...healthStatuses])

/** A subsystem that is, or lately was, not well. */
export const HealthNotice = closed({
  id: noticeId,
  name: Type.String({ description: 'The subsystem, as SubsystemHealth names it.' }),
  status,
  description: Type.String({ description: 'What the probe saw.' }),
  creationTime: utcTime('First time.'),
  lastTime: utcTime('Last change.'),
  count: Type.Integer({ minimum: 1, description: 'How often it got worse.' }),
  isRead: Type.Boolean({ description: 'By the account that asks.' }),
  isPinned: Type.Boolean({ description: 'By the account that asks.' }),
})
export type HealthNotice = Static<typeof HealthNotice>

const number = (description: string) => Type.Integer({ minimum: 0, description })

export const countNotices = operation({
  id: 'countNotices',
  method: 'GET',
  path: base,
  tag,
  summary: 'Counts notices that are not dismissed',
  permission: 'notices:read',
  response: closed({
    total: number('Both lists.'),
    unread: number('Of them, not read by the account that asks.'),
    riskNotifications: number('Risk notices.'),
    riskUnread: number('Risk notices that are not read.'),
    systemHealth: number('Health notices.'),
    systemHealthUnread: number('Health notices that are not read.'),
    bySeverity: Type.Array(
      closed({ key: Type.Enum(severityNames), count: number('Notices of both lists of this severity.') }),
      { description: 'Severities that occur, worst first; a health notice is Error, Warning or (well again) Notice.' },
    ),
  }),
  examples: {
    response: {
      total: 3,
      unread: 1,
      riskNotifications: 2,
      riskUnread: 1,
      systemHealth: 1,
      systemHealthUnread: 0,
      bySeverity: [
        { key: 'Critical', count: 1 },
        { key: 'Warning', count: 2 },
      ],
    },
  },
})
export type NoticeCounts = Static<typeof countNotices.response>

/** Filters of risk notices, by the names of their members. */
export const riskFilters = {
  id: 'equals',
  kind: 'comma list: any of',
  title: 'contains',
  description: 'contains',
  severity: 'a number, `>=n` or `<=n`',
  severityString: 'comma list: any of',
  isRead: 'true or false',
  isPinned: 'true or false',
  isDismissed: 'true or false; absent: false',
  entityType: 'comma list: any of',
  entityId: 'equals',
  fromDate: 'last time, inclusive',
  toDate: 'last time, inclusive',
} as const
export type RiskFilter = keyof typeof riskFilters

/** The object parameter of the specification. */
export const riskQueryName = 'riskNotificationViewQuery'
/** A parameter under its bare name, and as a member of the object that the specification names. */
const both = (name: string, schema: (description: string) => TSchema, description: string) => ({
  [name]: Type.Optional(schema(description)),
  [`${riskQueryName}[${name}]`]: Type.Optional(schema(`The same as ${name}.`)),
})
const filterText = (description: string) => Type.String({ maxLength: 1_024, description })
const pageInteger = (maximum: number) => (description: string) => Type.Integer({ minimum: 1, maximum, description })

const riskQuery: Record<string, TSchema> = Object.assign(
  {},
  ...Object.entries(riskFilters).map(([name, how]) => both(name, filterText, `Filter: ${how}.`)),
  both('pageNumber', pageInteger(2_147_483_647), 'From 1.'),
  both('pageSize', pageInteger(paging.maxSize), `Up to ${paging.maxSize}; 1000 when absent.`),
)

export const listRiskNotices = operation({
  id: 'listRiskNotices',
  method: 'GET',
  path: `${base}/riskNotifications`,
  tag,
  summary: 'Lists risk notices, pinned ones first, then the newest',
  description: `Those that are not dismissed, unless isDismissed asks for them. Every filter is read as a bare name or as \`${riskQueryName}[name]\`.`,
  permission: 'notices:read',
  query: closed(riskQuery),
  response: Type.Array(RiskNotification),
  examples: { response: [riskExample] },
})

export const listHealthNotices = operation({
  id: 'listHealthNotices',
  method: 'GET',
  path: `${base}/systemHealth`,
  tag,
  summary: 'Lists health notices that are not dismissed, pinned ones first, then the newest',
  description: 'One that is well again stays for a day, with status OK.',
  permission: 'notices:read',
  response: closed({
    status: Type.Enum([...healthStatuses], { description: 'The worst of all subsystems now.' }),
    lastUpdated: utcTime('When the subsystems were looked at.'),
    items: Type.Array(HealthNotice),
  }),
})

const change = (id: string, path: string, summary: string, unchanged: string, description?: string) => ({
  id,
  method: 'POST' as const,
  path: `${base}/${path}`,
  tag,
  summary,
  ...(description === undefined ? {} : { description }),
  response: Type.Boolean({ description: `True: something changed. False: ${unchanged}` }),
})
const wasDismissed = 'it was dismissed already; nothing is audited.'
const wasRead = 'there was nothing that is not read, or the caller is no account.'

export const dismissRiskNotice = operation({
  ...change(
    'dismissRiskNotice',
    'riskNotifications/dismiss',
    'Dismisses a risk notice for all',
    wasDismissed,
    'Only the id counts, so that a notice can be sent back as it was read. It is audited; the same happening again opens the notice anew, with its id and count.',
  ),
  permission: 'notices:dismiss',
  body: Type.Interface([Type.Partial(RiskNotification)], { id: noticeId }, { additionalProperties: false }),
  errors: ['not_found'],
  examples: { request: riskExample, response: true },
})

export const dismissHealthNotice = operation({
  ...change(
    'dismissHealthNotice',
    'systemHealth/dismiss',
    'Dismisses a health notice for all',
    wasDismissed,
    'Audited.',
  ),
  permission: 'notices:dismiss',
  body: noticeId,
  errors: ['not_found'],
})

export const pinRiskNotice = operation({
  ...change(
    'pinRiskNotice',
    'riskNotifications/pin',
    'Pins or unpins a risk notice for the account that asks',
    'it was so already.',
    'One that is dismissed can not be pinned (409), only unpinned.',
  ),
  permission: 'notices:own',
  body: closed({ id: noticeId, isPinned: Type.Boolean({ description: 'Whether it is to be pinned.' }) }),
  errors: ['not_found', 'conflict'],
})

export const pinHealthNotice = operation({
  ...change(
    'pinHealthNotice',
    'systemHealth/pin',
    'Turns the pin of a health notice for the account that asks',
    'another call of the same account turned it in the same moment.',
    'One that is dismissed can not be pinned (409).',
  ),
  permission: 'notices:own',
  body: noticeId,
  errors: ['not_found', 'conflict'],
})

export const readRiskNotices = operation({
  ...change(
    'readRiskNotices',
    'riskNotifications/read',
    'Marks all risk notices as read by the account that asks',
    wasRead,
  ),
  permission: 'notices:own',
})

export const readHealthNotices = operation({
  ...change(
    'readHealthNotices',
    'systemHealth/read',
    'Marks all health notices as read by the account that asks',
    wasRead,
  ),
  permission: 'notices:own',
})

export const getNotice = operation({
  id: 'getNotice',
  method: 'GET',
  path: `${base}/notices/{id}`,
  tag,
  summary: 'Says why there is a notice, and who was told',
  permission: 'notices:read',
  params: closed({ id: noticeId }),
  response: closed({
    id: noticeId,
    title: Type.String(),
    why: Type.String({ description: 'The rule that made it, in a sentence.' }),
    matched: Type.Array(Type.String(), {
      maxItems: 20,
      description:
        'Of an attack tool, the entry of the list and what gave it away; of a vulnerable peripheral, id and weakness of each advisory: as they are known now of the devices behind it. Empty for other kinds, and when those devices are gone from the inventory.',
    }),
    count: Type.Integer({ minimum: 1, description: 'Events that were folded into it.' }),
    events: Type.Array(
      closed({
        eventID: Type.Integer(),
        creationTime: utcTime('When it was stored.'),
        eventEntityID: Type.String({ description: '`HOST (IP)`.' }),
        details: Type.String(),
      }),
      { description: 'The newest of the events behind it that are still stored, at most 20, newest first.' },
    ),
    told: Type.Array(
      closed({
        groupName: Type.String(),
        channel: Type.String(),
        destination: Type.String(),
        state: Type.String({ description: 'State of the delivery.' }),
        at: utcTime('When it was written down.'),
      }),
      { description: 'Deliveries that speak of it, newest first, at most 20.' },
    ),
    dismissedBy: Type.String({ description: 'Who dismissed it; empty: it is open.' }),
  }),
})
export type NoticeStory = Static<typeof getNotice.response>

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
  url: Type.String({ maxLength: 2_048, description: '`https://…`; people of profile User see its host only.' }),
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
  id: Type.Integer({ minimum: 1, maximum: 1_000 }),
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
  webhook: { isEnabled: true, url: 'https://soar.example.org/hooks/portcullis', secret: '********', ca: '' },
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
      email: Type.Optional(Type.Partial(closed(emailChannel))),
      webhook: Type.Optional(Type.Partial(closed(webhookChannel))),
      syslog: Type.Optional(Type.Partial(closed(syslogChannel))),
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
        email: Type.Optional(Type.Partial(closed(emailChannel))),
        webhook: Type.Optional(Type.Partial(closed(webhookChannel))),
        syslog: Type.Optional(Type.Partial(closed(syslogChannel))),
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
