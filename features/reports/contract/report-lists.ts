/** The lists and insights of reports, each with its columns and filters. */

import { textFilter } from '@portcullis/platform/contract/filters.ts'
import { closed, listQuery, utcTime } from '@portcullis/platform/contract/operation.ts'
import type { Permission } from '@portcullis/platform/contract/permissions.ts'
import { type TObject, type TSchema, Type } from 'typebox'
import { connectionFilters, connectionStatusFilters } from '#features/agentless/contract/agentless.ts'
import { agentFilters } from '#features/agents/contract/agents.ts'
import { AuditRecord } from '#features/audit/contract/audit.ts'
import { auditFilters } from '#features/audit/contract/audit-list.ts'
import {
  SpoofedIdentity,
  UncommonPeripheral,
  VulnerablePeripheral,
  WhitelistViolation,
} from '#features/devices/contract/insights.ts'
import { getPeripheralModels, peripheralFilters } from '#features/devices/contract/peripherals.ts'
import { PolicyRuleResource, ruleFilters } from '#features/policy/contract/policy.ts'
import { columnLabels, columnName } from './column-labels.ts'
import {
  agentExportRow,
  connectionExportRow,
  connectionStatusExportRow,
  eventExportFilters,
  eventExportRow,
  lowerFirst,
  pdfColumns,
  peripheralExportRow,
  peripheralModelExportRow,
} from './exports.ts'

/** A list or insight that reports can contain. */
export interface ReportList {
  /** Display name. */
  title: string
  /** Columns in order. */
  row: TObject
  /** Columns of a PDF that no columns were chosen for. */
  pdfColumns: readonly string[]
  /** Filters by their names in schedules. */
  filters: Readonly<Record<string, TSchema>>
  /** Permission that the owner of a schedule needs. */
  permission: Permission
  /** Column that a period applies to. `null`: rows have no time. */
  time: string | null
  /** True if the sort order can be chosen. */
  canSort: boolean
}

const filtersOf = (query: Readonly<Record<string, TSchema>>): Record<string, TSchema> =>
  Object.fromEntries(
    Object.entries({ ...query, GlobalSearch: listQuery.GlobalSearch })
      .filter(([name]) => !/^(page(number|size)|sortby)$/i.test(name))
      .map(([name, schema]) => [lowerFirst(name), schema]),
  )

const joined = (description: string) => Type.String({ description })
const hosts = joined('Names of at most 20 hosts, separated by `; `.')

const { agents: _uncommonAgents, devIcon: _uncommonIcon, ...uncommon } = UncommonPeripheral.properties
const {
  agents: _vulnerableAgents,
  devIcon: _vulnerableIcon,
  vulnerabilities: _ids,
  ...vulnerable
} = VulnerablePeripheral.properties
const {
  agents: _spoofedAgents,
  devIcon: _spoofedIcon,
  diff: _diff,
  consensus: _consensus,
  evidence: _evidence,
  ...spoofed
} = SpoofedIdentity.properties
const { devIcon: _violationIcon, ...violation } = WhitelistViolation.properties
const { isKnownAttackTool: _isKnownAttackTool, ...attackToolFilters } = peripheralFilters
const none = {} as const

// Columns of reports whose rows differ from those of the list.
const uncommonRow = closed({ ...uncommon, hosts })
const vulnerableRow = closed({ ...vulnerable, vulnerabilities: joined('IDs, separated by `; `.'), hosts })
const spoofedRow = closed({ ...spoofed, evidence: joined('Differences, separated by `; `.'), hosts })
const violationRow = closed(violation)
const errorRow = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  localIpAddress: Type.String(),
  errorsCount: Type.Integer({ minimum: 1 }),
  lastErrorTime: utcTime('Time at which the server received the last error.'),
  lastError: Type.String(),
})

