import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { channelLabels, deliveryLabels } from '#features/alerts/console/shared/labels.ts'
import { type Delivery, deliveryList } from '#features/contract.ts'
import { strings } from './strings.ts'

/** The state of a delivery, with a shape if it needs attention. */
export const State = ({ delivery: { state, isStuck, attempts } }: { delivery: Delivery }) => {
  if (state === 'failed') return <SeverityTag severity="red" word={deliveryLabels.failed} />
  if (isStuck)
    return <SeverityTag severity="amber" word={strings.stuckState} title={strings.stuckHelp({ count: attempts })} />
  return <span>{deliveryLabels[state]}</span>
}

export const deliveriesTable = listTable<Delivery>(deliveryList, {
  state: (row) => <State delivery={row} />,
  to: (row) => (
    <span>
      {channelLabels[row.channel]} <DeviceText value={row.destination} />
    </span>
  ),
  error: (row) => <DeviceText value={row.error} absent="" />,
  group: (row) => <span>{row.groupName}</span>,
})
