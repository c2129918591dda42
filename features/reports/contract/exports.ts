/**
 * Exports of lists as files. An export takes the filters, sort order and columns of its list. It contains all matching
 * rows, as of one moment.
 */

import { closed, listQuery, nullable, operation } from '@portcullis/platform/contract/operation.ts'
import { type TSchema, Type } from 'typebox'
import {
  Connection,
  ConnectionStatus,
  connectionFilters,
  connectionStatusFilters,
} from '#features/agentless/contract/agentless.ts'
import { Agent, agentFilters } from '#features/agents/contract/agents.ts'
import {
  getPeripheralModels,
  Peripheral,
  PeripheralModel,
  peripheralFilters,
} from '#features/devices/contract/peripherals.ts'
import { eventFilters, FleetEvent } from '#features/events/contract/events.ts'

/** Maximum number of rows in a PDF. CSV has no limit. */
export const maxPdfRows = 10_000

export const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)

/** Converts a query filter to a body field. `null` is the same as absent; numbers and booleans need no quotes. */
const inBody = (schema: TSchema): TSchema => {
  const { 'x-filter': kind, ...text } = schema as TSchema & { 'x-filter'?: string; description?: string }
  const plain: TSchema[] = kind === 'boolean' ? [Type.Boolean()] : kind === 'number' ? [Type.Integer()] : []
  return Type.Optional(
    Type.Union([Type.String({ maxLength: 2048 }), ...plain, Type.Null()], {
      description: text.description ?? '',
    }),
  )
}

/** Paging fields in the body of an export. Clients send the complete query of the list. */
const ignored = Type.Optional(
  Type.Union([Type.Integer(), Type.String({ maxLength: 32 }), Type.Null()], {
    description: 'Ignored. The file contains all rows.',
  }),
)

/** Forms of a CSV file. */
export const exportForms = ['fixed', 'readable'] as const
export type ExportForm = (typeof exportForms)[number]

const formText = (absent: string): string =>
  `Form of a CSV file. \`fixed\`: for programs, with the response keys and values of the list. \`readable\`: for people, with column names in the first row, labels instead of codes, and times in ISO 8601 with a time zone. Absent: ${absent}.`

/** Defines the form of a CSV file. `null` is the same as absent. */
export const exportForm = (absent: string) =>
  Type.Optional(nullable(Type.Enum(exportForms), { description: formText(absent) }))

/** Defines the body of an export: the filters of the list, `sortBy` and `columns`, and for a CSV file its form. */
const exportBody = (query: Readonly<Record<string, TSchema>>, columns: readonly string[], file: 'csv' | 'pdf') => {
  const filters = Object.entries(query).filter(([name]) => !/^(page(number|size)|sortby)$/i.test(name))
  const form: Record<string, TSchema> = file === 'csv' ? { form: exportForm('`fixed`') } : {}
  return nullable(
    closed({
      ...form,
      ...Object.fromEntries(filters.map(([name, schema]) => [lowerFirst(name), inBody(schema)])),
      sortBy: Type.Optional(
        nullable(Type.String({ maxLength: 100 }), { description: 'Sort order, as in `SortBy` of the list.' }),
      ),
      pageNumber: ignored,
      pageSize: ignored,
      columns: Type.Optional(
        nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200 }), {
          description: `Columns in the desired order, each once, ignoring case. \`*\` alone: all columns. \`null\` or empty: ${file === 'csv' ? 'all columns' : 'the most useful columns'}. Possible columns: ${columns.join(', ')}.`,
        }),
      ),
    }),
    { description: '`null` or no body: all rows and columns in the default order of the list.' },
  )
}

/** Columns of the export of agents: the keys of the list, in its order. */
export const agentExportRow = Agent

const { vid, pid, guiVid, guiPid, devIcon, devIconDescription, agentsCount, peripheralsCount, ...findings } =
  PeripheralModel.properties

/** Columns of the export of peripherals by model: the keys of the list, in its order, and the number of approved devices. */
export const peripheralModelExportRow = closed({
  ...{ vid, pid, guiVid, guiPid, devIcon, devIconDescription, agentsCount, peripheralsCount },
  approvedCount: Type.Integer({ description: 'Number of attached devices that are approved.' }),
  ...findings,
})

