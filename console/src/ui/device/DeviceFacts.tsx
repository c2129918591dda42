import type { Peripheral } from '@portcullis/contract'
import { DeviceText } from '../DeviceText.tsx'
import { Facts } from '../Facts.tsx'
import { Time } from '../Time.tsx'
import { strings } from './strings.ts'

const speedText = (mbps: number): string => {
  if (mbps === 0) return 'unknown'
  return mbps >= 1000 ? strings.mbpsGbitS({ mbps: mbps / 1000 }) : strings.mbpsMbitS({ mbps })
}

/** Everything a device says of itself. */
export const DeviceFacts = ({ device }: { device: Peripheral }) => (
  <Facts
    rows={[
      [strings.product, <DeviceText key="p" value={device.caption} />],
      [strings.manufacturer, <DeviceText key="m" value={device.manufacturer} />],
      [strings.serialNumber, <DeviceText key="s" value={device.serialNumber} absent="none" />],
      [strings.knownAs, <DeviceText key="k" value={[device.guiVid, device.guiPid].filter(Boolean).join(' · ')} />],
      [strings.ids, strings.vidPidRevisionBcddevice({ vid: device.vid, pid: device.pid, bcdDevice: device.bcdDevice })],
      [strings.kind, device.devIconDescription],
      [strings.interfaces, <code key="i">{device.interfaces || '–'}</code>],
      [strings.port, device.hierarchy],
      [strings.speed, speedText(device.speed)],
      [strings.state, device.present ? (device.isDisabled ? strings.attachedNotUsable : 'attached') : 'gone'],
      [strings.firstSeen, <Time key="f" value={device.firstSeen} form="local" />],
      [strings.lastSeen, <Time key="l" value={device.lastSeen} form="local" />],
      [strings.fingerprint, <code key="fp">{device.fingerprint}</code>],
      [strings.deviceId, <DeviceText key="d" value={device.deviceID} />],
    ]}
  />
)
