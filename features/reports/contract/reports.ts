/** Reports: lists as files that the server generates on schedule, delivers by email or to a folder, and keeps for a while. */

import { enumFilter, labelledFilter } from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import {
  apiPrefix,
  closed,
  listQuery,
  nullable,
  operation,
  page,
  utcTime,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { exportForm, exportForms } from './exports.ts'
import { reportListNames } from './report-lists.ts'

/** Limits of schedules and stored files. */
export const reportLimits = {
  schedules: 200,
  recipients: 50,
  /** Maximum number of files to keep per schedule, in the folder and for download. */
  keepFiles: 1_000,
  /** Maximum days for which a file can be downloaded. The history is kept for `historyDays`. */
  fileDays: 30,
  historyDays: 365,
  /** Maximum bytes of a file. */
  bytes: 256 * 1024 * 1024,
  /** Maximum bytes of an email attachment in Base64. The email contains a link to larger files. */
  attachmentBytes: 10 * 1024 * 1024,
} as const

export const reportFormats = ['csv', 'xlsx', 'pdf'] as const
export type ReportFormat = (typeof reportFormats)[number]

/** Media types of the formats. */
export const reportFileTypes: Readonly<Record<ReportFormat, string>> = {
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
}

/** Periods of a report. `previous` starts where the previous scheduled run ended. */
export const reportRanges = ['all', 'day', 'week', 'month', 'previous'] as const
export type ReportRange = (typeof reportRanges)[number]

export const ReportCadence = closed({
  every: Type.Enum(['day', 'week', 'month'] as const),
  weekday: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 7,
      description: 'Day of the week, 1 (Monday) to 7 (Sunday). Only for `week`.',
    }),
  ),
  day: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description: 'Day of the month, or the last day of a shorter month. Only for `month`.',
    }),
  ),
  time: Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    description:
      'Time of day in the time zone. If the clocks skip this time, the report runs at the next valid time. If it occurs twice, the report runs the first time.',
    examples: ['06:30'],
  }),
  timeZone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'IANA time zone.',
    examples: ['Europe/Berlin'],
  }),
})
export type ReportCadence = Static<typeof ReportCadence>

/** Rows and columns of a report. */
const rowsAndColumns = {
  list: Type.Enum(reportListNames, { description: 'Name of the list or insight.' }),
  filter: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^.{1,64}$' }),
      Type.Union([Type.String({ maxLength: 2048 }), Type.Boolean(), Type.Integer(), Type.Null()]),
      {
        maxProperties: 40,
        additionalProperties: false,
        description: 'Filters, as in the export of the list. Unknown filters are refused.',
      },
    ),
  ),
  sortBy: Type.Optional(
    nullable(Type.String({ maxLength: 100 }), { description: 'Sort order, as in `SortBy` of the list.' }),
  ),
  columns: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200 }), {
      description:
        'Columns in the desired order. `*` alone: all columns. `null` or empty: all columns of a CSV or XLSX file, or the most useful ones in a PDF.',
    }),
  ),
  format: Type.Enum(reportFormats, {
    description: 'Format of the file. `xlsx`: a workbook with typed cells, in UTC. A PDF can have 10,000 rows.',
  }),
}

const contentOfExport = { ...rowsAndColumns, form: exportForm('`fixed`') }

/** The content and times of a schedule. */
const content = {
  ...rowsAndColumns,
  cadence: ReportCadence,
  range: Type.Enum(reportRanges, {
    description:
      'Period of the rows, for lists whose rows have a time. `day`, `week` and `month` mean the one before the run, in the time zone of the schedule. `previous` means since the previous scheduled run, `all` all rows.',
  }),
}

export const ReportScheduleInput = closed({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'Name of the schedule. Unique, ignoring case.' }),
  ...content,
  form: exportForm('`readable`'),
  recipients: Type.Array(Type.String({ minLength: 3, maxLength: 254 }), {
    maxItems: reportLimits.recipients,
    description: 'Email addresses, each once. Empty: no email is sent.',
  }),
  folder: nullable(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
      description:
        'Subfolder of the report folder: letters, digits, `_` and `-`. The server creates it if it is missing.',
    }),
    { description: 'Subfolder of the report folder. `null`: the file is not written to a folder.' },
  ),
  keepFiles: Type.Integer({
    minimum: 1,
    maximum: reportLimits.keepFiles,
    description: `Number of files to keep, in the folder and for download. Files can be downloaded for at most ${reportLimits.fileDays} days.`,
  }),
  isEnabled: Type.Boolean(),
})
export type ReportScheduleInput = Static<typeof ReportScheduleInput>

