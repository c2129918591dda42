import { type AuditRow, auditActionCodes, auditActions, auditAreas, auditList } from '@portcullis/contract'
import type { Filter, Option } from '@portcullis/platform/console/ui/filters/filter.ts'
import { eventSeverity } from '@portcullis/platform/console/ui/findings.ts'
import { Quiet, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type ListTable, listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { Sentence, Who } from './Sentence.tsx'
import { actionNames, areaNames } from './sentences.ts'
import { strings } from './strings.ts'

const table = listTable<AuditRow>(auditList, {
  what: (row) => (
    <>
      {row.outcome === 'failure' ? <SeverityTag severity="amber" word={strings.failure} /> : null}
      <Text clip>
        <Sentence row={row} />
        {row.reason === '' ? null : <Quiet> {strings.because({ reason: row.reason })}</Quiet>}
      </Text>
    </>
  ),
  person: (row) => <Who userName={row.userName} />,
  severity: (row) => <SeverityTag severity={eventSeverity(row.severity)} word={row.severityString} />,
  number: (row) => <span>{row.auditTrailID}</span>,
})

const withOptions = (filters: readonly Filter[], name: string, options: readonly Option[]): readonly Filter[] =>
  filters.map((filter) => (filter.name === name && filter.kind === 'choice' ? { ...filter, options } : filter))

const actionsByArea = auditAreas.flatMap((area) =>
  auditActionCodes
    .filter((code) => auditActions[code].area === area)
    .map((code) => ({ value: code, label: actionNames[code], group: areaNames[area] })),
)

export const auditTable: ListTable<AuditRow> = {
  ...table,
  filters: withOptions(table.filters, 'actions', actionsByArea),
}

/** Returns the filters with the people of the trail as options. */
export const filtersWith = (people: readonly string[]): readonly Filter[] =>
  withOptions(
    auditTable.filters,
    'person',
    people.map((value) => ({ value, label: value === 'system' ? strings.portcullis : value })),
  )

/** The columns on a phone: the age instead of the exact time, so that the sentence has room. */
export const phoneColumns: readonly Column<AuditRow>[] = auditTable.columns.map((column) =>
  column.id === 'when' ? { ...column, width: 64, cell: (row) => <Time value={row.creationTime} /> } : column,
)
