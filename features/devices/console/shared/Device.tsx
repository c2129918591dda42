import { decoded } from '@portcullis/platform/console/lib/device-text.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { Peripheral } from '#features/contract.ts'
import classes from './Device.module.css'
import { findingOf } from './findings.ts'
import { strings } from './strings.ts'

/** Returns the reported name if it has hidden characters, otherwise the name in usb.ids, otherwise VID:PID. */
const deviceName = (device: Pick<Peripheral, 'reportedProduct' | 'caption' | 'guiPid' | 'vid' | 'pid'>): string =>
  decoded(device.reportedProduct) || device.caption || device.guiPid || `${device.vid}:${device.pid}`

/** Kind and name of a device on one line. */
export const DeviceName = ({ device }: { device: Peripheral }) => (
  <Row as="span" gap={6}>
    <Icon name={kindIcon(device.devIcon)} title={device.devIconDescription} className={classes.icon} />
    {/* A list row has one line. In the drawer of a host, a long name takes two. */}
    <Text style={{ overflow: 'hidden', textOverflow: 'ellipsis' }}>
      <DeviceText value={deviceName(device)} />
    </Text>
  </Row>
)

/** Vendor and product id. */
export const DeviceIds = ({ device }: { device: Pick<Peripheral, 'vid' | 'pid'> }) => (
  <Text as="code" quiet tiny>
    {device.vid}:{device.pid}
  </Text>
)

/** Findings of a device as tags. */
export const DeviceFindings = ({
  device,
}: {
  device: Pick<Peripheral, 'severity' | 'isVulnerablePeripheral' | 'isUnapprovedPeripherals'>
}) => {
  const top = findingOf(device.severity)
  return (
    <span className={classes.findings}>
      {top === null ? null : <SeverityTag severity={top.severity} word={top.word} />}
      {device.isVulnerablePeripheral && top?.word !== strings.vulnerable ? (
        <SeverityTag severity="amber" word={strings.vulnerable} />
      ) : null}
      {device.isUnapprovedPeripherals && top?.word !== strings.notAllowed ? (
        <SeverityTag severity="amber" word={strings.notAllowed} />
      ) : null}
    </span>
  )
}
