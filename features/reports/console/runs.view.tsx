import { type ReportRun, reportListNames, reportRunStates, reportTraits } from '@portcullis/contract'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { resultOf, stateLabels } from './labels.ts'
import { strings } from './strings.ts'

export const runFilters = [
  {
    name: 'state',
    label: strings.state,
    kind: 'choice',
    options: reportRunStates.map((value) => ({ value, label: stateLabels[value] })),
  },
  { name: 'scheduleId', label: strings.scheduleId, kind: 'text' },
] as const satisfies readonly Filter[]

export const runsView: ViewSpec = {
  filters: runFilters.map(({ name }) => name),
  defaultSort: 'dueAt_desc',
  defaultColumns: ['name', 'state', 'error', 'rows', 'bytes', 'by', 'due'],
}

/** Returns the first error of a run: of its file or of a delivery. */
const troubleOf = ({ error, deliveries }: ReportRun): string => {
  const failed = deliveries.find((delivery) => delivery.error !== '')
  return error !== '' || failed === undefined ? error : `${failed.target}: ${failed.error}`
}

export const RunState = ({ run }: { run: ReportRun }) => {
  const { word, isBad } = resultOf({ state: run.state, error: troubleOf(run) })
  return isBad ? (
    <Row as="span" gap={4} tone="red">
      <Icon name="warn" size={14} /> {word}
    </Row>
  ) : (
    <span>{word}</span>
  )
}

export const listTitle = (list: string): string => {
  const known = reportListNames.find((name) => name === list)
  return known === undefined ? list : reportTraits[known].title
}

export const runColumns: readonly Column<ReportRun>[] = [
  {
    id: 'name',
    title: strings.report,
    width: 180,
    grow: true,
    sortKey: 'name',
    cell: (run) => <DeviceText value={run.name} />,
  },
  { id: 'state', title: strings.state, width: 190, sortKey: 'state', cell: (run) => <RunState run={run} /> },
  {
    id: 'error',
    title: strings.problem,
    width: 180,
    grow: true,
    cell: (run) => <DeviceText value={troubleOf(run)} absent="" />,
  },
  { id: 'list', title: strings.list, width: 130, sortKey: 'list', cell: (run) => listTitle(run.list) },
  { id: 'format', title: strings.format, width: 60, sortKey: 'format', cell: (run) => run.format.toUpperCase() },
  {
    id: 'rows',
    title: strings.rows,
    width: 76,
    align: 'right',
    sortKey: 'rows',
    naturalSort: 'desc',
    cell: (run) => (run.fileName === '' ? '–' : run.rows.toLocaleString('en')),
  },
  {
    id: 'bytes',
    title: strings.size,
    width: 76,
    align: 'right',
    sortKey: 'bytes',
    naturalSort: 'desc',
    cell: (run) => (run.fileName === '' ? '–' : bytesText(run.bytes)),
  },
  {
    id: 'by',
    title: strings.by,
    width: 96,
    sortKey: 'by',
    cell: (run) => (run.reason === 'schedule' ? strings.bySchedule : <DeviceText value={run.by} />),
  },
  {
    id: 'due',
    title: strings.due,
    width: 76,
    align: 'right',
    sortKey: 'dueAt',
    naturalSort: 'desc',
    cell: (run) => <Time value={run.dueAt} />,
  },
  {
    id: 'ended',
    title: strings.ended,
    width: 76,
    align: 'right',
    sortKey: 'endedAt',
    naturalSort: 'desc',
    cell: (run) => <Time value={run.endedAt} />,
  },
]