/** All lists and insights of reports, by their names in schedules. */
export const reportLists = {
  agents: {
    title: 'Hosts',
    row: agentExportRow,
    pdfColumns: pdfColumns.agents,
    filters: filtersOf(agentFilters),
    permission: 'export:read',
    time: 'lastUpdated',
    canSort: true,
  },
  peripherals: {
    title: 'Devices',
    row: peripheralExportRow,
    pdfColumns: pdfColumns.peripherals,
    filters: filtersOf(peripheralFilters),
    permission: 'export:read',
    time: 'lastSeen',
    canSort: true,
  },
  models: {
    title: 'Devices by model',
    row: peripheralModelExportRow,
    pdfColumns: pdfColumns.models,
    filters: filtersOf(getPeripheralModels.query?.properties ?? {}),
    permission: 'export:read',
    time: 'lastSeen',
    canSort: true,
  },
  events: {
    title: 'Events',
    row: eventExportRow,
    pdfColumns: pdfColumns.events,
    filters: filtersOf(eventExportFilters),
    permission: 'export:read',
    time: 'creationTime',
    canSort: true,
  },
  audit: {
    title: 'Audit trail',
    row: AuditRecord,
    pdfColumns: ['creationTime', 'userName', 'action', 'entity', 'details', 'outcome'],
    filters: filtersOf({
      ...auditFilters,
      FromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Start time, inclusive.' })),
      userName: textFilter('userName'),
      action: textFilter('action'),
      entity: textFilter('entity'),
    }),
    permission: 'audit:read',
    time: 'creationTime',
    canSort: true,
  },
  rules: {
    title: 'Rules',
    row: PolicyRuleResource,
    pdfColumns: ['effect', 'level', 'sentence', 'reason', 'state', 'expiresAt', 'changedBy', 'changedAt'],
    filters: filtersOf(ruleFilters),
    permission: 'export:read',
    time: 'changedAt',
    canSort: true,
  },
  connections: {
    title: 'Agentless hosts',
    row: connectionExportRow,
    pdfColumns: pdfColumns.connections,
    filters: filtersOf(connectionFilters),
    permission: 'export:read',
    time: null,
    canSort: true,
  },
  connectionRuns: {
    title: 'Polls of agentless hosts',
    row: connectionStatusExportRow,
    pdfColumns: [
      'computerName',
      'statusString',
      'statusDescription',
      'cause',
      'peripheralsCount',
      'failures',
      'startTime',
      'nextRun',
    ],
    filters: filtersOf(connectionStatusFilters),
    permission: 'export:read',
    time: 'startTime',
    canSort: true,
  },
  uncommon: {
    title: 'Uncommon devices',
    row: uncommonRow,
    pdfColumns: [
      'guiVid',
      'guiPid',
      'vid',
      'pid',
      'devIconDescription',
      'agentsCount',
      'share',
      'isKnownAttackTool',
      'lastSeen',
      'hosts',
    ],
    filters: none,
    permission: 'export:read',
    time: null,
    canSort: false,
  },
  vulnerable: {
    title: 'Vulnerable devices',
    row: vulnerableRow,
    pdfColumns: [
      'guiVid',
      'guiPid',
      'vid',
      'pid',
      'vulnerabilities',
      'agentsCount',
      'peripheralsCount',
      'lastSeen',
      'hosts',
    ],
    filters: none,
    permission: 'export:read',
    time: null,
    canSort: false,
  },
  spoofed: {
    title: 'Spoofed identities',
    row: spoofedRow,
    pdfColumns: ['level', 'guiVid', 'guiPid', 'vid', 'pid', 'evidence', 'agentsCount', 'lastSeen', 'hosts'],
    filters: none,
    permission: 'export:read',
    time: null,
    canSort: false,
  },
  violations: {
    title: 'Devices not on the allowlist',
    row: violationRow,
    pdfColumns: [
      'guiVid',
      'guiPid',
      'vid',
      'pid',
      'serialNumber',
      'devIconDescription',
      'agentsCount',
      'enforced',
      'isKnownAttackTool',
      'lastSeen',
    ],
    filters: none,
    permission: 'export:read',
    time: 'lastSeen',
    canSort: false,
  },
  attackTools: {
    title: 'Attack tools',
    row: peripheralExportRow,
    pdfColumns: [
      'hostIdentifier',
      'description',
      'guiVid',
      'serialNumber',
      'attackTool',
      'status',
      'decision',
      'lastSeen',
    ],
    filters: filtersOf(attackToolFilters),
    permission: 'export:read',
    time: 'lastSeen',
    canSort: true,
  },
  agentErrors: {
    title: 'Agent errors',
    row: errorRow,
    pdfColumns: ['hostIdentifier', 'localIpAddress', 'errorsCount', 'lastErrorTime', 'lastError'],
    filters: none,
    permission: 'export:read',
    time: 'lastErrorTime',
    canSort: false,
  },
} as const satisfies Record<string, ReportList>
export type ReportListName = keyof typeof reportLists
export const reportListNames = Object.keys(reportLists) as ReportListName[]

type FilterKinds = Readonly<Record<string, string>>
const kindsOf = (filters: Readonly<Record<string, TSchema & { 'x-filter'?: string }>>): FilterKinds =>
  Object.fromEntries(Object.entries(filters).map(([name, schema]) => [name, schema['x-filter'] ?? 'text']))

/** Title, time column and sortability of each list, for the console. */
export const reportTraits = Object.fromEntries(
  reportListNames.map((name) => {
    const { title, time, canSort }: ReportList = reportLists[name]
    return [name, { title, time: time ?? '', canSort }]
  }),
) as Readonly<Record<ReportListName, { title: string; time: string; canSort: boolean }>>

/** Columns of each list. */
export const reportColumns: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  reportListNames.map((name) => [name, Object.keys(reportLists[name].row.properties)]),
)

/** Names of the columns and filters of each list, by key. */
export const reportNames: Readonly<Record<ReportListName, Readonly<Record<string, string>>>> = Object.fromEntries(
  reportListNames.map((list) => {
    const { row, filters }: ReportList = reportLists[list]
    const columns = Object.entries(columnLabels(row)).map(([key, { name }]) => [key, name] as const)
    const others = Object.keys(filters).map((key) => [key, columnName(key)] as const)
    return [list, { ...Object.fromEntries(others), ...Object.fromEntries(columns) }]
  }),
) as Record<ReportListName, Record<string, string>>

/** Filter kinds of each list with filters. */
export const reportFilterKinds: Readonly<Partial<Record<ReportListName, FilterKinds>>> = Object.fromEntries(
  reportListNames.flatMap((name) => {
    const kinds = kindsOf(reportLists[name].filters)
    return Object.keys(kinds).length === 0 ? [] : [[name, kinds]]
  }),
)
