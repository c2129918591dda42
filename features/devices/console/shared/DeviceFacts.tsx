import { decoded } from '@portcullis/platform/console/lib/device-text.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Peripheral } from '#features/contract.ts'
import { portOf } from './port.ts'
import { strings } from './strings.ts'

const speedText = (mbps: number): string => {
  if (mbps === 0) return strings.unknown
  return mbps >= 1000 ? strings.gigabits({ speed: mbps / 1000 }) : strings.megabits({ speed: mbps })
}

const connectionOf = (device: Peripheral): string => {
  if (device.isOverNetwork) return strings.overNetwork
  return portOf(device) === null ? strings.unknown : strings.local
}

/** Shows the properties that a device reports. */
export const DeviceFacts = ({ device }: { device: Peripheral }) => (
  <Facts
    rows={[
      [strings.product, <DeviceText key="p" value={decoded(device.reportedProduct) || device.caption} />],
      [
        strings.manufacturer,
        <DeviceText key="m" value={decoded(device.reportedManufacturer) || device.manufacturer} />,
      ],
      [strings.serialNumber, <DeviceText key="s" value={decoded(device.serialNumber)} absent={strings.nothing} />],
      [strings.knownAs, <DeviceText key="k" value={[device.guiVid, device.guiPid].filter(Boolean).join(' · ')} />],
      [strings.ids, strings.idsWithRevision({ vid: device.vid, pid: device.pid, revision: device.bcdDevice })],
      [strings.kind, device.devIconDescription],
      [strings.interfaces, <code key="i">{device.interfaces || '–'}</code>],
      [strings.port, portOf(device) ?? strings.unknown],
      [strings.connection, connectionOf(device)],
      [strings.speed, speedText(device.speed)],
      [
        strings.state,
        device.present ? (device.isDisabled ? strings.attachedNotUsable : strings.attached) : strings.detached,
      ],
      [strings.firstSeen, <Time key="f" value={device.firstSeen} form="local" />],
      [strings.lastSeen, <Time key="l" value={device.lastSeen} form="local" />],
      [strings.fingerprint, <code key="fp">{device.fingerprint}</code>],
      [strings.deviceId, <DeviceText key="d" value={device.deviceID} />],
    ]}
  />
)
