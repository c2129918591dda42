import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { nacSystemNames, type Quarantine, type QuarantineState, quarantineList } from '#features/contract.ts'
import { State } from './shared/State.tsx'
import { strings } from './strings.ts'

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

export const quarantinesTable = listTable<Quarantine>(quarantineList, {
  system: (row) => (
    <span title={nacSystemNames[row.system]}>{row.system === 'ise' ? strings.ciscoIse : 'CounterACT'}</span>
  ),
  state: (row) => <State state={row.state} />,
  error: (row) => <DeviceText value={troubleOf(row)} />,
  by: (row) => <DeviceText value={who(row.by)} />,
  ends: (row) => <Ends quarantine={row} />,
  automatic: (row) => (row.isAutomatic ? strings.yes : strings.no),
  macs: (row) => <DeviceText value={row.macs.join(', ')} />,
})
