import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { useQuery } from '@tanstack/react-query'
import { listQuarantines, nacSystemNames } from '#features/contract.ts'
import { quarantineAddress } from '#features/quarantine/console/shared/labels.ts'
import { State } from '#features/quarantine/console/shared/State.tsx'
import { strings } from './strings.ts'

/** Lists the active and pending quarantines of a host. */
export const AgentQuarantines = ({ agentId }: { agentId: string }) => {
  const { api } = useServices()
  const found = useQuery({
    queryKey: ['quarantines-of', agentId],
    queryFn: async ({ signal }) =>
      (await api.call(listQuarantines, { query: { uuid: agentId, isActive: 'true' }, signal })).data,
  })
  useLive('agents', ({ changed }) => {
    if (changed === null || changed.includes(agentId)) void found.refetch()
  })
  return (found.data ?? []).map((quarantine) => (
    <Text key={quarantine.id} as="p" top={4} small>
      <State state={quarantine.state} /> {strings.quarantinedBy({ system: nacSystemNames[quarantine.system] })} ·{' '}
      <Time value={quarantine.createdAt} /> · <DeviceText value={quarantine.error || quarantine.reason} />{' '}
      <PlainLink href={quarantineAddress(quarantine)}>{strings.openQuarantine}</PlainLink>
    </Text>
  ))
}
