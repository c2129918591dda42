/**
 * Lists as files. An export takes the list's own filters, sort and columns and holds every row that the filters leave,
 * as of one moment.
 */
import { type TSchema, Type } from 'typebox'
import { Connection, ConnectionStatus, connectionFilters, connectionStatusFilters } from './agentless.ts'
import { Agent, agentFilters } from './agents.ts'
import { eventFilters, FleetEvent } from './events.ts'
import { closed, listQuery, nullable, operation } from './operation.ts'
import { getPeripheralModels, Peripheral, PeripheralModel, peripheralFilters } from './peripherals.ts'

/** Rows a PDF holds at most; CSV has no limit. */
export const maxPdfRows = 10_000

export const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)

/** A filter of a query as a member of a body: null is as if absent, numbers and booleans need no quotes. */
const inBody = (schema: TSchema): TSchema => {
  const { 'x-filter': kind, ...text } = schema as TSchema & { 'x-filter'?: string; description?: string }
  const plain: TSchema[] = kind === 'boolean' ? [Type.Boolean()] : kind === 'number' ? [Type.Integer()] : []
  return Type.Optional(
    Type.Union([Type.String({ maxLength: 2048 }), ...plain, Type.Null()], {
      description: text.description ?? '',
    }),
  )
}

/** Paging of a list in the body of an export: clients send the whole query of the list. */
const ignored = Type.Optional(
  Type.Union([Type.Integer(), Type.String({ maxLength: 32 }), Type.Null()], {
    description: 'Accepted and ignored: a file holds every row.',
  }),
)

/** Body of an export: filters by the names of the list's query, `sortBy`, `columns`. */
const exportBody = (query: Readonly<Record<string, TSchema>>, columns: readonly string[]) => {
  const filters = Object.entries(query).filter(([name]) => !/^(page(number|size)|sortby)$/i.test(name))
  return nullable(
    closed({
      ...Object.fromEntries(filters.map(([name, schema]) => [lowerFirst(name), inBody(schema)])),
      sortBy: Type.Optional(nullable(Type.String({ maxLength: 100 }), { description: 'As SortBy of the list.' })),
      pageNumber: ignored,
      pageSize: ignored,
      columns: Type.Optional(
        nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200 }), {
          description: `Columns in the order they are to have, any case, each once; \`*\` alone = all; null or empty = all, in the PDF of agents the ten most useful ones: ${columns.join(', ')}.`,
        }),
      ),
    }),
    { description: 'Null or none = every row and every column, in the default order of the list.' },
  )
}

/** Columns of an export of agents: the keys of the list, in its order. */
export const agentExportRow = Agent

const { vid, pid, guiVid, guiPid, devIcon, devIconDescription, agentsCount, peripheralsCount, ...findings } =
  PeripheralModel.properties

/** Columns of an export of peripherals by model: the keys of the list, in its order, and how many are approved. */
export const peripheralModelExportRow = closed({
  ...{ vid, pid, guiVid, guiPid, devIcon, devIconDescription, agentsCount, peripheralsCount },
  approvedCount: Type.Integer({ description: 'Present devices that are not unapproved.' }),
  ...findings,
})

/** Columns of a PDF of agents when none are chosen: as many as are readable on A4. */
export const agentPdfColumns = [
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
] as const satisfies readonly (keyof Agent)[]

/** The name in `columns` that means every column. */
export const everyColumn = '*'

const agentExportBody = exportBody(
  { ...agentFilters, GlobalSearch: listQuery.GlobalSearch },
  Object.keys(agentExportRow.properties),
)
const modelExportBody = exportBody(
  getPeripheralModels.query?.properties ?? {},
  Object.keys(peripheralModelExportRow.properties),
)

/** Columns of an export of connections: the keys of the list. A secret is none of them. */
export const connectionExportRow = Connection

/** Columns of an export of the last runs of connections: the keys of the list. */
export const connectionStatusExportRow = ConnectionStatus

const connectionExportBody = exportBody(
  { ...connectionFilters, GlobalSearch: listQuery.GlobalSearch },
  Object.keys(connectionExportRow.properties),
)
const connectionStatusExportBody = exportBody(
  { ...connectionStatusFilters, GlobalSearch: listQuery.GlobalSearch },
  Object.keys(connectionStatusExportRow.properties),
)

const {
  evidence: _evidence,
  vulnerabilities: _vulnerabilities,
  riskFactors: _riskFactors,
  ...flat
} = Peripheral.properties

/** Columns of an export of peripherals: the keys of the list but for those that are lists themselves; `vulnerability` has their words. */
export const peripheralExportRow = closed(flat)

/** Columns of an export of events: the keys of the list. */
export const eventExportRow = FleetEvent

const { fromEventId: _fromEventId, ...eventExportFilters } = eventFilters

export { eventExportFilters }

const peripheralExportBody = exportBody(
  { ...peripheralFilters, globalSearch: listQuery.GlobalSearch },
  Object.keys(peripheralExportRow.properties),
)
const eventExportBody = exportBody(
  { ...eventExportFilters, globalSearch: listQuery.GlobalSearch },
  Object.keys(eventExportRow.properties),
)

