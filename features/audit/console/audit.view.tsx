import { type AuditRow, auditActionCodes, auditActions, auditAreas, severityNames } from '@portcullis/contract'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { eventSeverity } from '@portcullis/platform/console/ui/findings.ts'
import { Quiet, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { Sentence, Who } from './Sentence.tsx'
import { actionNames, areaNames } from './sentences.ts'
import { strings } from './strings.ts'

/** Filters of the audit trail, by their API names. The page adds the people. */
export const auditFilters = [
  { name: 'person', label: strings.person, kind: 'choice', single: true, options: [] },
  { name: 'time', label: strings.time, kind: 'period' },
  {
    name: 'area',
    label: strings.area,
    kind: 'choice',
    options: auditAreas.map((area) => ({ value: area, label: areaNames[area] })),
  },
  {
    name: 'actions',
    label: strings.action,
    kind: 'choice',
    options: auditAreas.flatMap((area) =>
      auditActionCodes
        .filter((code) => auditActions[code].area === area)
        .map((code) => ({ value: code, label: actionNames[code], group: areaNames[area] })),
    ),
  },
  { name: 'host', label: strings.host, kind: 'text' },
  { name: 'device', label: strings.device, kind: 'text' },
  { name: 'rule', label: strings.rule, kind: 'text' },
  { name: 'account', label: strings.account, kind: 'text' },
  {
    name: 'outcome',
    label: strings.outcome,
    kind: 'choice',
    single: true,
    options: [
      { value: 'success', label: strings.success },
      { value: 'failure', label: strings.failure },
    ],
  },
  {
    name: 'minimumSeverity',
    label: strings.minimumSeverity,
    kind: 'choice',
    single: true,
    options: severityNames.slice(0, 7).map((name) => ({ value: name, label: name })),
  },
] as const satisfies readonly Filter[]

/** Returns the filters with the people of the trail as options. */
export const filtersWith = (people: readonly string[]): readonly Filter[] =>
  auditFilters.map((filter) =>
    filter.name === 'person'
      ? {
          ...filter,
          options: people.map((value) => ({ value, label: value === 'system' ? strings.portcullis : value })),
        }
      : filter,
  )

export const auditView: ViewSpec = {
  filters: auditFilters.map(({ name }) => name),
  defaultSort: 'creationTime_desc',
  defaultColumns: ['when', 'what'],
}

export const auditColumns: readonly Column<AuditRow>[] = [
  {
    id: 'when',
    title: strings.when,
    width: 196,
    exportKeys: ['creationTime'],
    sortKey: 'creationTime',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.creationTime} form="local" />,
  },
  {
    id: 'what',
    title: strings.what,
    width: 200,
    grow: true,
    exportKeys: ['userName', 'action', 'entity', 'details', 'outcome'],
    cell: (row) => (
      <>
        {row.outcome === 'failure' ? <SeverityTag severity="amber" word={strings.failure} /> : null}
        <Text clip>
          <Sentence row={row} />
          {row.reason === '' ? null : <Quiet> {strings.because({ reason: row.reason })}</Quiet>}
        </Text>
      </>
    ),
  },
  {
    id: 'person',
    title: strings.person,
    width: 140,
    exportKeys: ['userName'],
    cell: (row) => <Who userName={row.userName} />,
  },
  {
    id: 'severity',
    title: strings.severity,
    width: 118,
    exportKeys: ['severityString'],
    cell: (row) => <SeverityTag severity={eventSeverity(row.severity)} word={row.severityString} />,
  },
  {
    id: 'address',
    title: strings.address,
    width: 140,
    exportKeys: ['sourceIp'],
    cell: (row) => <code>{row.sourceIp}</code>,
  },
  {
    id: 'number',
    title: strings.number,
    width: 90,
    align: 'right',
    sortKey: 'auditTrailID',
    naturalSort: 'desc',
    cell: (row) => <span>{row.auditTrailID}</span>,
  },
]

/** The columns on a phone: the age instead of the exact time, so that the sentence has room. */
export const phoneColumns: readonly Column<AuditRow>[] = auditColumns.map((column) =>
  column.id === 'when' ? { ...column, width: 64, cell: (row) => <Time value={row.creationTime} /> } : column,
)
