import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Quiet, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { useQuery } from '@tanstack/react-query'
import { type HeldPortRow, listHeldPorts, releaseHeldPort } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Lists the held ports of a host with their evidence and actions. */
export const AgentHeldPorts = ({ agentId }: { agentId: string }) => {
  const { api, session } = useServices()
  const found = useQuery({
    queryKey: ['held-ports-of', agentId],
    queryFn: async ({ signal }) => (await api.call(listHeldPorts, { query: { AgentId: agentId }, signal })).data,
  })
  useLive('agents', ({ changed }) => {
    if (changed === null || changed.includes(agentId)) void found.refetch()
  })
  const release = (port: HeldPortRow, acceptDrivers: boolean) =>
    confirm({
      title: acceptDrivers ? strings.acceptAndRelease : strings.releasePort,
      names: [strings.portCaption({ path: port.portPath })],
      kind: strings.portCount,
      consequence: acceptDrivers ? strings.acceptEffect({ evidence: port.evidence }) : strings.releaseEffect,
      run: async () => {
        await api.call(releaseHeldPort, { params: { agentId, id: port.id }, body: { acceptDrivers } })
        void found.refetch()
        tell(strings.releaseSent)
      },
    })
  return (found.data ?? []).map((port) => (
    <Text key={port.id} as="div" top={4} small>
      <SeverityTag
        severity={port.isEnforced ? 'red' : 'amber'}
        word={port.isEnforced ? strings.portHeld : strings.portHeldWhenArmed}
      />{' '}
      {strings.portDevice({
        path: port.portPath,
        name: <DeviceText key="name" value={port.name} />,
        ids: `${port.vid}:${port.pid}`,
      })}{' '}
      <strong>
        <DeviceText value={port.evidence} />
      </strong>{' '}
      · <Time value={port.heldAt} />{' '}
      <Quiet>{strings.blockEverywhere({ fingerprint: <code key="print">{port.fingerprint}</code> })}</Quiet>{' '}
      {port.releaseAskedBy === null ? null : (
        <Quiet>{strings.releaseRequested({ user: <DeviceText key="user" value={port.releaseAskedBy} /> })}</Quiet>
      )}
      {session.may('fleet:write') && port.releaseAskedBy === null ? (
        <>
          <Button size="compact-xs" variant="default" onClick={() => release(port, false)}>
            {strings.askRelease}
          </Button>{' '}
          <Button size="compact-xs" variant="subtle" onClick={() => release(port, true)}>
            {strings.askAccept}
          </Button>
        </>
      ) : null}
    </Text>
  ))
}
