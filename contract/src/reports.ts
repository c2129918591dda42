/** Reports: lists as files that are made by themselves, delivered by mail or into a folder, and kept for a while. */
import { type Static, Type } from 'typebox'
import { enumFilter } from './filters.ts'
import { apiPrefix, closed, listQuery, nullable, operation, page, utcTime } from './operation.ts'
import { reportListNames } from './report-lists.ts'

/** Bounds of schedules and of what is kept. */
export const reportLimits = {
  schedules: 200,
  recipients: 50,
  /** Files of a schedule that are kept, in the folder and for download. */
  keepFiles: 1_000,
  /** Days a file is kept for download at most; the history lives a year. */
  fileDays: 30,
  historyDays: 365,
  /** Bytes of one file. */
  bytes: 256 * 1024 * 1024,
  /** Bytes of a mail's attachment as it is sent, in base64; larger files are linked. */
  attachmentBytes: 10 * 1024 * 1024,
} as const

export const reportFormats = ['csv', 'pdf'] as const
export type ReportFormat = (typeof reportFormats)[number]

/** Time that the rows of a report are of: `previous` from where the scheduled run before ended. */
export const reportRanges = ['all', 'day', 'week', 'month', 'previous'] as const
export type ReportRange = (typeof reportRanges)[number]

export const ReportCadence = closed({
  every: Type.Enum(['day', 'week', 'month'] as const),
  weekday: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 7, description: '1 Monday to 7 Sunday; for `week`, and only there.' }),
  ),
  day: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description: 'Day of the month, its last one where it has fewer; for `month`, and only there.',
    }),
  ),
  time: Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    description:
      'Time of day in the zone. One that does not exist runs at the next that does; one that comes twice runs at the first.',
    examples: ['06:30'],
  }),
  timeZone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Name of the IANA time zone database.',
    examples: ['Europe/Berlin'],
  }),
})
export type ReportCadence = Static<typeof ReportCadence>

/** Rows and columns of a report. */
const rowsAndColumns = {
  list: Type.Enum(reportListNames, { description: 'List or insight.' }),
  filter: Type.Optional(
    Type.Record(
      Type.String({ maxLength: 64 }),
      Type.Union([Type.String({ maxLength: 2048 }), Type.Boolean(), Type.Integer(), Type.Null()]),
      { description: 'Filters by the names of the list, as in its export; an unknown one is refused.' },
    ),
  ),
  sortBy: Type.Optional(nullable(Type.String({ maxLength: 100 }), { description: 'As SortBy of the list.' })),
  columns: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200 }), {
      description: 'Columns in the order they are to have; null or empty = all.',
    }),
  ),
  format: Type.Enum(reportFormats, { description: 'A PDF holds at most 10,000 rows.' }),
}

/** What a schedule makes, and when. */
const content = {
  ...rowsAndColumns,
  cadence: ReportCadence,
  range: Type.Enum(reportRanges, {
    description:
      'Only rows of this time, for lists whose rows have one: the day, week or month before the run by the clock of the zone, or since the scheduled run before. `all`: every row.',
  }),
}

export const ReportScheduleInput = closed({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'Unique, ignoring case.' }),
  ...content,
  recipients: Type.Array(Type.String({ minLength: 3, maxLength: 254 }), {
    maxItems: reportLimits.recipients,
    description: 'Mail addresses, each once. Empty: no mail.',
  }),
  folder: nullable(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
      description: 'Folder below the folder of reports: letters, digits, `_` and `-`. It is made when it is missing.',
    }),
    { description: 'Null: none.' },
  ),
  keepFiles: Type.Integer({
    minimum: 1,
    maximum: reportLimits.keepFiles,
    description: `Newest files that are kept, in the folder and for download (there ${reportLimits.fileDays} days at most).`,
  }),
  isEnabled: Type.Boolean(),
})
export type ReportScheduleInput = Static<typeof ReportScheduleInput>

export const reportRunStates = ['waiting', 'running', 'completed', 'failed', 'cancelled'] as const
export type ReportRunState = (typeof reportRunStates)[number]