/** Columns of a PDF that no columns were chosen for. They are readable on A4. */
export const pdfColumns = {
  agents: [
    'hostIdentifier',
    'localIpAddress',
    'displayStatusCombined',
    'severity',
    'riskScore',
    'notApproved',
    'osVersion',
    'serviceVersion',
    'lastUpdated',
    'hashtags',
  ] satisfies (keyof Agent)[],
  models: [
    'guiVid',
    'guiPid',
    'vid',
    'pid',
    'devIconDescription',
    'agentsCount',
    'peripheralsCount',
    'approvedCount',
    'isVulnerablePeripheral',
    'isKnownAttackTool',
    'firstSeen',
    'lastSeen',
  ] satisfies (keyof PeripheralModel | 'approvedCount')[],
  peripherals: [
    'hostIdentifier',
    'description',
    'guiVid',
    'serialNumber',
    'devIconDescription',
    'status',
    'decision',
    'severity',
    'lastSeen',
  ] satisfies (keyof Peripheral)[],
  events: [
    'creationTime',
    'occurredAt',
    'severityString',
    'eventEntityID',
    'description',
    'details',
    'hashtags',
  ] satisfies (keyof FleetEvent)[],
  connections: [
    'computerName',
    'platform',
    'userName',
    'isRegistered',
    'isConfirmed',
    'hostKeyTrust',
    'isOverrideDefaults',
    'hashtags',
    'createdAt',
  ] satisfies (keyof Connection)[],
} as const

/** Value in `columns` for all columns. */
export const everyColumn = '*'

const agentExportOf = [
  { ...agentFilters, GlobalSearch: listQuery.GlobalSearch },
  Object.keys(agentExportRow.properties),
] as const
const modelExportOf = [
  getPeripheralModels.query?.properties ?? {},
  Object.keys(peripheralModelExportRow.properties),
] as const

/** Columns of the export of connections: the keys of the list, without secrets. */
export const connectionExportRow = Connection

/** Columns of the export of the last polls of connections: the keys of the list. */
export const connectionStatusExportRow = ConnectionStatus

const connectionExportOf = [
  { ...connectionFilters, GlobalSearch: listQuery.GlobalSearch },
  Object.keys(connectionExportRow.properties),
] as const
const connectionStatusExportOf = [
  { ...connectionStatusFilters, GlobalSearch: listQuery.GlobalSearch },
  Object.keys(connectionStatusExportRow.properties),
] as const

const {
  acceptance: _acceptance,
  evidence: _evidence,
  vulnerabilities: _vulnerabilities,
  riskFactors: _riskFactors,
  ...flat
} = Peripheral.properties

/** Columns of the export of peripherals: the keys of the list, except arrays of objects and of sentences. `vulnerability` contains their text. */
export const peripheralExportRow = closed(flat)

/** Columns of the export of events: the keys of the list. */
export const eventExportRow = FleetEvent

const { fromEventId: _fromEventId, ...eventExportFilters } = eventFilters

export { eventExportFilters }

const peripheralExportOf = [
  { ...peripheralFilters, globalSearch: listQuery.GlobalSearch },
  Object.keys(peripheralExportRow.properties),
] as const
const eventExportOf = [
  { ...eventExportFilters, globalSearch: listQuery.GlobalSearch },
  Object.keys(eventExportRow.properties),
] as const

/** Maximum number of rows in a tagged PDF, which assistive technology can read as a table. */
export const maxTaggedRows = 2_000

const csvNotes =
  'The file follows RFC 4180, in UTF-8 with a byte order mark and CRLF line ends. The header row contains the response keys, or column names in the form `readable`. An apostrophe precedes each `=`, `+`, `-` or `@` that a spreadsheet could run as a formula: at the start of a text, or after a comma, semicolon, vertical bar, tab or line end in it, with or without spaces and quotes between. The file contains all rows as of one moment; `pageNumber` and `pageSize` are ignored. An account can run two exports at a time, with 20 more waiting. Further calls get 429 with Retry-After.'
const pdfNotes = (columns: readonly string[]) =>
  `The pages are A4, portrait or landscape. Columns that do not fit side by side continue on further pages, which repeat the first column. Without \`columns\`, the file contains ${columns.join(', ')}. A PDF can have ${maxPdfRows.toLocaleString('en')} rows. With more rows, the server returns 422; use the CSV export instead. Up to ${maxTaggedRows.toLocaleString('en')} rows, the PDF is tagged for assistive technology; a larger one says that it is not. The first page shows the filters, time, user, number of rows and a summary. An account can run two exports at a time, with 20 more waiting. Further calls get 429 with Retry-After. If other accounts keep the server busy, it returns 503 with Retry-After.`

const csv = { response: Type.String(), responseKind: 'file', fileType: 'text/csv' } as const

const pdf = {
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/pdf',
  errors: ['unprocessable'],
} as const

export const agentExportFile = operation({
  id: 'agentExportFile',
  method: 'GET',
  path: '/prime/webui/agents/AgentExportFile',
  tag: 'Agents',
  summary: 'Exports all hosts with all columns as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  query: closed({ form: Type.Optional(Type.Enum(exportForms, { description: formText('`fixed`') })) }),
  ...csv,
})

export const exportAgentCsv = operation({
  id: 'exportAgentCsv',
  method: 'POST',
  path: '/prime/webui/agents/exportagentcsv',
  tag: 'Agents',
  summary: 'Exports the list of hosts as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...agentExportOf, 'csv'),
  bodyOptional: true,
  ...csv,
  examples: {
    request: {
      status: 'Armed',
      sortBy: 'hostIdentifier_asc',
      columns: ['hostIdentifier', 'localIpAddress', 'severity'],
    },
  },
})

