import type { Peripheral } from '@portcullis/contract'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { DeviceFindings, DeviceIds, DeviceName } from '@portcullis/platform/console/ui/device/Device.tsx'
import { portOf } from '@portcullis/platform/console/ui/device/port.ts'
import { verdictOf } from '@portcullis/platform/console/ui/device/verdict.ts'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { findingFilters, identityFilters, kindFilters } from './device-filters.ts'
import { strings } from './strings.ts'

/** Filters of the device list, by their API names. */
export const peripheralFilters = [
  ...kindFilters,
  { name: 'present', label: strings.attached, kind: 'yesNo' },
  ...findingFilters,
  { name: 'isUnapprovedPeripheral', label: strings.notAllowed, kind: 'yesNo' },
  ...identityFilters,
  { name: 'serialNumber', label: strings.serialNumber, kind: 'text' },
  { name: 'hostIdentifier', label: strings.hostName, kind: 'text' },
  { name: 'ipAddress', label: strings.address, kind: 'text' },
  { name: 'hashtags', label: strings.tag, kind: 'tags' },
  { name: 'firstSeen', label: strings.firstSeen, kind: 'period' },
] as const satisfies readonly Filter[]

export const peripheralsView: ViewSpec = {
  filters: peripheralFilters.map(({ name }) => name),
  defaultSort: 'severity_desc',
  defaultColumns: ['device', 'findings', 'decision', 'vendor', 'ids', 'host', 'state', 'serial', 'seen'],
}

/** Returns the id of a device that is unique across hosts, as the tag operations use it. */
export const deviceKey = (device: Pick<Peripheral, 'uuid' | 'deviceID'>): string => `${device.uuid}|${device.deviceID}`

const State = ({ device }: { device: Peripheral }) => {
  if (!device.present) return <span>{strings.stateDetached}</span>
  return <span>{device.isDisabled ? strings.stateBlocked : strings.attached}</span>
}

export const peripheralColumns: readonly Column<Peripheral>[] = [
  {
    id: 'device',
    title: strings.device,
    width: 235,
    grow: true,
    sortKey: 'caption',
    cell: (device) => <DeviceName device={device} />,
  },
  {
    id: 'findings',
    title: strings.findings,
    width: 216,
    exportKeys: ['severity', 'vulnerability'],
    sortKey: 'severity',
    naturalSort: 'desc',
    cell: (device) => <DeviceFindings device={device} />,
  },
  {
    id: 'vendor',
    title: strings.vendor,
    width: 170,
    grow: true,
    sortKey: 'guiVid',
    cell: (device) => <DeviceText value={device.guiVid} />,
  },
  {
    id: 'ids',
    title: strings.ids,
    width: 92,
    sortKey: 'vid',
    exportKeys: ['vid', 'pid'],
    cell: (device) => <DeviceIds device={device} />,
  },
  {
    id: 'host',
    hasLink: true,
    title: strings.host,
    width: 160,
    grow: true,
    sortKey: 'hostIdentifier',
    cell: (device) => (
      <PlainLink href={agentAddress(device.uuid)}>
        <DeviceText value={device.hostIdentifier} />
      </PlainLink>
    ),
  },
  {
    id: 'decision',
    title: strings.decision,
    width: 190,
    exportKeys: ['decision', 'decisionReason'],
    // The list does not know whether the host is armed; the detail page does.
    cell: (device) => <span title={device.decisionReason}>{verdictOf(device, null).word}</span>,
  },
  {
    id: 'state',
    title: strings.state,
    width: 104,
    exportKeys: ['status'],
    sortKey: 'present',
    naturalSort: 'desc',
    cell: (device) => <State device={device} />,
  },
  {
    id: 'serial',
    title: strings.serialNumber,
    width: 150,
    sortKey: 'serialNumber',
    cell: (device) => <DeviceText value={device.serialNumber} />,
  },
  {
    id: 'seen',
    title: strings.lastSeen,
    width: 108,
    align: 'right',
    sortKey: 'lastSeen',
    naturalSort: 'desc',
    cell: (device) => <Time value={device.lastSeen} />,
  },
  {
    id: 'first',
    title: strings.firstSeen,
    width: 108,
    align: 'right',
    sortKey: 'firstSeen',
    naturalSort: 'desc',
    cell: (device) => <Time value={device.firstSeen} />,
  },
  {
    id: 'kind',
    title: strings.kind,
    width: 110,
    sortKey: 'devIconDescription',
    cell: (device) => <span>{device.devIconDescription}</span>,
  },
  {
    id: 'product',
    title: strings.productUsbIds,
    width: 180,
    sortKey: 'guiPid',
    cell: (device) => <DeviceText value={device.guiPid} />,
  },
  {
    id: 'maker',
    title: strings.manufacturer,
    width: 150,
    sortKey: 'manufacturer',
    cell: (device) => <DeviceText value={device.manufacturer} />,
  },
  {
    id: 'revision',
    title: strings.revision,
    width: 84,
    sortKey: 'bcdDevice',
    cell: (device) => <code>{device.bcdDevice}</code>,
  },
  {
    id: 'port',
    title: strings.port,
    width: 84,
    sortKey: 'hierarchy',
    cell: (device) => <code>{portOf(device) ?? '–'}</code>,
  },
  {
    id: 'address',
    title: strings.address,
    width: 124,
    sortKey: 'hostIp',
    cell: (device) => <DeviceText value={device.hostIp} />,
  },
  {
    id: 'interfaces',
    title: strings.interfaces,
    width: 200,
    sortKey: 'interfaces',
    cell: (device) => <code>{device.interfaces}</code>,
  },
  {
    id: 'tags',
    title: strings.tags,
    width: 140,
    sortKey: 'hashtags',
    cell: (device) => <TagList oneLine tags={device.hashtags} />,
  },
]
