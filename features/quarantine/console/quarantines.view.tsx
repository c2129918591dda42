import {
  nacSystemNames,
  nacSystems,
  type Quarantine,
  type QuarantineState,
  quarantineStates,
} from '@portcullis/contract'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { quarantineLabels } from '@portcullis/platform/console/ui/nac/labels.ts'
import { State } from '@portcullis/platform/console/ui/nac/State.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { strings } from './strings.ts'

/** Filters of the list of quarantines, by the names of the API. */
export const quarantineFilters = [
  {
    name: 'state',
    label: strings.state,
    kind: 'choice',
    options: quarantineStates.map((value) => ({ value, label: quarantineLabels[value].word })),
  },
  { name: 'isActive', label: strings.activeOrPending, kind: 'yesNo' },
  { name: 'awaitsApproval', label: strings.awaitingApproval, kind: 'yesNo' },
  {
    name: 'system',
    label: strings.systemColumn,
    kind: 'choice',
    options: nacSystems.map((value) => ({ value, label: nacSystemNames[value] })),
  },
  { name: 'isAutomatic', label: strings.automatic, kind: 'yesNo' },
  { name: 'hostIdentifier', label: strings.hostName, kind: 'text' },
  { name: 'ipAddress', label: strings.address, kind: 'text' },
  { name: 'mac', label: strings.mac, kind: 'text' },
  { name: 'uuid', label: strings.hostId, kind: 'text' },
  { name: 'by', label: strings.requestedBy, kind: 'text' },
  { name: 'createdAt', label: strings.requested, kind: 'period' },
] as const satisfies readonly Filter[]

export const quarantinesView: ViewSpec = {
  filters: quarantineFilters.map(({ name }) => name),
  defaultSort: 'createdAt_desc',
  defaultColumns: ['host', 'system', 'state', 'reason', 'error', 'by', 'since', 'ends'],
}

/** Returns who requested a quarantine; `system` is this server. */
const who = (by: string) => (by === 'system' ? strings.byServer : by)

/** Returns the current problem; for a waiting quarantine, why it waits. */
const troubleOf = ({ awaitsApproval, error, timeline }: Quarantine): string =>
  awaitsApproval ? (timeline.findLast(({ step }) => step === 'waiting')?.message ?? error) : error

const lasting: readonly QuarantineState[] = ['wanted', 'applying', 'applied', 'verified']

export const Ends = ({ quarantine: { expiresAt, state } }: { quarantine: Quarantine }) =>
  expiresAt === null ? (
    <span>{lasting.includes(state) ? strings.never : '–'}</span>
  ) : (
    <Time value={expiresAt} form="until" />
  )

export const quarantineColumns: readonly Column<Quarantine>[] = [
  {
    id: 'host',
    title: strings.hostName,
    width: 116,
    grow: true,
    sortKey: 'hostIdentifier',
    cell: (row) => <DeviceText value={row.hostIdentifier} />,
  },
  {
    id: 'system',
    title: strings.systemColumn,
    width: 96,
    sortKey: 'system',
    cell: (row) => (
      <span title={nacSystemNames[row.system]}>{row.system === 'ise' ? strings.ciscoIse : 'CounterACT'}</span>
    ),
  },
  { id: 'state', title: strings.state, width: 190, sortKey: 'state', cell: (row) => <State state={row.state} /> },
  {
    id: 'reason',
    title: strings.reason,
    width: 116,
    grow: true,
    sortKey: 'reason',
    cell: (row) => <DeviceText value={row.reason} />,
  },
  {
    id: 'error',
    title: strings.problem,
    width: 116,
    grow: true,
    sortKey: 'error',
    cell: (row) => <DeviceText value={troubleOf(row)} />,
  },
  { id: 'by', title: strings.by, width: 76, sortKey: 'by', cell: (row) => <DeviceText value={who(row.by)} /> },
  {
    id: 'since',
    title: strings.since,
    width: 76,
    align: 'right',
    sortKey: 'createdAt',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.createdAt} />,
  },
  {
    id: 'ends',
    title: strings.expires,
    width: 70,
    align: 'right',
    sortKey: 'expiresAt',
    cell: (row) => <Ends quarantine={row} />,
  },
  {
    id: 'changed',
    title: strings.lastChange,
    width: 96,
    align: 'right',
    sortKey: 'updatedAt',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.updatedAt} />,
  },
  {
    id: 'address',
    title: strings.address,
    width: 124,
    sortKey: 'ipAddress',
    cell: (row) => <DeviceText value={row.ipAddress} />,
  },
  {
    id: 'macs',
    title: strings.mac,
    width: 150,
    sortKey: 'macs',
    cell: (row) => <DeviceText value={row.macs.join(', ')} />,
  },
  {
    id: 'policy',
    title: strings.policy,
    width: 120,
    sortKey: 'policy',
    cell: (row) => <DeviceText value={row.policy} />,
  },
  {
    id: 'automatic',
    title: strings.automatic,
    width: 120,
    sortKey: 'isAutomatic',
    cell: (row) => (row.isAutomatic ? strings.yes : strings.no),
  },
  {
    id: 'attempts',
    title: strings.failedAttempts,
    width: 92,
    align: 'right',
    sortKey: 'attempts',
    naturalSort: 'desc',
    cell: (row) => row.attempts.toLocaleString('en'),
  },
]