export const exportAgentPdf = operation({
  id: 'exportAgentPdf',
  method: 'POST',
  path: '/prime/webui/agents/exportagentpdf/exportpdf',
  tag: 'Agents',
  summary: 'Exports the list of hosts as PDF',
  description: pdfNotes(pdfColumns.agents),
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...agentExportOf, 'pdf'),
  bodyOptional: true,
  ...pdf,
  examples: { request: { hasKnownAttackTools: true, columns: ['hostIdentifier', 'localIpAddress', 'lastUpdated'] } },
})

export const peripheralsAggExport = operation({
  id: 'peripheralsAggExport',
  method: 'POST',
  path: '/prime/webui/agents/peripheralsAggExport',
  tag: 'Agents',
  summary: 'Exports devices by model (VID and PID) as CSV',
  description: `Takes the filters and sort keys of peripherals/models. ${csvNotes}`,
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...modelExportOf, 'csv'),
  bodyOptional: true,
  ...csv,
  examples: { request: { vendor: 'kingston', sortBy: 'agentsCount_desc' } },
})

export const peripheralsAggExportPdf = operation({
  id: 'peripheralsAggExportPdf',
  method: 'POST',
  path: '/prime/webui/agents/peripheralsAggExportpdf/exportpdf',
  tag: 'Agents',
  summary: 'Exports devices by model (VID and PID) as PDF',
  description: `Takes the filters and sort keys of peripherals/models. ${pdfNotes(pdfColumns.models)}`,
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...modelExportOf, 'pdf'),
  bodyOptional: true,
  ...pdf,
  examples: { request: { isVulnerablePeripheral: true } },
})

export const exportAgentlessCsv = operation({
  id: 'exportAgentlessCsv',
  method: 'POST',
  path: '/prime/webui/agents/agentless/exportagentlesscsv',
  tag: 'Agents',
  summary: 'Exports connections as CSV, without secrets',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...connectionExportOf, 'csv'),
  bodyOptional: true,
  ...csv,
  examples: { request: { platform: 'linux', columns: ['computerName', 'hashtags'] } },
})

export const exportAgentlessPdf = operation({
  id: 'exportAgentlessPdf',
  method: 'POST',
  path: '/prime/webui/agents/agentless/exportagentlesspdf',
  tag: 'Agents',
  summary: 'Exports connections as PDF, without secrets',
  description: pdfNotes(pdfColumns.connections),
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...connectionExportOf, 'pdf'),
  bodyOptional: true,
  ...pdf,
  examples: { request: { isRegistered: true } },
})

export const exportCsvConnections = operation({
  id: 'exportCsvConnections',
  method: 'POST',
  path: '/prime/webui/agents/agentless/exportcsvconnections',
  tag: 'Agents',
  summary: 'Exports the last poll of each connection as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...connectionStatusExportOf, 'csv'),
  bodyOptional: true,
  ...csv,
  examples: { request: { statusString: 'Failed', sortBy: 'computerName_asc' } },
})

export const exportPeripheralsCsv = operation({
  id: 'exportPeripheralsCsv',
  method: 'POST',
  path: '/prime/webui/peripherals/exportperipheralscsv',
  tag: 'Peripherals',
  summary: 'Exports the list of devices as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...peripheralExportOf, 'csv'),
  bodyOptional: true,
  ...csv,
  examples: { request: { present: true, isUnapprovedPeripheral: true, columns: ['hostIdentifier', 'deviceID'] } },
})

export const exportPeripheralsPdf = operation({
  id: 'exportPeripheralsPdf',
  method: 'POST',
  path: '/prime/webui/peripherals/exportperipheralspdf',
  tag: 'Peripherals',
  summary: 'Exports the list of devices as PDF',
  description: pdfNotes(pdfColumns.peripherals),
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...peripheralExportOf, 'pdf'),
  bodyOptional: true,
  ...pdf,
  examples: { request: { isKnownAttackTool: true, columns: ['hostIdentifier', 'description', 'lastSeen'] } },
})

export const exportEventsCsv = operation({
  id: 'exportEventsCsv',
  method: 'POST',
  path: '/prime/webui/events/exporteventscsv',
  tag: 'Events',
  summary: 'Exports events as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...eventExportOf, 'csv'),
  bodyOptional: true,
  ...csv,
  examples: { request: { minimumSeverity: 'Warning', fromDate: '2031-05-01' } },
})

export const exportEventsPdf = operation({
  id: 'exportEventsPdf',
  method: 'POST',
  path: '/prime/webui/events/exporteventspdf',
  tag: 'Events',
  summary: 'Exports events as PDF',
  description: pdfNotes(pdfColumns.events),
  permission: 'export:read',
  heavy: 'export',
  body: exportBody(...eventExportOf, 'pdf'),
  bodyOptional: true,
  ...pdf,
  examples: { request: { category: 'USB', columns: ['creationTime', 'eventEntityID', 'description'] } },
})
