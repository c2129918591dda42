/**
 * Exports of lists as files. An export takes the filters, sort order and columns of its list. It contains all matching
 * rows, as of one moment.
 */

import { closed, nullable, operation } from '@portcullis/platform/contract/operation.ts'
import { type TSchema, Type } from 'typebox'
import { bodyFilters, type FileList, reportLists } from './report-lists.ts'

/** Maximum number of rows in a PDF. CSV has no limit. */
export const maxPdfRows = 10_000

/** Converts a query filter to a body field. `null` is the same as absent; numbers and booleans need no quotes. */
const inBody = (schema: TSchema): TSchema => {
  const { 'x-filter': kind, ...text } = schema as TSchema & { 'x-filter'?: string; description?: string }
  const plain: TSchema[] =
    kind === 'boolean' ? [Type.Boolean()] : kind === 'number' || kind === 'id' ? [Type.Integer()] : []
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
const exportBody = (list: FileList, file: 'csv' | 'pdf') => {
  const form: Record<string, TSchema> = file === 'csv' ? { form: exportForm('`fixed`') } : {}
  return nullable(
    closed({
      ...form,
      ...Object.fromEntries(Object.entries(bodyFilters(list)).map(([name, schema]) => [name, inBody(schema)])),
      sortBy: Type.Optional(
        nullable(Type.String({ maxLength: 100 }), { description: 'Sort order, as in `SortBy` of the list.' }),
      ),
      pageNumber: ignored,
      pageSize: ignored,
      columns: Type.Optional(
        nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200 }), {
          description: `Columns in the desired order, each once, ignoring case. \`*\` alone: all columns. \`null\` or empty: ${file === 'csv' ? 'all columns' : 'the most useful columns'}. Possible columns: ${Object.keys(list.row.properties).join(', ')}.`,
        }),
      ),
    }),
    { description: '`null` or no body: all rows and columns in the default order of the list.' },
  )
}

/** Value in `columns` for all columns. */
export const everyColumn = '*'

/** Maximum number of rows in a tagged PDF, which assistive technology can read as a table. */
export const maxTaggedRows = 2_000

const csvNotes =
  'The file follows RFC 4180, in UTF-8 with a byte order mark and CRLF line ends. The header row contains the response keys, or column names in the form `readable`. An apostrophe precedes each `=`, `+`, `-` or `@` that a spreadsheet could run as a formula: at the start of a text, or after a comma, semicolon, vertical bar, tab or line end in it, with or without spaces and quotes between. The file contains all rows as of one moment; `pageNumber` and `pageSize` are ignored. An account can run two exports at a time, with 20 more waiting. Further calls get 429 with Retry-After.'
const pdfNotes = ({ file: { pdf: columns } }: FileList): string =>
  `The pages are A4, portrait or landscape. Columns that do not fit side by side continue on further pages, which repeat the first column. Without \`columns\`, the file contains ${columns.join(', ')}. A PDF can have ${maxPdfRows.toLocaleString('en')} rows. With more rows, the server returns 422; use the CSV export instead. Up to ${maxTaggedRows.toLocaleString('en')} rows, the PDF is tagged for assistive technology; a larger one says that it is not. The first page shows the filters, time, user, number of rows and a summary. An account can run two exports at a time, with 20 more waiting. Further calls get 429 with Retry-After. If other accounts keep the server busy, it returns 503 with Retry-After.`

const csv = {
  method: 'POST',
  permission: 'export:read',
  heavy: 'export',
  bodyOptional: true,
  response: Type.String(),
  responseKind: 'file',
  fileType: 'text/csv',
} as const

const pdf = {
  method: 'POST',
  permission: 'export:read',
  heavy: 'export',
  bodyOptional: true,
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
  response: Type.String(),
  responseKind: 'file',
  fileType: 'text/csv',
})

export const exportAgentCsv = operation({
  id: 'exportAgentCsv',
  path: '/prime/webui/agents/exportagentcsv',
  tag: 'Agents',
  summary: 'Exports the list of hosts as CSV',
  description: csvNotes,
  body: exportBody(reportLists.agents, 'csv'),
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
  path: '/prime/webui/agents/exportagentpdf/exportpdf',
  tag: 'Agents',
  summary: 'Exports the list of hosts as PDF',
  description: pdfNotes(reportLists.agents),
  body: exportBody(reportLists.agents, 'pdf'),
  ...pdf,
  examples: { request: { hasKnownAttackTools: true, columns: ['hostIdentifier', 'localIpAddress', 'lastUpdated'] } },
})