export const ReportSchedule = closed({
  id: Type.String(),
  ...ReportScheduleInput.properties,
  filter: Type.Record(Type.String(), Type.Union([Type.String(), Type.Boolean(), Type.Integer(), Type.Null()])),
  sortBy: nullable(Type.String()),
  columns: nullable(Type.Array(Type.String())),
  owner: Type.String({ description: 'Who saved it last: it runs with the rights that account has then.' }),
  problem: Type.String({ description: 'Why it would not run now, and what helps; empty: it would.' }),
  nextRunAt: nullable(utcTime('Next run; null: it is not enabled.')),
  updatedAt: utcTime('Last change.'),
  lastRun: nullable(
    closed({
      id: Type.String(),
      state: Type.Enum(reportRunStates),
      at: utcTime('End, or start of one under way.'),
      error: Type.String({ description: 'What failed, of the file or of a delivery; empty: nothing.' }),
    }),
  ),
})
export type ReportSchedule = Static<typeof ReportSchedule>

export const ReportDelivery = closed({
  kind: Type.Enum(['mail', 'folder'] as const),
  target: Type.String({ description: 'Address, or folder and file.' }),
  state: Type.Enum(['waiting', 'done', 'failed'] as const, { description: '`waiting`: it is tried again.' }),
  error: Type.String(),
  at: utcTime('Last change.'),
})
export type ReportDelivery = Static<typeof ReportDelivery>

export const ReportRun = closed({
  id: Type.String(),
  scheduleId: nullable(Type.String(), { description: 'Null: the schedule was deleted.' }),
  name: Type.String({ description: 'Name of the schedule then.' }),
  list: Type.String(),
  format: Type.Enum(reportFormats),
  reason: Type.Enum(['schedule', 'manual'] as const),
  by: Type.String({ description: 'Who ordered it; `system` for the schedule.' }),
  state: Type.Enum(reportRunStates),
  dueAt: utcTime('When it was to run.'),
  startedAt: nullable(utcTime('Start of the work.')),
  endedAt: nullable(utcTime('End.')),
  rangeFrom: nullable(utcTime('Its rows are of this time on.')),
  rangeTo: nullable(utcTime('And before this.')),
  rows: Type.Integer({ minimum: 0 }),
  bytes: Type.Integer({ minimum: 0 }),
  fileName: Type.String({ description: 'Empty: none was made.' }),
  hasFile: Type.Boolean({ description: 'It can be downloaded.' }),
  missed: Type.Integer({ minimum: 0, description: 'Times before this one that were missed while no server ran.' }),
  note: Type.String({ description: 'What else is to be known, such as that it ran late.' }),
  error: Type.String({ description: 'Why it failed, and what helps.' }),
  jobId: Type.String({ description: 'Its job, for progress and for ending it.' }),
  deliveries: Type.Array(ReportDelivery),
})
export type ReportRun = Static<typeof ReportRun>

const base = `${apiPrefix}/reports`
const tag = 'Reports'
const scheduleParams = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the schedule.' }) })
const runParams = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the run.' }) })

const example = {
  name: 'New devices of the week',
  list: 'models',
  filter: { isVulnerablePeripheral: true },
  format: 'csv',
  cadence: { every: 'week', weekday: 1, time: '06:30', timeZone: 'Europe/Berlin' },
  range: 'week',
  recipients: ['security@example.org'],
  folder: null,
  keepFiles: 30,
  isEnabled: true,
}

export const listReportSchedules = operation({
  id: 'listReportSchedules',
  method: 'GET',
  path: `${base}/schedules`,
  tag,
  summary: 'Lists schedules of reports, by name',
  permission: 'config:read',
  response: closed({
    data: Type.Array(ReportSchedule, { description: `At most ${reportLimits.schedules}.` }),
    folderRoot: Type.String({ description: 'Folder on the server that the folders of schedules lie in.' }),
    isMailConfigured: Type.Boolean(),
  }),
})