export const reportRunStates = ['waiting', 'running', 'completed', 'failed', 'cancelled'] as const
export type ReportRunState = (typeof reportRunStates)[number]
export const reportRunStateLabels: Readonly<Record<ReportRunState, string>> = {
  waiting: 'Waiting',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

export const ReportSchedule = closed({
  id: Type.String(),
  ...ReportScheduleInput.properties,
  filter: Type.Record(Type.String(), Type.Union([Type.String(), Type.Boolean(), Type.Integer(), Type.Null()])),
  sortBy: nullable(Type.String()),
  columns: nullable(Type.Array(Type.String())),
  form: Type.Enum(exportForms, { description: 'Form of a CSV file.' }),
  owner: Type.String({
    description:
      'Account that saved the schedule last. Each run uses the permissions that this account has at that time.',
  }),
  problem: Type.String({ description: 'Why the schedule cannot run, and the cure. Empty: it can run.' }),
  nextRunAt: nullable(utcTime('Time of the next run. `null`: the schedule is not enabled.')),
  updatedAt: utcTime('Time of the last change.'),
  lastRun: nullable(
    closed({
      id: Type.String(),
      state: Type.Enum(reportRunStates),
      at: utcTime('End of the run, or its start if it is still running.'),
      error: Type.String({ description: 'Error of the file or of a delivery. Empty: no error.' }),
    }),
  ),
})
export type ReportSchedule = Static<typeof ReportSchedule>

export const ReportDelivery = closed({
  kind: Type.Enum(['mail', 'folder'] as const),
  target: Type.String({ description: 'Email address, or folder and file.' }),
  state: Type.Enum(['waiting', 'done', 'failed'] as const, {
    description: '`waiting`: not delivered yet, or waits for a retry.',
  }),
  error: Type.String(),
  at: utcTime('Time of the last change.'),
})
export type ReportDelivery = Static<typeof ReportDelivery>

export const ReportRun = closed({
  id: Type.String(),
  scheduleId: nullable(Type.String(), { description: 'ID of the schedule. `null`: it was deleted.' }),
  name: Type.String({ 'x-label': 'Report', description: 'Name of the schedule at the time of the run.' }),
  list: Type.String(),
  format: Type.Enum(reportFormats),
  reason: Type.Enum(['schedule', 'manual'] as const),
  by: Type.String({ 'x-label': 'By', description: 'Account that started the run. `system`: the schedule.' }),
  state: Type.Enum(reportRunStates, { 'x-labels': reportRunStateLabels }),
  dueAt: utcTime('Planned time of the run.', { 'x-label': 'Due' }),
  startedAt: nullable(utcTime('Start of the run.')),
  endedAt: nullable(utcTime('End of the run.'), { 'x-label': 'Ended' }),
  rangeFrom: nullable(utcTime('Start of the period, inclusive.')),
  rangeTo: nullable(utcTime('End of the period, exclusive.')),
  rows: Type.Integer({ minimum: 0 }),
  bytes: Type.Integer({ 'x-label': 'Size', minimum: 0 }),
  fileName: Type.String({ description: 'Name of the file. Empty: no file was created.' }),
  hasFile: Type.Boolean({ description: 'True if the file can be downloaded.' }),
  missed: Type.Integer({
    minimum: 0,
    description: 'Number of earlier runs that were missed while no server was running.',
  }),
  note: Type.String({ description: 'Note about the run, for example that it started late.' }),
  error: Type.String({ 'x-label': 'Problem and remedy', description: 'Why the run failed, and the cure.' }),
  jobId: Type.String({ description: 'ID of the job, for following or cancelling the run.' }),
  deliveries: Type.Array(ReportDelivery),
})
export type ReportRun = Static<typeof ReportRun>

export const reportRunList = list({
  title: 'Report runs',
  row: ReportRun,
  unsorted: [
    ...(['id', 'scheduleId', 'rangeFrom', 'rangeTo', 'fileName', 'hasFile'] as const),
    ...(['missed', 'note', 'error', 'jobId', 'deliveries'] as const),
  ],
  filters: {
    id: Type.Optional(Type.String({ maxLength: 64, description: 'ID of a single run.' })),
    scheduleId: labelledFilter(Type.Optional(Type.String({ maxLength: 64, description: 'ID of a schedule.' })), {
      ...{ kind: 'id', label: 'Schedule', choices: 'schedule' },
    }),
    state: enumFilter('state', reportRunStates),
  },
  table: {
    defaultSort: 'dueAt_desc',
    filters: ['state', 'scheduleId'],
    columns: [
      { id: 'name', width: 180, grow: true, shown: true },
      { id: 'state', width: 190, shown: true },
      { id: 'error', width: 180, grow: true, shown: true, exports: [] },
      { id: 'list', width: 130 },
      { id: 'format', width: 60 },
      { id: 'rows', width: 76, shown: true },
      { id: 'bytes', width: 76, shown: true },
      { id: 'by', width: 96, shown: true },
      { id: 'due', of: 'dueAt', width: 76, shown: true },
      { id: 'ended', of: 'endedAt', width: 76 },
    ],
  },
})

const base = `${apiPrefix}/reports`
const tag = 'Reports'
const fileTypes = Object.values(reportFileTypes)
const scheduleParams = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the schedule.' }) })
const runParams = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the run.' }) })

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
  summary: 'Lists report schedules, sorted by name',
  permission: 'config:read',
  response: closed({
    data: Type.Array(ReportSchedule, { description: `At most ${reportLimits.schedules} schedules.` }),
    folderRoot: Type.String({ description: 'Report folder on the server. It contains the folders of schedules.' }),
    isMailConfigured: Type.Boolean(),
  }),
})

