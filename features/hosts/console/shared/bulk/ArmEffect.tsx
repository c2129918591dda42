import { Button } from '@mantine/core'
import { agentAddress, deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import type { BlockedDevice, LeftOutHost } from '#features/contract.ts'
import { type BulkDevice, meantDevices } from '#features/policy/console/shared/bulk-decide.ts'
import { basisText, blockedText } from '#features/policy/console/shared/labels.ts'
import { strings } from '../../strings.ts'
import type { BulkPreview } from './bulk.ts'

const nameOf = ({ caption, vid, pid }: BlockedDevice) => caption || `${vid}:${pid}`

/** Returns the listed devices that an approval can allow. */
const approvable = (devices: readonly BlockedDevice[]): BulkDevice[] =>
  meantDevices(
    'allow',
    devices.map((device) => ({ ...device, name: nameOf(device), isAttackTool: device.isKnownAttackTool })),
  )

// One element, because the cells of narrow tables are flexible boxes.
const DeviceCell = ({ device }: { device: BlockedDevice }) => (
  <Text>
    {device.isKnownAttackTool ? (
      <>
        <SeverityTag severity="red" word={strings.attackTool} />{' '}
      </>
    ) : null}
    <PlainLink href={deviceAddress(device.uuid, device.deviceID)}>
      <DeviceText value={nameOf(device)} />
    </PlainLink>{' '}
    <code>
      {device.vid}:{device.pid}
    </code>
  </Text>
)

const Devices = ({ devices }: { devices: readonly BlockedDevice[] }) => (
  <Stack scroll style={{ maxHeight: 260 }}>
    <SmallTable
      label={strings.devicesToStop}
      head={[strings.device, strings.hostName, strings.whenBlocked, right(strings.attachments30), strings.reason]}
      rows={devices.map((device) => ({
        key: `${device.uuid}|${device.deviceID}`,
        cells: [
          <DeviceCell key="device" device={device} />,
          <DeviceText key="host" value={device.hostIdentifier} />,
          device.stopsWorking ? strings.immediately : device.present ? strings.whenReplugged : strings.whenAttached,
          device.attachments.toLocaleString('en'),
          <DeviceText key="reason" value={device.reason} />,
        ],
      }))}
      empty={null}
    />
  </Stack>
)

const LeftOut = ({ hosts }: { hosts: readonly LeftOutHost[] }) => (
  <Text as="details" small>
    <summary>{strings.showLeftOut({ count: hosts.length })}</summary>
    <Stack scroll style={{ maxHeight: 200 }} top={6}>
      <SmallTable
        label={strings.leftOutHosts}
        head={[strings.hostName, strings.reason]}
        rows={hosts.map(({ uuid, hostIdentifier, reason }) => ({
          key: uuid,
          cells: [
            <PlainLink key="host" href={agentAddress(uuid)}>
              <DeviceText value={hostIdentifier} />
            </PlainLink>,
            reason,
          ],
        }))}
        empty={null}
      />
    </Stack>
  </Text>
)

export interface ArmEffectProps {
  preview: BulkPreview
  /** Asks for a decision about these devices first. */
  approve: (devices: readonly BulkDevice[]) => void
}

/** Shows before arming which devices it blocks, and which hosts it leaves out, by name. */
export const ArmEffect = ({ preview, approve }: ArmEffectProps) => {
  const { agents, prediction, devices = [], leftOut = [] } = preview
  const offered = approvable(devices)
  const all = prediction?.blocked.peripherals ?? 0
  return (
    <>
      {prediction === null || agents === 0 ? null : (
        <p data-testid="gate-sentence">
          <strong>{blockedText(prediction.blocked)}</strong> {basisText(prediction)}
        </p>
      )}
      {devices.length === 0 ? null : <Devices devices={devices} />}
      {devices.length === 0 ? null : (
        <Row wrap>
          {offered.length === 0 ? null : (
            <Button size="compact-sm" variant="default" onClick={() => approve(offered)}>
              {strings.approveFirst({ count: offered.length })}
            </Button>
          )}
          {all > devices.length ? <Note>{strings.firstDevices({ shown: devices.length, count: all })}</Note> : null}
        </Row>
      )}
      {leftOut.length === 0 ? null : <LeftOut hosts={leftOut} />}
    </>
  )
}
