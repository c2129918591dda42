import { Button } from '@mantine/core'
import { type HeldPortRow, listHeldPorts, releaseHeldPort } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useLive } from '../../ui/useLive.ts'
import classes from './AgentDetail.module.css'
import { strings } from './strings.ts'

/** The ports that the host holds, one per line, with their evidence and actions. */
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
      title: acceptDrivers ? strings.acceptDriversAndReleasePort : strings.releasePort,
      names: [strings.portPortpath({ portPath: port.portPath })],
      kind: ['port', 'ports'],
      consequence: acceptDrivers
        ? strings.thisDeviceMayUseTheseDrivers({ evidence: port.evidence })
        : strings.theHostChecksTheDeviceAt,
      action: acceptDrivers ? strings.acceptDriversAndReleasePort : strings.releasePort,
      run: async () => {
        await api.call(releaseHeldPort, { params: { agentId, id: port.id }, body: { acceptDrivers } })
        void found.refetch()
        tell(strings.releaseCommandSentToTheHost)
      },
    })
  return (found.data ?? []).map((port) => (
    <div key={port.id} className={classes.notice}>
      <SeverityTag
        severity={port.isEnforced ? 'red' : 'amber'}
        word={port.isEnforced ? 'port held' : 'held when armed'}
      />{' '}
      {strings.port} {port.portPath}: <DeviceText value={port.name} /> ({port.vid}:{port.pid}){' '}
      <strong>
        <DeviceText value={port.evidence} />
      </strong>{' '}
      · <Time value={port.heldAt} />{' '}
      <span className={classes.quiet}>{strings.toBlockThisDeviceOnAll({ code: <code>{port.fingerprint}</code> })}</span>{' '}
      {port.releaseAskedBy === null ? null : (
        <span className={classes.quiet}>
          {strings.releaseRequestedByDevicetextWaitingFor({ deviceText: <DeviceText value={port.releaseAskedBy} /> })}
        </span>
      )}
      {session.may('fleet:write') && port.releaseAskedBy === null ? (
        <>
          <Button size="compact-xs" variant="default" onClick={() => release(port, false)}>
            {strings.releasePort2}
          </Button>{' '}
          <Button size="compact-xs" variant="subtle" onClick={() => release(port, true)}>
            {strings.acceptDrivers}
          </Button>
        </>
      ) : null}
    </div>
  ))
}
