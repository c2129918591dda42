import { type HealthChange, healthStatuses, subsystemNames } from '@portcullis/contract'
import { durationText, parseTime } from '@portcullis/platform/console/lib/time.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { healthWords } from '@portcullis/platform/console/ui/health-labels.ts'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { Status } from './Status.tsx'
import { strings } from './strings.ts'

/** Filters of the list of changes, by the names of the API. */
export const changeFilters = [
  {
    name: 'subsystem',
    label: strings.part,
    kind: 'choice',
    options: subsystemNames.map((value) => ({ value, label: value })),
  },
  {
    name: 'status',
    label: strings.newState,
    kind: 'choice',
    options: healthStatuses.map((value) => ({ value, label: healthWords[value] })),
  },
  { name: 'at', label: strings.when, kind: 'period' },
  { name: 'description', label: strings.finding, kind: 'text' },
] as const satisfies readonly Filter[]

export const changesView: ViewSpec = {
  filters: changeFilters.map(({ name }) => name),
  defaultSort: 'at_desc',
  defaultColumns: ['when', 'part', 'from', 'to', 'lasted', 'seen'],
}

const lasted = ({ at, endedAt }: HealthChange): string => {
  const from = parseTime(at)
  const to = parseTime(endedAt)
  return from === null || to === null ? strings.ongoing : durationText(Math.max(0, (to - from) / 1000))
}

export const changeColumns: readonly Column<HealthChange>[] = [
  {
    id: 'when',
    title: strings.when,
    width: 208,
    sortKey: 'at',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.at} form="local" />,
  },
  { id: 'part', title: strings.part, width: 130, sortKey: 'subsystem', cell: (row) => row.subsystem },
  { id: 'from', title: strings.oldState, width: 150, sortKey: 'previous', cell: (row) => healthWords[row.previous] },
  { id: 'to', title: strings.newState, width: 156, sortKey: 'status', cell: (row) => <Status status={row.status} /> },
  { id: 'lasted', title: strings.duration, width: 96, align: 'right', cell: lasted },
  {
    id: 'seen',
    title: strings.finding,
    width: 200,
    grow: true,
    sortKey: 'description',
    cell: (row) => <DeviceText value={row.description} />,
  },
  {
    id: 'noted',
    title: strings.recorded,
    width: 208,
    sortKey: 'notedAt',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.notedAt} form="local" />,
  },
]
