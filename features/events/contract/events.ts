import { enumFilter, numberFilter, textFilter } from '@portcullis/platform/contract/filters.ts'
import {
  closed,
  ignoredPageNumber,
  listQuery,
  operation,
  page,
  zonelessTime,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

export const eventCategories = ['USB', 'Agent', 'Agentless', 'System', 'Network'] as const

/** Event codes with their severity and text. The first two are fixed because existing clients match on them. */
export const eventCodes = {
  attached: { code: '0x110001', severity: 4, category: 'USB', description: 'New USB peripheral detected' },
  gone: { code: '0x110003', severity: 5, category: 'USB', description: 'USB peripheral disconnected' },
  attackTool: { code: '0x110010', severity: 2, category: 'USB', description: 'Known attack tool detected' },
  blocked: { code: '0x110011', severity: 3, category: 'USB', description: 'USB peripheral blocked' },
  vulnerable: { code: '0x110012', severity: 4, category: 'USB', description: 'Vulnerable USB peripheral detected' },
  uncommon: { code: '0x110013', severity: 4, category: 'USB', description: 'Uncommon USB peripheral detected' },
  violation: {
    code: '0x110014',
    severity: 4,
    category: 'USB',
    description: 'USB peripheral is not on the allowlist',
  },
  driverMismatch: {
    code: '0x110015',
    severity: 2,
    category: 'USB',
    description: 'USB peripheral is not what it claims to be',
  },
  unknownDriver: {
    code: '0x110016',
    severity: 4,
    category: 'USB',
    description: 'USB peripheral has an unknown driver',
  },
  changesDropped: {
    code: '0x110017',
    severity: 3,
    category: 'USB',
    description: 'USB changes of a port were dropped',
  },
  inventory: { code: '0x120001', severity: 5, category: 'Agent', description: 'Inventory received' },
  enrolled: { code: '0x120002', severity: 5, category: 'Agent', description: 'Agent enrolled' },
  removed: { code: '0x120003', severity: 5, category: 'Agent', description: 'Agent removed' },
  tookOver: {
    code: '0x120004',
    severity: 4,
    category: 'Agent',
    description: 'Agent taken over by a new enrolment of the same host',
  },
  armed: { code: '0x120005', severity: 5, category: 'Agent', description: 'Host armed' },
  freed: { code: '0x120006', severity: 4, category: 'Agent', description: 'Host freed' },
  reverted: { code: '0x120007', severity: 3, category: 'Agent', description: 'Host reverted to Free' },
  commandFailed: { code: '0x120008', severity: 3, category: 'Agent', description: 'Command failed' },
  updated: { code: '0x120009', severity: 5, category: 'Agent', description: 'Agent updated' },
  keyClone: { code: '0x120010', severity: 2, category: 'Agent', description: 'Agent key used from two places' },
  agentError: { code: '0x120011', severity: 3, category: 'Agent', description: 'Agent reported an error' },
  duplicate: { code: '0x120012', severity: 4, category: 'Agent', description: 'Possible duplicate of a known host' },
  silent: { code: '0x120013', severity: 4, category: 'Agent', description: 'Host stopped checking in' },
  heardAgain: { code: '0x120014', severity: 5, category: 'Agent', description: 'Host checks in again' },
  eventsMerged: {
    code: '0x120015',
    severity: 4,
    category: 'Agent',
    description: 'Repeated events of a host were merged',
  },
  updateRefused: {
    code: '0x120030',
    severity: 2,
    category: 'Agent',
    description: 'Agent refused a build that its release key did not sign',
  },
  heldPortsFull: {
    code: '0x120031',
    severity: 2,
    category: 'Agent',
    description: 'Host reached its limit of held USB ports',
  },
  polled: { code: '0x140001', severity: 5, category: 'Agentless', description: 'Computer polled for the first time' },
  pollFailing: {
    code: '0x140002',
    severity: 4,
    category: 'Agentless',
    description: 'Computer cannot be polled',
  },
  pollRecovered: { code: '0x140003', severity: 5, category: 'Agentless', description: 'Computer is polled again' },
  hostKeyChanged: {
    code: '0x140004',
    severity: 3,
    category: 'Agentless',
    description: 'Host key of a polled computer changed',
  },
  observed: {
    code: '0x140005',
    severity: 5,
    category: 'Agentless',
    description: 'Computer observed by a feed for the first time',
  },
  rollout: { code: '0x130001', severity: 5, category: 'System', description: 'Rollout' },
  rolloutHalted: { code: '0x130002', severity: 3, category: 'System', description: 'Rollout halted' },
  degraded: { code: '0x130010', severity: 4, category: 'System', description: 'Subsystem degraded' },
  recovered: { code: '0x130011', severity: 5, category: 'System', description: 'Subsystem recovered' },
  tokenExpiring: { code: '0x130020', severity: 4, category: 'System', description: 'API token expires soon' },
  accountSuspended: { code: '0x130021', severity: 3, category: 'System', description: 'Account suspended' },
  accountDisabled: {
    code: '0x130023',
    severity: 4,
    category: 'System',
    description: 'Account disabled, demoted or deleted',
  },
  approvalLifted: {
    code: '0x130022',
    severity: 2,
    category: 'System',
    description: 'Second approver requirement lifted',
  },
  quarantined: { code: '0x150001', severity: 4, category: 'Network', description: 'Host quarantined' },
  quarantineCleared: { code: '0x150002', severity: 5, category: 'Network', description: 'Quarantine cleared' },
  quarantineFailed: { code: '0x150003', severity: 3, category: 'Network', description: 'Quarantine failed' },
  quarantineWaiting: {
    code: '0x150004',
    severity: 3,
    category: 'Network',
    description: 'Quarantine awaits approval',
  },
} as const satisfies Record<
  string,
  { code: string; severity: number; category: (typeof eventCategories)[number]; description: string }
>
export type EventKind = keyof typeof eventCodes

/** An event. Existing members never change. */
export const FleetEvent = closed({
  eventID: Type.Integer({
    description: 'Number of the event. Increases without gaps, and events become visible in this order.',
  }),
  category: Type.Enum(eventCategories),
  creationTime: zonelessTime('Time at which the server stored the event.'),
  occurredAt: zonelessTime(
    'Time of the event on the host, by the clock of the server. Equals `creationTime` if the host did not report the time.',
  ),
  occurredUncertaintyMs: Type.Union([Type.Null(), Type.Integer({ minimum: 0 })], {
    description:
      'Uncertainty of `occurredAt` in either direction, in milliseconds. Null if `occurredAt` is the time of receipt.',
  }),
  eventCode: Type.String({ pattern: '^0x[0-9A-Fa-f]{6}$' }),
  severity: Type.Integer({ description: 'Syslog severity, 0 (Emergency) to 7 (Debug).' }),
  severityString: Type.String(),
  eventEntityID: Type.String({ description: '`HOST (IP)`.' }),
  description: Type.String(),
  hashtags: Type.String({ description: 'Tags of the host at the time of the event, separated by commas.' }),
  peripheralIcon: Type.String({ description: 'Icon number as text. `-1` if the event is not about a device.' }),
  details: Type.String({ description: 'Details as text. Never `null`.' }),
})
export type FleetEvent = Static<typeof FleetEvent>

const start = {
  FromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Start time, inclusive.' })),
  ToDate: Type.Optional(Type.String({ maxLength: 64, description: 'End time, inclusive.' })),
  FromEventId: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'First event, inclusive.' }),
  ),
}

