import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { Quiet, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type ListTable, listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { type AuditRow, auditActionCodes, auditActions, auditAreas, auditList } from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'
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

/** The actions, grouped by their areas. */
const actions: Partial<Filter> = {
  values: auditAreas.flatMap((area) => auditActionCodes.filter((code) => auditActions[code].area === area)),
  labels: actionNames,
  groups: Object.fromEntries(auditActionCodes.map((code) => [code, areaNames[auditActions[code].area]])),
}

export const auditTable: ListTable<AuditRow> = {
  ...table,
  filters: table.filters.map((filter) => (filter.name === 'actions' ? { ...filter, ...actions } : filter)),
}

/** Returns the filters with the people of the trail as options. */
export const filtersWith = (people: readonly string[]): readonly Filter[] =>
  auditTable.filters.map((filter) =>
    filter.name === 'person' ? { ...filter, values: people, labels: { system: strings.portcullis } } : filter,
  )

/** The columns on a phone: the age instead of the exact time, so that the sentence has room. */
export const phoneColumns: readonly Column<AuditRow>[] = auditTable.columns.map((column) =>
  column.id === 'when' ? { ...column, width: 64, cell: (row) => <Time value={row.creationTime} /> } : column,
)
