import { type FilterFacts, type FilterKind, labelledFilter } from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import { apiPrefix, closed, operation, paging, utcTime } from '@portcullis/platform/contract/operation.ts'
import { severityNames } from '@portcullis/platform/contract/severities.ts'
import { type Static, type TSchema, Type } from 'typebox'
import { healthStatuses } from '#features/health/contract/health.ts'
import { AlertHistoryEntry, alertStates, alertVerdicts, caseMembers, historyMost } from './alert-cases.ts'
import { alertCatalogue, alertKinds } from './alert-catalogue.ts'

const base = `${apiPrefix}/systemNotification`
const tag = 'Notification'

/** Types of the object in `entityId`: a host, a model, many hosts, or an account or its API token. */
export const alertEntities = ['Agent', 'Model', 'Many', 'Account'] as const
export type AlertEntity = (typeof alertEntities)[number]
const entityLabels: Readonly<Record<AlertEntity, string>> = {
  Agent: 'A host',
  Model: 'A model',
  Many: 'Multiple',
  Account: 'Account or API token',
}
const kindLabels = Object.fromEntries(alertKinds.map((kind) => [kind, alertCatalogue[kind].title]))

const alertId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'ID of the alert.' })

const riskMembers = {
  id: alertId,
  kind: Type.Enum(alertKinds, { 'x-label': 'Type', 'x-labels': kindLabels, description: 'Kind of the alert.' }),
  title: Type.String({ maxLength: 4096, description: 'Summary with the names that hosts and devices report.' }),
  description: Type.String({ maxLength: 16_384, description: 'Newest event of the alert.' }),
  severity: Type.Integer({
    minimum: 0,
    maximum: 7,
    description: 'Syslog severity of the most severe event in the alert.',
  }),
  severityString: Type.Enum(severityNames, { 'x-label': 'Severity' }),
  creationTime: utcTime('Time of the first event.'),
  lastTime: utcTime('Time of the newest event.'),
  count: Type.Integer({ minimum: 1, description: 'Number of events in the alert.' }),
  isRead: Type.Boolean({
    'x-label': 'Read',
    description: 'True if the calling account has read the alert. A new event makes it unread again.',
  }),
  isPinned: Type.Boolean({
    'x-label': 'Pinned',
    description: 'True if the calling account has pinned the alert.',
  }),
  isDismissed: Type.Boolean({
    'x-label': 'Closed',
    description: 'True if the alert is closed for all accounts.',
  }),
  ...caseMembers,
  entityType: Type.Enum(alertEntities, { 'x-label': 'Concerns', 'x-labels': entityLabels }),
  entityId: Type.String({
    'x-label': 'ID of host or model',
    maxLength: 2048,
    description: 'UUID of the host, or `VID:PID` of the model. Empty for many hosts and for accounts.',
  }),
  link: Type.String({
    maxLength: 4096,
    description: 'Path in the console of the host, model or list that the alert is about.',
  }),
  hosts: Type.Array(
    closed({
      uuid: Type.String({ maxLength: 128, description: 'UUID of the host.' }),
      hostIdentifier: Type.String({ maxLength: 255 }),
    }),
    { maxItems: 3, description: 'The three hosts that the alert reached last, newest first.' },
  ),
  hostsCount: Type.Integer({
    minimum: 0,
    description:
      'Number of hosts since the alert opened, including hosts that were removed later. `GET /prime/webui/agents?Alert={id}` lists them.',
  }),
}

/** An alert. It groups repeated events about the same object. */
export const RiskNotification = closed(riskMembers)
export type RiskNotification = Static<typeof RiskNotification>

const riskExample: RiskNotification = {
  id: 7,
  kind: 'attackTool',
  title: 'O.MG Cable (attack tool) on 12 hosts',
  description: 'KIOSK-0413 (10.4.1.13): [Agent] Device VID/PID are 1209/6667  (O.MG Cable)',
  severity: 2,
  severityString: 'Critical',
  creationTime: '2031-05-04T10:11:12.345Z',
  lastTime: '2031-05-04T10:14:02.120Z',
  count: 14,
  isRead: false,
  isPinned: true,
  isDismissed: false,
  state: 'assigned',
  owner: 'jane',
  snoozedUntil: '',
  verdict: '',
  entityType: 'Model',
  entityId: '1209:6667',
  link: '/peripherals?vid=1209&pid=6667',
  hosts: [
    { uuid: '0197a1b2-7c3d-7000-8000-0123456789ab', hostIdentifier: 'KIOSK-0413' },
    { uuid: '0197a1b2-7c3d-7000-8000-0123456789ac', hostIdentifier: 'KIOSK-0414' },
    { uuid: '0197a1b2-7c3d-7000-8000-0123456789ad', hostIdentifier: 'KIOSK-0502' },
  ],
  hostsCount: 12,
}

