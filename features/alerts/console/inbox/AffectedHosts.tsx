import { Button } from '@mantine/core'
import { agentAddress, deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useState } from 'react'
import type { AlertHost } from '#features/contract.ts'
import { DeviceIds } from '#features/devices/console/shared/Device.tsx'
import type { DecideQuestion } from '#features/policy/console/shared/DecideDialog.tsx'
import { HostResponse } from './HostResponse.tsx'
import { strings } from './strings.ts'

const DecideDialog = lazilyDialog(
  async () => (await import('#features/policy/console/shared/DecideDialog.tsx')).DecideDialog,
)

/** Lists the hosts behind an alert, with links and, for waiting devices, approval controls. */
export const AffectedHosts = ({
  hosts,
  evidence,
  isOffered,
}: {
  hosts: readonly AlertHost[]
  /** Reasons why a device counts as an attack tool. */
  evidence: readonly string[]
  /** Returns whether the alert itself already offers this decision about the device. */
  isOffered: (effect: 'allow' | 'deny') => boolean
}) => {
  const { session } = useServices()
  const [question, setQuestion] = useState<DecideQuestion | null>(null)
  const canDecide = session.may('fleet:write')
  const ask = (
    { uuid, hostIdentifier, hashtags }: AlertHost,
    device: AlertHost['devices'][number],
    effect: 'allow' | 'deny',
  ) =>
    setQuestion({
      subject: {
        name: device.name,
        vid: device.vid,
        pid: device.pid,
        devices: [{ uuid, hostIdentifier, deviceID: device.deviceID, serialNumber: device.serialNumber }],
        tags: hashtags.split(',').filter((tag) => tag !== ''),
        isAttackTool: device.isKnownAttackTool,
        evidence: device.isKnownAttackTool ? evidence : [],
      },
      start: { effect, scope: 'host' },
    })
  return (
    <>
      <Stack as="ul" gap={8}>
        {hosts.map((host) => (
          <li key={host.uuid}>
            <Row wrap breaks>
              <PlainLink href={agentAddress(host.uuid)}>
                <DeviceText value={host.hostIdentifier} />
              </PlainLink>
              {canDecide ? <HostResponse uuid={host.uuid} hostIdentifier={host.hostIdentifier} /> : null}
            </Row>
            {host.devices.map((device) => (
              <Row key={device.deviceID} wrap breaks pad="4px 0 0 16px">
                <PlainLink href={deviceAddress(host.uuid, device.deviceID)}>
                  <DeviceText value={device.name} />
                </PlainLink>
                <DeviceIds device={device} />
                {device.isKnownAttackTool ? <SeverityTag severity="red" word={strings.attackTool} /> : null}
                {device.waits && canDecide && !isOffered('allow') ? (
                  <Button size="compact-xs" variant="default" onClick={() => ask(host, device, 'allow')}>
                    {strings.askApprove}
                  </Button>
                ) : null}
                {canDecide && !isOffered('deny') ? (
                  <Button size="compact-xs" variant="default" onClick={() => ask(host, device, 'deny')}>
                    {strings.askDeny}
                  </Button>
                ) : null}
              </Row>
            ))}
          </li>
        ))}
      </Stack>
      <DecideDialog question={question} close={() => setQuestion(null)} />
    </>
  )
}