export const peripheralsAggExport = operation({
  id: 'peripheralsAggExport',
  path: '/prime/webui/agents/peripheralsAggExport',
  tag: 'Agents',
  summary: 'Exports devices by model (VID and PID) as CSV',
  description: `Takes the filters and sort keys of peripherals/models. ${csvNotes}`,
  body: exportBody(reportLists.models, 'csv'),
  ...csv,
  examples: { request: { vendor: 'kingston', sortBy: 'agentsCount_desc' } },
})

export const peripheralsAggExportPdf = operation({
  id: 'peripheralsAggExportPdf',
  path: '/prime/webui/agents/peripheralsAggExportpdf/exportpdf',
  tag: 'Agents',
  summary: 'Exports devices by model (VID and PID) as PDF',
  description: `Takes the filters and sort keys of peripherals/models. ${pdfNotes(reportLists.models)}`,
  body: exportBody(reportLists.models, 'pdf'),
  ...pdf,
  examples: { request: { isVulnerablePeripheral: true } },
})

export const exportAgentlessCsv = operation({
  id: 'exportAgentlessCsv',
  path: '/prime/webui/agents/agentless/exportagentlesscsv',
  tag: 'Agents',
  summary: 'Exports connections as CSV, without secrets',
  description: csvNotes,
  body: exportBody(reportLists.connections, 'csv'),
  ...csv,
  examples: { request: { platform: 'linux', columns: ['computerName', 'hashtags'] } },
})

export const exportAgentlessPdf = operation({
  id: 'exportAgentlessPdf',
  path: '/prime/webui/agents/agentless/exportagentlesspdf',
  tag: 'Agents',
  summary: 'Exports connections as PDF, without secrets',
  description: pdfNotes(reportLists.connections),
  body: exportBody(reportLists.connections, 'pdf'),
  ...pdf,
  examples: { request: { isRegistered: true } },
})

export const exportCsvConnections = operation({
  id: 'exportCsvConnections',
  path: '/prime/webui/agents/agentless/exportcsvconnections',
  tag: 'Agents',
  summary: 'Exports the last poll of each connection as CSV',
  description: csvNotes,
  body: exportBody(reportLists.connectionRuns, 'csv'),
  ...csv,
  examples: { request: { statusString: 'Failed', sortBy: 'computerName_asc' } },
})

export const exportPeripheralsCsv = operation({
  id: 'exportPeripheralsCsv',
  path: '/prime/webui/peripherals/exportperipheralscsv',
  tag: 'Peripherals',
  summary: 'Exports the list of devices as CSV',
  description: csvNotes,
  body: exportBody(reportLists.peripherals, 'csv'),
  ...csv,
  examples: { request: { present: true, isUnapprovedPeripheral: true, columns: ['hostIdentifier', 'deviceID'] } },
})

export const exportPeripheralsPdf = operation({
  id: 'exportPeripheralsPdf',
  path: '/prime/webui/peripherals/exportperipheralspdf',
  tag: 'Peripherals',
  summary: 'Exports the list of devices as PDF',
  description: pdfNotes(reportLists.peripherals),
  body: exportBody(reportLists.peripherals, 'pdf'),
  ...pdf,
  examples: { request: { isKnownAttackTool: true, columns: ['hostIdentifier', 'description', 'lastSeen'] } },
})

export const exportEventsCsv = operation({
  id: 'exportEventsCsv',
  path: '/prime/webui/events/exporteventscsv',
  tag: 'Events',
  summary: 'Exports events as CSV',
  description: csvNotes,
  body: exportBody(reportLists.events, 'csv'),
  ...csv,
  examples: { request: { minimumSeverity: 'Warning', fromDate: '2031-05-01' } },
})

export const exportEventsPdf = operation({
  id: 'exportEventsPdf',
  path: '/prime/webui/events/exporteventspdf',
  tag: 'Events',
  summary: 'Exports events as PDF',
  description: pdfNotes(reportLists.events),
  body: exportBody(reportLists.events, 'pdf'),
  ...pdf,
  examples: { request: { category: 'USB', columns: ['creationTime', 'eventEntityID', 'description'] } },
})