export const addReportSchedule = operation({
  id: 'addReportSchedule',
  method: 'POST',
  path: `${base}/schedules`,
  tag,
  summary: 'Adds a schedule',
  description: 'It belongs to who adds it, and runs with the rights that account has at each run.',
  permission: 'config:write',
  body: ReportScheduleInput,
  response: ReportSchedule,
  errors: ['conflict', 'unprocessable', 'forbidden_object'],
  examples: { request: example },
})

export const updateReportSchedule = operation({
  id: 'updateReportSchedule',
  method: 'PUT',
  path: `${base}/schedules/{id}`,
  tag,
  summary: 'Replaces a schedule',
  description: 'It belongs to who saves it from then on. A run under way goes on as it was ordered.',
  permission: 'config:write',
  params: scheduleParams,
  body: ReportScheduleInput,
  response: ReportSchedule,
  errors: ['conflict', 'forbidden_object'],
  examples: { request: example },
})

export const deleteReportSchedule = operation({
  id: 'deleteReportSchedule',
  method: 'DELETE',
  path: `${base}/schedules/{id}`,
  tag,
  summary: 'Deletes a schedule; its history and files stay as long as they would have',
  permission: 'config:write',
  params: scheduleParams,
  response: closed({ deleted: Type.Boolean() }),
})

export const runReportSchedule = operation({
  id: 'runReportSchedule',
  method: 'POST',
  path: `${base}/schedules/{id}/run`,
  tag,
  summary: 'Runs a schedule now, beside its times',
  description:
    'Made and delivered as at its times, also when it is not enabled; follow the job. It does not move `previous`.',
  permission: 'config:write',
  params: scheduleParams,
  response: closed({ runId: Type.String(), jobId: Type.String() }),
  errors: ['conflict'],
})

export const previewReport = operation({
  id: 'previewReport',
  method: 'POST',
  path: `${base}/preview`,
  tag,
  summary: 'Says when a schedule would run, and how many rows it would have now; stores nothing',
  permission: 'config:write',
  body: closed(content),
  response: closed({
    nextRuns: Type.Array(utcTime('A run.'), { description: 'The next five.' }),
    rows: nullable(Type.Integer({ minimum: 0 }), { description: 'Null: counting took too long.' }),
    rangeFrom: nullable(utcTime('Rows of this time on.')),
    isTooLarge: Type.Boolean({ description: 'Too many rows for a PDF.' }),
  }),
  errors: ['forbidden_object'],
})

export const listReportRuns = operation({
  id: 'listReportRuns',
  method: 'GET',
  path: `${base}/runs`,
  tag,
  summary: 'Lists runs of reports, newest first',
  description: `They are kept ${reportLimits.historyDays} days, their files ${reportLimits.fileDays} at most.`,
  permission: 'config:read',
  query: closed({
    id: Type.Optional(Type.String({ maxLength: 64, description: 'That run alone.' })),
    scheduleId: Type.Optional(Type.String({ maxLength: 64 })),
    state: enumFilter('state', reportRunStates),
    ...listQuery,
  }),
  response: page(ReportRun),
  responseKind: 'list',
})

export const reportRunFile = operation({
  id: 'reportRunFile',
  method: 'GET',
  path: `${base}/runs/{id}/file`,
  tag,
  summary: 'Downloads the file of a run',
  permission: 'config:read',
  params: runParams,
  response: Type.String(),
  responseKind: 'file',
  fileType: ['text/csv', 'application/pdf'],
  errors: ['forbidden_object'],
})

export const exportReport = operation({
  id: 'exportReport',
  method: 'POST',
  path: `${base}/export`,
  tag,
  summary: 'Exports any list or insight as CSV or PDF, at once',
  description:
    'For lists without an export of their own: insights, rules, the audit trail (for who may read it). As their schedules would make it; stored nowhere. 503 with Retry-After while too many PDFs are being made.',
  permission: 'export:read',
  heavy: 'export',
  body: closed(rowsAndColumns),
  response: Type.String(),
  responseKind: 'file',
  fileType: ['text/csv', 'application/pdf'],
  errors: ['forbidden_object', 'unprocessable'],
  examples: { request: { list: 'attackTools', format: 'pdf', columns: ['hostIdentifier', 'description', 'lastSeen'] } },
})