const csvNotes =
  'RFC 4180, UTF-8 with a byte order mark, CRLF; the header row has the response keys. A text that a spreadsheet would run as a formula begins with an apostrophe. Rows are of one moment. A file holds every row; pageNumber and pageSize are accepted and ignored. One account runs two exports at once and has 20 more wait; beyond that 429 with Retry-After.'
const pdfNotes = `At most ${maxPdfRows} rows; above that 422, take the CSV. The first page says filter, time, user and number of rows. One account runs two exports at once and has 20 more wait; beyond that 429 with Retry-After. 503 with Retry-After while other accounts keep the server busy.`

const csv = { response: Type.String(), responseKind: 'file', fileType: 'text/csv' } as const
const agentPdfNotes = `A4, landscape, with the columns ${agentPdfColumns.join(', ')}. Name others in \`columns\`, or \`*\` for all: the paper then is as large as they need. ${pdfNotes}`

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
  summary: 'Exports all agents with all columns as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  ...csv,
})

export const exportAgentCsv = operation({
  id: 'exportAgentCsv',
  method: 'POST',
  path: '/prime/webui/agents/exportagentcsv',
  tag: 'Agents',
  summary: 'Exports the agents list as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: agentExportBody,
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
  summary: 'Exports the agents list as PDF',
  description: agentPdfNotes,
  permission: 'export:read',
  heavy: 'export',
  body: agentExportBody,
  bodyOptional: true,
  ...pdf,
  examples: { request: { hasKnownAttackTools: true, columns: ['hostIdentifier', 'localIpAddress', 'lastUpdated'] } },
})

export const peripheralsAggExport = operation({
  id: 'peripheralsAggExport',
  method: 'POST',
  path: '/prime/webui/agents/peripheralsAggExport',
  tag: 'Agents',
  summary: 'Exports peripherals by model (vendor and product id) as CSV',
  description: `Filters and sort keys are those of peripherals/models. ${csvNotes}`,
  permission: 'export:read',
  heavy: 'export',
  body: modelExportBody,
  bodyOptional: true,
  ...csv,
  examples: { request: { vendor: 'kingston', sortBy: 'agentsCount_desc' } },
})

export const peripheralsAggExportPdf = operation({
  id: 'peripheralsAggExportPdf',
  method: 'POST',
  path: '/prime/webui/agents/peripheralsAggExportpdf/exportpdf',
  tag: 'Agents',
  summary: 'Exports peripherals by model (vendor and product id) as PDF',
  description: `Filters and sort keys are those of peripherals/models. ${pdfNotes}`,
  permission: 'export:read',
  heavy: 'export',
  body: modelExportBody,
  bodyOptional: true,
  ...pdf,
  examples: { request: { isVulnerablePeripheral: true } },
})

export const exportAgentlessCsv = operation({
  id: 'exportAgentlessCsv',
  method: 'POST',
  path: '/prime/webui/agents/agentless/exportagentlesscsv',
  tag: 'Agents',
  summary: 'Exports connections as CSV; never a secret',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: connectionExportBody,
  bodyOptional: true,
  ...csv,
  examples: { request: { platform: 'linux', columns: ['computerName', 'hashtags'] } },
})

export const exportAgentlessPdf = operation({
  id: 'exportAgentlessPdf',
  method: 'POST',
  path: '/prime/webui/agents/agentless/exportagentlesspdf',
  tag: 'Agents',
  summary: 'Exports connections as PDF; never a secret',
  description: pdfNotes,
  permission: 'export:read',
  heavy: 'export',
  body: connectionExportBody,
  bodyOptional: true,
  ...pdf,
  examples: { request: { isRegistered: true } },
})

export const exportCsvConnections = operation({
  id: 'exportCsvConnections',
  method: 'POST',
  path: '/prime/webui/agents/agentless/exportcsvconnections',
  tag: 'Agents',
  summary: 'Exports the last run of each connection as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: connectionStatusExportBody,
  bodyOptional: true,
  ...csv,
  examples: { request: { statusString: 'Failed', sortBy: 'computerName_asc' } },
})

export const exportPeripheralsCsv = operation({
  id: 'exportPeripheralsCsv',
  method: 'POST',
  path: '/prime/webui/peripherals/exportperipheralscsv',
  tag: 'Peripherals',
  summary: 'Exports the peripherals list as CSV',
  description: csvNotes,
  permission: 'export:read',
  heavy: 'export',
  body: peripheralExportBody,
  bodyOptional: true,
  ...csv,
  examples: { request: { present: true, isUnapprovedPeripheral: true, columns: ['hostIdentifier', 'deviceID'] } },
})

export const exportPeripheralsPdf = operation({
  id: 'exportPeripheralsPdf',
  method: 'POST',
  path: '/prime/webui/peripherals/exportperipheralspdf',
  tag: 'Peripherals',
  summary: 'Exports the peripherals list as PDF',
  description: pdfNotes,
  permission: 'export:read',
  heavy: 'export',
  body: peripheralExportBody,
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
  body: eventExportBody,
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
  description: pdfNotes,
  permission: 'export:read',
  heavy: 'export',
  body: eventExportBody,
  bodyOptional: true,
  ...pdf,
  examples: { request: { category: 'USB', columns: ['creationTime', 'eventEntityID', 'description'] } },
})
