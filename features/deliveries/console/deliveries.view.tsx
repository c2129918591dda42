import { type Delivery, deliveryStates } from '@portcullis/contract'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { channelLabels, deliveryLabels } from '@portcullis/platform/console/ui/notices/labels.ts'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { strings } from './strings.ts'

/** Filters of the list of deliveries, by the names of the API. */
export const deliveryFilters = [
  { name: 'isStuck', label: strings.stuck, kind: 'yesNo' },
  {
    name: 'state',
    label: strings.state,
    kind: 'choice',
    options: deliveryStates.map((value) => ({ value, label: deliveryLabels[value] })),
  },
  {
    name: 'channel',
    label: strings.channel,
    kind: 'choice',
    options: (['email', 'webhook'] as const).map((value) => ({ value, label: channelLabels[value] })),
  },
  { name: 'groupName', label: strings.group, kind: 'text' },
  { name: 'destination', label: strings.receiver, kind: 'text' },
  { name: 'title', label: strings.subject, kind: 'text' },
  { name: 'createdAt', label: strings.created, kind: 'period' },
] as const satisfies readonly Filter[]

export const deliveriesView: ViewSpec = {
  filters: deliveryFilters.map(({ name }) => name),
  defaultSort: 'createdAt_desc',
  defaultColumns: ['state', 'title', 'to', 'error', 'created'],
}

/** The state of a delivery, with a shape if it needs attention. */
export const State = ({ delivery: { state, isStuck, attempts } }: { delivery: Delivery }) => {
  if (state === 'failed') return <SeverityTag severity="red" word={deliveryLabels.failed} />
  if (isStuck)
    return <SeverityTag severity="amber" word={strings.stuckState} title={strings.stuckHelp({ count: attempts })} />
  return <span>{deliveryLabels[state]}</span>
}

export const deliveryColumns: readonly Column<Delivery>[] = [
  { id: 'state', title: strings.state, width: 92, sortKey: 'state', cell: (row) => <State delivery={row} /> },
  {
    id: 'title',
    title: strings.subject,
    // The subject gets the width that a window of 1,024 pixels leaves; longer ones are complete in the tooltip and
    // drawer.
    width: 300,
    grow: true,
    sortKey: 'title',
    cell: (row) => <DeviceText value={row.title} />,
  },
  {
    id: 'to',
    title: strings.to,
    width: 90,
    grow: true,
    sortKey: 'destination',
    cell: (row) => (
      <span>
        {channelLabels[row.channel]} <DeviceText value={row.destination} />
      </span>
    ),
  },
  {
    id: 'error',
    title: strings.problem,
    width: 100,
    grow: true,
    sortKey: 'error',
    cell: (row) => <DeviceText value={row.error} absent="" />,
  },
  {
    id: 'created',
    title: strings.created,
    width: 88,
    align: 'right',
    sortKey: 'createdAt',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.createdAt} />,
  },
  {
    id: 'next',
    title: strings.nextAttempt,
    width: 76,
    align: 'right',
    sortKey: 'nextAt',
    cell: (row) => <Time value={row.nextAt} form="until" />,
  },
  { id: 'group', title: strings.group, width: 120, sortKey: 'groupName', cell: (row) => <span>{row.groupName}</span> },
  { id: 'channel', title: strings.channel, width: 84, sortKey: 'channel', cell: (row) => channelLabels[row.channel] },
  {
    id: 'attempts',
    title: strings.attempts,
    width: 64,
    align: 'right',
    sortKey: 'attempts',
    naturalSort: 'desc',
    cell: (row) => row.attempts.toLocaleString('en'),
  },
  {
    id: 'ended',
    title: strings.ended,
    width: 76,
    align: 'right',
    sortKey: 'endedAt',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.endedAt} />,
  },
]
