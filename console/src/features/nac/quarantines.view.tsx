import {
  nacSystemNames,
  nacSystems,
  type Quarantine,
  type QuarantineState,
  quarantineStates,
} from '@portcullis/contract'
import { agentAddress } from '../../lib/addresses.ts'
import type { ViewSpec } from '../../lib/view-state.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import type { Filter } from '../../ui/filters/filter.ts'
import { quarantineWords } from '../../ui/nac/labels.ts'
import { State } from '../../ui/nac/State.tsx'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { Time } from '../../ui/Time.tsx'
import type { Column } from '../../ui/table/column.ts'

/** Filters of the list of quarantines, by the interface's names. */
export const quarantineFilters = [
  {
    name: 'state',
    label: 'State',
    kind: 'choice',
    options: quarantineStates.map((value) => ({ value, label: quarantineWords[value].word })),
  },
  { name: 'isActive', label: 'In force or on its way', kind: 'yesNo' },
  {
    name: 'system',
    label: 'System',
    kind: 'choice',
    options: nacSystems.map((value) => ({ value, label: nacSystemNames[value] })),
  },
  { name: 'isAutomatic', label: 'Without a person', kind: 'yesNo' },
  { name: 'hostIdentifier', label: 'Host', kind: 'text' },
  { name: 'ipAddress', label: 'Address', kind: 'text' },
  { name: 'mac', label: 'MAC', kind: 'text' },
  { name: 'uuid', label: 'Id of the host', kind: 'text' },
  { name: 'by', label: 'Asked by', kind: 'text' },
  { name: 'createdAt', label: 'Asked for', kind: 'period' },
] as const satisfies readonly Filter[]

export const quarantinesView: ViewSpec = {
  filters: quarantineFilters.map(({ name }) => name),
  defaultSort: 'createdAt_desc',
  defaultColumns: ['host', 'system', 'state', 'reason', 'error', 'by', 'since', 'ends'],
}

/** `system` is the product: a name that a person would understand. */
const who = (by: string) => (by === 'system' ? 'by itself' : by)

/** What is wrong now, and what helps; of one that waits, why it does. */
const troubleOf = ({ state, error, timeline }: Quarantine): string =>
  state === 'waiting' ? (timeline.findLast(({ step }) => step === 'waiting')?.message ?? error) : error

const lasting: readonly QuarantineState[] = ['wanted', 'applying', 'applied', 'verified']

export const Ends = ({ quarantine: { expiresAt, state } }: { quarantine: Quarantine }) =>
  expiresAt === null ? <span>{lasting.includes(state) ? 'never' : '–'}</span> : <Time value={expiresAt} />

export const quarantineColumns: readonly Column<Quarantine>[] = [
  {
    id: 'host',
    title: 'Host',
    width: 116,
    grow: true,
    sortKey: 'hostIdentifier',
    cell: (row) => (
      <PlainLink href={agentAddress(row.uuid)}>
        <DeviceText value={row.hostIdentifier} />
      </PlainLink>
    ),
  },
  {
    id: 'system',
    title: 'System',
    width: 96,
    sortKey: 'system',
    cell: (row) => <span title={nacSystemNames[row.system]}>{row.system === 'ise' ? 'Cisco ISE' : 'CounterACT'}</span>,
  },
  { id: 'state', title: 'State', width: 190, sortKey: 'state', cell: (row) => <State state={row.state} /> },
  {
    id: 'reason',
    title: 'Reason',
    width: 116,
    grow: true,
    sortKey: 'reason',
    cell: (row) => <DeviceText value={row.reason} />,
  },
  {
    id: 'error',
    title: 'What is wrong, and what helps',
    width: 116,
    grow: true,
    sortKey: 'error',
    cell: (row) => <DeviceText value={troubleOf(row)} />,
  },
  { id: 'by', title: 'By', width: 76, sortKey: 'by', cell: (row) => <DeviceText value={who(row.by)} /> },
  {
    id: 'since',
    title: 'Since',
    width: 76,
    align: 'right',
    sortKey: 'createdAt',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.createdAt} />,
  },
  {
    id: 'ends',
    title: 'Ends',
    width: 70,
    align: 'right',
    sortKey: 'expiresAt',
    cell: (row) => <Ends quarantine={row} />,
  },
  {
    id: 'changed',
    title: 'Last change',
    width: 96,
    align: 'right',
    sortKey: 'updatedAt',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.updatedAt} />,
  },
  {
    id: 'address',
    title: 'Address',
    width: 124,
    sortKey: 'ipAddress',
    cell: (row) => <DeviceText value={row.ipAddress} />,
  },
  {
    id: 'macs',
    title: 'MAC',
    width: 150,
    sortKey: 'macs',
    cell: (row) => <DeviceText value={row.macs.join(', ')} />,
  },
  { id: 'policy', title: 'Policy', width: 120, sortKey: 'policy', cell: (row) => <DeviceText value={row.policy} /> },
  {
    id: 'automatic',
    title: 'Without a person',
    width: 120,
    sortKey: 'isAutomatic',
    cell: (row) => (row.isAutomatic ? 'yes' : 'no'),
  },
  {
    id: 'attempts',
    title: 'Failed tries',
    width: 92,
    align: 'right',
    sortKey: 'attempts',
    naturalSort: 'desc',
    cell: (row) => row.attempts.toLocaleString('en'),
  },
]