export const eventFilters = {
  category: enumFilter('category', eventCategories),
  minimumSeverity: Type.Optional(
    Type.String({ maxLength: 20, description: 'Lowest severity to return, as a name or number.' }),
  ),
  fromDate: start.FromDate,
  toDate: start.ToDate,
  occurredFrom: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Start of `occurredAt`, inclusive. `fromDate` compares the time of receipt.',
    }),
  ),
  occurredTo: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'End of `occurredAt`, inclusive. `toDate` compares the time of receipt.',
    }),
  ),
  fromEventId: start.FromEventId,
  source: textFilter('eventEntityID'),
  peripheralIcon: numberFilter('peripheralIcon'),
}

export const getEvents = operation({
  id: 'getEvents',
  method: 'GET',
  path: '/prime/webui/events/getevents',
  tag: 'Events',
  summary: 'Lists events, newest first',
  description:
    'With `fromEventId` or `SortBy=date_asc`, returns the oldest `PageSize` matching rows, sorted newest first, for clients that poll: use the `eventID` of the first row plus one as the next start. `fromEventId` overrides `SortBy`. `creationTime_asc` and `eventID_asc` sort in ascending order.',
  permission: 'fleet:read',
  query: closed({
    ...eventFilters,
    PageNumber: listQuery.PageNumber,
    PageSize: listQuery.PageSize,
    SortBy: listQuery.SortBy,
    globalSearch: listQuery.GlobalSearch,
  }),
  response: page(FleetEvent),
  responseKind: 'list',
})

export const getEventsIntegration = operation({
  id: 'getEventsIntegration',
  method: 'GET',
  path: '/prime/webui/events/GetEventsIntegration',
  tag: 'Events',
  summary: 'Lists events for SIEM connectors',
  description:
    'Without a start, returns the newest rows. With `FromEventId` or `FromDate`, returns the oldest `PageSize` rows from there, sorted newest first. To continue, use the `eventID` of the first row plus one as the next start.',
  permission: 'fleet:read',
  query: closed({
    PageSize: listQuery.PageSize,
    PageNumber: ignoredPageNumber,
    MinimumSeverity: Type.Optional(
      Type.String({ maxLength: 20, description: 'Lowest severity to return, as a name or number.' }),
    ),
    ...start,
  }),
  response: page(FleetEvent),
  responseKind: 'list',
})
