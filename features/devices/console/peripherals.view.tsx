import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { type Peripheral, peripheralList } from '#features/contract.ts'
import { DeviceFindings, DeviceIds, DeviceName } from './shared/Device.tsx'
import { portOf } from './shared/port.ts'
import { verdictOf } from './shared/verdict.ts'
import { strings } from './strings.ts'

/** Returns the id of a device that is unique across hosts, as the tag operations use it. */
export const deviceKey = (device: Pick<Peripheral, 'uuid' | 'deviceID'>): string => `${device.uuid}|${device.deviceID}`

const stateOf = ({ present, isDisabled }: Peripheral): string => {
  if (!present) return strings.detached
  return isDisabled ? strings.blocked : strings.attached
}

export const peripheralsTable = listTable<Peripheral>(peripheralList, {
  device: (device) => <DeviceName device={device} />,
  findings: (device) => <DeviceFindings device={device} />,
  ids: (device) => <DeviceIds device={device} />,
  host: (device) => (
    <PlainLink href={agentAddress(device.uuid)}>
      <DeviceText value={device.hostIdentifier} />
    </PlainLink>
  ),
  decision: (device) => {
    const { severity, word } = verdictOf(device)
    return (
      <span title={device.decisionReason}>
        {severity === 'neutral' ? word : <SeverityTag severity={severity} word={word} />}
      </span>
    )
  },
  state: stateOf,
  port: (device) => <code>{portOf(device) ?? '–'}</code>,
})
