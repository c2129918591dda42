import type { Peripheral } from '@portcullis/contract'
import { DeviceText } from '../DeviceText.tsx'
import { Facts } from '../Facts.tsx'
import { Time } from '../Time.tsx'

const speedText = (mbps: number): string => {
  if (mbps === 0) return 'unknown'
  return mbps >= 1000 ? `${mbps / 1000} Gbit/s` : `${mbps} Mbit/s`
}

/** Everything a device says of itself. */
export const DeviceFacts = ({ device }: { device: Peripheral }) => (
  <Facts
    rows={[
      ['Product', <DeviceText key="p" value={device.caption} />],
      ['Manufacturer', <DeviceText key="m" value={device.manufacturer} />],
      ['Serial number', <DeviceText key="s" value={device.serialNumber} absent="none" />],
      ['Known as', <DeviceText key="k" value={[device.guiVid, device.guiPid].filter(Boolean).join(' · ')} />],
      ['Ids', `${device.vid}:${device.pid}, revision ${device.bcdDevice}`],
      ['Kind', device.devIconDescription],
      ['Interfaces', <code key="i">{device.interfaces || '–'}</code>],
      ['Port', device.hierarchy],
      ['Speed', speedText(device.speed)],
      ['State', device.present ? (device.isDisabled ? 'attached, not usable' : 'attached') : 'gone'],
      ['First seen', <Time key="f" value={device.firstSeen} form="local" />],
      ['Last seen', <Time key="l" value={device.lastSeen} form="local" />],
      ['Fingerprint', <code key="fp">{device.fingerprint}</code>],
      ['Device id', <DeviceText key="d" value={device.deviceID} />],
    ]}
  />
)