export const addReportSchedule = operation({
  id: 'addReportSchedule',
  method: 'POST',
  path: `${base}/schedules`,
  tag,
  summary: 'Creates a report schedule',
  description:
    'Your account becomes the owner of the schedule. Each run uses the permissions that the owner has at that time.',
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
  summary: 'Replaces a report schedule',
  description: 'Your account becomes the owner of the schedule. A current run continues unchanged.',
  permission: 'config:write',
  params: scheduleParams,
  body: closed({
    ...ReportScheduleInput.properties,
    ifUpdatedAt: Type.Optional(
      utcTime(
        '`updatedAt` of the schedule as the caller read it. If the schedule has changed since, the server returns 409 with the name of the person, and changes nothing. Absent: the change is made in any case.',
      ),
    ),
  }),
  response: ReportSchedule,
  errors: ['conflict', 'forbidden_object'],
  examples: { request: example },
})

export const deleteReportSchedule = operation({
  id: 'deleteReportSchedule',
  method: 'DELETE',
  path: `${base}/schedules/{id}`,
  tag,
  summary: 'Deletes a report schedule',
  description: 'Its history and files are kept until their retention period ends.',
  permission: 'config:write',
  params: scheduleParams,
  response: closed({ deleted: Type.Boolean() }),
})

export const runReportSchedule = operation({
  id: 'runReportSchedule',
  method: 'POST',
  path: `${base}/schedules/{id}/run`,
  tag,
  summary: 'Runs a report now',
  description:
    'The server generates and delivers the report as in a scheduled run, even if the schedule is not enabled. Follow the job. The run does not change the start of the period `previous`.',
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
  summary: 'Previews a report schedule',
  heavy: 'preview',
  description: 'Returns the next runs and the current number of rows. Nothing is stored.',
  permission: 'config:write',
  body: closed(content),
  response: closed({
    nextRuns: Type.Array(utcTime('Time of a run.'), { description: 'The next five runs.' }),
    rows: nullable(Type.Integer({ minimum: 0 }), { description: 'Number of rows. `null`: counting took too long.' }),
    rangeFrom: nullable(utcTime('Start of the period, inclusive.')),
    isTooLarge: Type.Boolean({ description: 'True if there are too many rows for a PDF.' }),
  }),
  errors: ['forbidden_object'],
})

export const listReportRuns = operation({
  id: 'listReportRuns',
  method: 'GET',
  path: `${base}/runs`,
  tag,
  summary: 'Lists report runs, newest first',
  description: `Runs are kept for ${reportLimits.historyDays} days, and their files for at most ${reportLimits.fileDays} days.`,
  permission: 'config:read',
  query: closed({ ...reportRunList.filters, ...listQuery }),
  response: page(ReportRun),
  responseKind: 'list',
})

export const reportRunFile = operation({
  id: 'reportRunFile',
  method: 'GET',
  path: `${base}/runs/{id}/file`,
  tag,
  summary: 'Downloads the file of a report run',
  permission: 'config:read',
  params: runParams,
  response: Type.String(),
  responseKind: 'file',
  fileType: fileTypes,
  errors: ['forbidden_object'],
})

export const exportReport = operation({
  id: 'exportReport',
  method: 'POST',
  path: `${base}/export`,
  tag,
  summary: 'Exports any list or insight as CSV, XLSX or PDF',
  description:
    'Use it for workbooks (XLSX), and for lists without their own export: insights, rules, and the audit trail (which requires `audit:read`). The file is the same as in a scheduled report of the same form. The server does not store it. The server returns 503 with Retry-After while it generates too many other PDFs.',
  permission: 'export:read',
  heavy: 'export',
  body: closed(contentOfExport),
  response: Type.String(),
  responseKind: 'file',
  fileType: fileTypes,
  errors: ['forbidden_object', 'unprocessable'],
  examples: { request: { list: 'attackTools', format: 'pdf', columns: ['hostIdentifier', 'description', 'lastSeen'] } },
})
