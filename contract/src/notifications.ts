import { type Static, type TSchema, Type } from 'typebox'
import { severityNames } from './audit.ts'
import { healthStatuses } from './health.ts'
import { apiPrefix, closed, operation, paging, utcTime } from './operation.ts'

const base = `${apiPrefix}/systemNotification`
const tag = 'Notification'

/** What a risk notice is about. */
export const noticeKinds = [
  'attackTool',
  'driverMismatch',
  'vulnerable',
  'uncommon',
  'whitelistViolation',
  'blocked',
  'keyClone',
  'agentSilent',
  'tokenExpiring',
  'accountSuspended',
  'accountDisabled',
] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** What `entityId` names: a host by uuid, a model by `VID:PID`, many at once, or an account or its API token. */
export const noticeEntities = ['Agent', 'Model', 'Many', 'Account'] as const
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
  entityId: Type.String({ description: 'uuid of the host, `VID:PID` of the model; empty for many and for accounts.' }),
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
  link: 'equals',
  count: 'a number, `>=n` or `<=n`',
  creationTime: 'an instant (as coarse as it is written), or from..to with either end open',
  lastTime: 'an instant (as coarse as it is written), or from..to with either end open',
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

/** Filters and page under their bare names: the members of the object that the specification names. */
export const riskView = closed({
  ...Object.fromEntries(
    Object.entries(riskFilters).map(([name, how]) => [name, Type.Optional(filterText(`Filter: ${how}.`))]),
  ),
  pageNumber: Type.Optional(pageInteger(2_147_483_647)('From 1.')),
  pageSize: Type.Optional(pageInteger(paging.maxSize)(`Up to ${paging.maxSize}; 1000 when absent.`)),
})

const riskQuery: Record<string, TSchema> = Object.assign(
  {
    [riskQueryName]: Type.Optional(
      Type.String({
        maxLength: 8_192,
        description:
          'The filters as one JSON object, such as `{"kind":"blocked","pageSize":"50"}`. Empty or null: no filters. Its values are texts, numbers or true and false.',
      }),
    ),
  },
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
  description: `Those that are not dismissed, unless isDismissed asks for them. Send filters under their bare names, as \`${riskQueryName}[name]\`, or as one JSON object in \`${riskQueryName}\`; each filter once.`,
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
    'One that is dismissed cannot be pinned (409), only unpinned.',
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
    'One that is dismissed cannot be pinned (409).',
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

/** A host behind a notice, with the devices that its events refer to. */
const NoticeHost = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  hashtags: Type.String({ description: 'Tag names joined by commas.' }),
  devices: Type.Array(
    closed({
      deviceID: Type.String(),
      name: Type.String({ description: 'Vendor and product.' }),
      vid: Type.String(),
      pid: Type.String(),
      serialNumber: Type.String({ description: 'Empty when the device has none.' }),
      isKnownAttackTool: Type.Boolean(),
      waits: Type.Boolean({ description: 'The device is waiting for an approval, as in the list of approvals.' }),
    }),
    { description: 'Attack tools first.' },
  ),
})
export type NoticeHost = Static<typeof NoticeHost>

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
    hosts: Type.Array(NoticeHost, {
      description: 'Existing hosts of the newest events behind the notice, newest first, at most 20.',
    }),
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