const status = Type.Enum([...healthStatuses])

/** An alert about a subsystem that has, or recently had, a problem. */
export const HealthNotice = closed({
  id: alertId,
  name: Type.String({ description: 'Name of the subsystem, as in SubsystemHealth.' }),
  status,
  description: Type.String({ description: 'Result of the probe.' }),
  creationTime: utcTime('Start of the problem.'),
  lastTime: utcTime('Time of the last change.'),
  count: Type.Integer({ minimum: 1, description: 'Number of times that the status got worse.' }),
  isRead: Type.Boolean({ description: 'True if the calling account has read the alert.' }),
  isPinned: Type.Boolean({ description: 'True if the calling account has pinned the alert.' }),
  ...caseMembers,
})
export type HealthNotice = Static<typeof HealthNotice>

const number = (description: string) => Type.Integer({ minimum: 0, description })

export const countNotices = operation({
  id: 'countNotices',
  method: 'GET',
  path: base,
  tag,
  summary: 'Counts alerts that are neither closed nor snoozed',
  permission: 'notices:read',
  response: closed({
    total: number('All alerts: risk and health.'),
    unread: number('Alerts that the calling account has not read.'),
    riskNotifications: number('Risk alerts.'),
    riskUnread: number('Unread risk alerts.'),
    systemHealth: number('Health alerts.'),
    systemHealthUnread: number('Unread health alerts.'),
    bySeverity: Type.Array(
      closed({ key: Type.Enum(severityNames), count: number('Risk and health alerts of this severity.') }),
      {
        description:
          'Counts by severity, most severe first, without zero counts. A health alert has the severity Error or Warning, or Notice after recovery.',
      },
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
export type AlertCounts = Static<typeof countNotices.response>

const filterText = (description: string) => Type.String({ maxLength: 1_024, description })
const filter = (kind: FilterKind, how: string, more: Omit<FilterFacts, 'kind'> = {}) =>
  labelledFilter(Type.Optional(filterText(`Filter: ${how}.`)), { kind, ...more })
const choice = (values: readonly string[]) => filter('enum', 'one or more values, separated by commas', { values })
const part = () => filter('text', 'contains this text')
const amount = () => filter('number', 'a number, `>=n` or `<=n`')
const period = () => filter('time', 'a time, a date, or from..to with either end open')

/** The list of risk alerts. */
export const alertList = list({
  title: 'Alerts',
  row: RiskNotification,
  filters: {
    id: filter('id', 'exact value'),
    kind: choice(alertKinds),
    title: part(),
    description: part(),
    severity: amount(),
    severityString: choice(severityNames),
    isRead: filter('boolean', 'true or false'),
    isPinned: filter('boolean', 'true or false'),
    isDismissed: filter('boolean', 'true or false'),
    state: choice(alertStates),
    owner: part(),
    isMine: filter('boolean', 'true or false. True: the calling account is the owner', { label: 'Assigned to me' }),
    verdict: choice(alertVerdicts),
    entityType: choice(alertEntities),
    entityId: part(),
    link: part(),
    count: amount(),
    creationTime: period(),
    lastTime: period(),
    fromDate: filter('instant', '`lastTime` is at or after this time', {
      label: 'From',
      period: { until: 'toDate', label: 'Happened' },
    }),
    toDate: filter('instant', '`lastTime` is at or before this time', { label: 'To' }),
    host: filter('text', 'UUID of a host of the alert, or a part of its name'),
    search: filter('text', 'title, description or the name of a host contains this text'),
  },
  table: {
    defaultSort: 'severity_asc',
    filters: [
      ...([
        'state',
        'isMine',
        'owner',
        'kind',
        'severityString',
        'isRead',
        'isPinned',
        'verdict',
        'entityType',
      ] as const),
      ...(['host', 'description', 'entityId', 'fromDate'] as const),
    ],
    columns: [],
  },
})
export type RiskFilter = keyof typeof alertList.filters

/** Orders of risk alerts. Severity 0 is the most severe, so the ascending order begins with the most severe alerts. */
export const riskOrders = [
  'severity_asc',
  'severity_desc',
  'lastTime_desc',
  'lastTime_asc',
  'creationTime_desc',
  'creationTime_asc',
  'hostsCount_desc',
  'hostsCount_asc',
  'count_desc',
  'count_asc',
] as const
export type RiskOrder = (typeof riskOrders)[number]

/** Name of the object parameter in the specification. */
export const riskQueryName = 'riskNotificationViewQuery'
/** Defines a parameter under its own name and as a field of the object parameter. */
const both = (name: string, schema: (description: string) => TSchema, description: string) => ({
  [name]: Type.Optional(schema(description)),
  [`${riskQueryName}[${name}]`]: Type.Optional(schema(`Same as \`${name}\`.`)),
})
const orderText = (description: string) => Type.Enum(riskOrders, { description })
const orderHelp =
  'Order after the pinned alerts. Default: severity_asc, the most severe first. Equal ones: newest first.'
const pageInteger = (maximum: number) => (description: string) => Type.Integer({ minimum: 1, maximum, description })

/** Filters and paging, which are the fields of the object parameter. */
export const riskView = closed({
  ...alertList.filters,
  pageNumber: Type.Optional(pageInteger(2_147_483_647)('Page number, starting at 1.')),
  pageSize: Type.Optional(pageInteger(paging.maxSize)(`Rows per page, at most ${paging.maxSize}. Default: 1000.`)),
  sortBy: Type.Optional(orderText(orderHelp)),
})

const riskQuery: Record<string, TSchema> = Object.assign(
  {
    [riskQueryName]: Type.Optional(
      Type.String({
        maxLength: 8_192,
        description:
          'Filters as a JSON object, for example `{"kind":"blocked","pageSize":"50"}`. Values are strings, numbers or booleans. Empty or `null`: no filters.',
      }),
    ),
  },
  ...Object.entries(alertList.filters).map(([name, schema]) => ({
    [name]: schema,
    [`${riskQueryName}[${name}]`]: Type.Optional(filterText(`Same as \`${name}\`.`)),
  })),
  both('pageNumber', pageInteger(2_147_483_647), 'Page number, starting at 1.'),
  both('pageSize', pageInteger(paging.maxSize), `Rows per page, at most ${paging.maxSize}. Default: 1000.`),
  both('sortBy', orderText, orderHelp),
)

export const listRiskNotices = operation({
  id: 'listRiskNotices',
  method: 'GET',
  path: `${base}/riskNotifications`,
  tag,
  summary: 'Lists risk alerts: pinned alerts first, then the most severe, then the newest',
  description: `Without the filters \`state\` and \`isDismissed\`, the list has neither closed nor snoozed alerts. Send each filter once: under its own name, as \`${riskQueryName}[name]\`, or in a JSON object in \`${riskQueryName}\`.`,
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
  summary:
    'Lists health alerts that are neither closed nor snoozed: pinned alerts first, then the most severe, then the newest',
  description: 'After recovery, an alert stays in the list for a day with the status OK.',
  permission: 'notices:read',
  response: closed({
    status: Type.Enum([...healthStatuses], {
      description:
        'Worst current status of all subsystems. It can be ahead of `items`: a change becomes an alert within 15 seconds, and closed and snoozed alerts are not listed.',
    }),
    lastUpdated: utcTime('Time of the last probe of the subsystems.'),
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
  response: Type.Boolean({ description: `True: the state changed. False: ${unchanged}` }),
})
const wasClosed = 'the alert was already closed. Nothing is audited.'
const wasRead = 'there were no unread alerts, or the caller is not an account.'

export const dismissRiskNotice = operation({
  ...change(
    'dismissRiskNotice',
    'riskNotifications/dismiss',
    'Closes a risk alert for all accounts, without a verdict',
    wasClosed,
    'The server uses only the ID, so you can send back the alert as you read it. The call is audited. If the same problem occurs again, the alert reopens with its ID and count.',
  ),
  permission: 'notices:dismiss',
  body: Type.Interface([Type.Partial(RiskNotification)], { id: alertId }, { additionalProperties: false }),
  errors: ['not_found'],
  examples: { request: riskExample, response: true },
})

export const dismissHealthNotice = operation({
  ...change(
    'dismissHealthNotice',
    'systemHealth/dismiss',
    'Closes a health alert for all accounts, without a verdict',
    wasClosed,
    'The call is audited.',
  ),
  permission: 'notices:dismiss',
  body: alertId,
  errors: ['not_found'],
})

export const pinRiskNotice = operation({
  ...change(
    'pinRiskNotice',
    'riskNotifications/pin',
    'Pins or unpins a risk alert for the calling account',
    'the alert was already in this state.',
    'You can unpin a closed alert, but not pin it (409).',
  ),
  permission: 'notices:own',
  body: closed({ id: alertId, isPinned: Type.Boolean({ description: 'True: pin the alert. False: unpin it.' }) }),
  errors: ['not_found', 'conflict'],
})

export const pinHealthNotice = operation({
  ...change(
    'pinHealthNotice',
    'systemHealth/pin',
    'Pins or unpins a health alert for the calling account',
    'another call of the same account changed the pin at the same time.',
    'Each call toggles the pin. You cannot pin a closed alert (409).',
  ),
  permission: 'notices:own',
  body: alertId,
  errors: ['not_found', 'conflict'],
})

export const readRiskNotices = operation({
  ...change(
    'readRiskNotices',
    'riskNotifications/read',
    'Marks all risk alerts as read for the calling account',
    wasRead,
  ),
  permission: 'notices:own',
})

export const readHealthNotices = operation({
  ...change(
    'readHealthNotices',
    'systemHealth/read',
    'Marks all health alerts as read for the calling account',
    wasRead,
  ),
  permission: 'notices:own',
})

/** A host of an alert, with the devices that its events refer to, or that have its model. */
const AlertHost = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  hashtags: Type.String({ description: 'Names of tags, separated by commas.' }),
  devices: Type.Array(
    closed({
      deviceID: Type.String(),
      name: Type.String({ description: 'Vendor and product name.' }),
      vid: Type.String(),
      pid: Type.String(),
      serialNumber: Type.String({ description: 'Serial number. Empty if the device has none.' }),
      isKnownAttackTool: Type.Boolean(),
      waits: Type.Boolean({ description: 'True if the device waits for approval.' }),
    }),
    { description: 'Devices, with attack tools first.' },
  ),
})
export type AlertHost = Static<typeof AlertHost>

export const getNotice = operation({
  id: 'getNotice',
  method: 'GET',
  path: `${base}/notices/{id}`,
  tag,
  summary: 'Returns an alert with its cause, hosts, events and notifications',
  permission: 'notices:read',
  params: closed({ id: alertId }),
  response: closed({
    id: alertId,
    title: Type.String(),
    kind: Type.String({ description: 'Kind of a risk alert, or `health`.' }),
    severity: Type.Integer({ minimum: 0, maximum: 7, description: 'Syslog severity of the alert.' }),
    ...caseMembers,
    comment: Type.String({ description: 'Comment of the person who closed the alert. Can be empty.' }),
    needsVerdict: Type.Boolean({ description: 'True if the alert can only be closed with a verdict.' }),
    history: Type.Array(AlertHistoryEntry, {
      maxItems: historyMost,
      description: `What happened to the alert, newest first. At most ${historyMost} entries.`,
    }),
    why: Type.String({ description: 'Condition that raised the alert, as a sentence.' }),
    matched: Type.Array(Type.String(), {
      maxItems: 20,
      description:
        'Current findings about the devices of the alert. For an attack tool: the matching entry and the evidence. For a vulnerable device: the ID and weakness of each advisory. Empty for other kinds, and if the devices are no longer in the inventory.',
    }),
    count: Type.Integer({ minimum: 1, description: 'Number of events in the alert.' }),
    hosts: Type.Array(AlertHost, {
      description:
        'Hosts of the alert that still exist: first those of the newest events, then those that the alert reached last. At most 20.',
    }),
    hostsCount: Type.Integer({ minimum: 0, description: 'Number of hosts since the alert opened.' }),
    events: Type.Array(
      closed({
        eventID: Type.Integer(),
        creationTime: utcTime('Time at which the event was stored.'),
        eventEntityID: Type.String({ description: '`HOST (IP)`.' }),
        details: Type.String(),
      }),
      { description: 'Newest events of the alert that are still stored, newest first. At most 20.' },
    ),
    told: Type.Array(
      closed({
        groupName: Type.String(),
        channel: Type.String(),
        destination: Type.String(),
        state: Type.String({ description: 'State of the delivery.' }),
        at: utcTime('Time at which the delivery was created.'),
      }),
      { description: 'Deliveries that notified recipients of the alert, newest first. At most 20.' },
    ),
    dismissedBy: Type.String({ description: 'Account that closed the alert, or `system`. Empty: it is not closed.' }),
  }),
})
export type AlertTimeline = Static<typeof getNotice.response>
