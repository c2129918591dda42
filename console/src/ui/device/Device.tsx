import type { Peripheral } from '@portcullis/contract'
import { DeviceText } from '../DeviceText.tsx'
import { findingOf } from '../findings.ts'
import { Icon, kindIcon } from '../icons.tsx'
import { SeverityTag } from '../SeverityTag.tsx'
import classes from './Device.module.css'
import { strings } from './strings.ts'

/** The name a device is best known by: what it says, else what usb.ids says, else its ids. */
const deviceName = (device: Pick<Peripheral, 'caption' | 'guiPid' | 'vid' | 'pid'>): string =>
  device.caption || device.guiPid || `${device.vid}:${device.pid}`

/** Kind and name of a device on one line. */
export const DeviceName = ({ device }: { device: Peripheral }) => (
  <span className={classes.name}>
    <Icon name={kindIcon(device.devIcon)} title={device.devIconDescription} className={classes.icon} />
    <span className={classes.words}>
      <DeviceText value={deviceName(device)} />
    </span>
  </span>
)

/** Vendor and product id. */
export const DeviceIds = ({ device }: { device: Pick<Peripheral, 'vid' | 'pid'> }) => (
  <code className={classes.ids}>
    {device.vid}:{device.pid}
  </code>
)

/** Findings of a device as tags; nothing when there are none. */
export const DeviceFindings = ({
  device,
}: {
  device: Pick<Peripheral, 'severity' | 'isVulnerablePeripheral' | 'isUnapprovedPeripherals'>
}) => {
  const top = findingOf(device.severity)
  return (
    <span className={classes.findings}>
      {top === null ? null : <SeverityTag severity={top.severity} word={top.word} />}
      {device.isVulnerablePeripheral && top?.word !== 'vulnerable' ? (
        <SeverityTag severity="amber" word="vulnerable" />
      ) : null}
      {device.isUnapprovedPeripherals && top?.word !== 'not approved' ? (
        <SeverityTag severity="amber" word={strings.notApproved} />
      ) : null}
    </span>
  )
}
