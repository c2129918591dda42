/** The lists of files: exports and reports. */
import {
  columnsOf,
  filtersOf,
  type ListColumn,
  type ListDefinition,
  type ListFilter,
} from '@portcullis/platform/contract/list.ts'
import { listQuery } from '@portcullis/platform/contract/operation.ts'
import type { TSchema } from 'typebox'
import { connectionList, connectionStatusList } from '#features/agentless/contract/connection-lists.ts'
import { agentList } from '#features/agents/contract/agent-list.ts'
import { auditFileList } from '#features/audit/contract/audit-list.ts'
import { attackToolList, modelFileList, peripheralFileList } from '#features/devices/contract/device-lists.ts'
import { hostFindingList } from '#features/devices/contract/host-findings.ts'
import {
  agentErrorList,
  spoofedList,
  uncommonList,
  violationList,
  vulnerableList,
} from '#features/devices/contract/insight-lists.ts'
import { eventFileList } from '#features/events/contract/event-list.ts'
import { ruleList } from '#features/policy/contract/rule-lists.ts'

/** A list or insight that reports can contain. */
export type FileList = ListDefinition & { file: NonNullable<ListDefinition['file']> }

/** All lists and insights of reports, by their names in schedules. */
export const reportLists = {
  agents: agentList,
  peripherals: peripheralFileList,
  models: modelFileList,
  events: eventFileList,
  audit: auditFileList,
  rules: ruleList,
  connections: connectionList,
  connectionRuns: connectionStatusList,
  findings: hostFindingList,
  uncommon: uncommonList,
  vulnerable: vulnerableList,
  spoofed: spoofedList,
  violations: violationList,
  attackTools: attackToolList,
  agentErrors: agentErrorList,
} as const satisfies Record<string, FileList>
export type ReportListName = keyof typeof reportLists
export const reportListNames = Object.keys(reportLists) as ReportListName[]

const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)

/** Returns the filters of a list by their names in bodies, which begin with a small letter. */
export const bodyFilters = ({ filters }: Pick<ListDefinition, 'filters'>): Readonly<Record<string, TSchema>> =>
  Object.keys(filters).length === 0
    ? {}
    : Object.fromEntries(
        Object.entries({ ...filters, GlobalSearch: listQuery.GlobalSearch, Query: listQuery.Query }).map(
          ([name, schema]) => [lowerFirst(name), schema],
        ),
      )

/** A list as editors of schedules show it. */
export interface ReportTraits {
  title: string
  /** Label of the column that a period applies to. Empty: rows have no time. */
  time: string
  canSort: boolean
  columns: readonly ListColumn[]
  filters: readonly ListFilter[]
}

export const reportTraits = Object.fromEntries(
  reportListNames.map((name) => {
    const list: FileList = reportLists[name]
    const { title, row, file } = list
    const columns = columnsOf(row)
    const time = file.time === undefined ? '' : (columns[file.time]?.label ?? '')
    return [
      name,
      {
        title,
        time,
        canSort: file.isFixedOrder !== true,
        columns: Object.values(columns),
        filters: filtersOf({ row, filters: bodyFilters(list) }),
      },
    ]
  }),
) as unknown as Readonly<Record<ReportListName, ReportTraits>>
