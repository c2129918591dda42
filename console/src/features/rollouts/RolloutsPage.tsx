import { listRollouts } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { kindWords, ringHosts } from './rollout.ts'
import { State } from './State.tsx'

/** What was and is brought to hosts in rings. */
export const RolloutsPage = () => {
  useTitle('Rollouts')
  const { api, session } = useServices()
  const rollouts = useQuery({ queryKey: ['rollouts'], queryFn: ({ signal }) => api.call(listRollouts, { signal }) })
  useLiveRefresh(['agents'], 5_000, () => void rollouts.refetch())
  return (
    <SettingsPage
      title="Rollouts"
      intro="Arming a fleet, or updating its agents, ring by ring: each ring is watched before the next one starts, and the rollout halts by itself when more goes wrong than you allowed."
      actions={
        <>
          {session.may('fleet:write') ? (
            <LinkButton to="/rollouts/new" size="compact-sm" leftSection={<Icon name="plus" size={14} />}>
              New rollout
            </LinkButton>
          ) : null}
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, listRollouts)} />
        </>
      }
    >
      {rollouts.error === null ? null : (
        <ErrorState failure={rollouts.error} retry={() => void rollouts.refetch()} inline />
      )}
      <SmallTable
        label="Rollouts"
        head={[
          'Rollout',
          'What',
          'State',
          'Ring',
          { title: 'Hosts', align: 'right' },
          { title: 'Failed', align: 'right' },
          'Started',
          'By',
        ]}
        rows={rollouts.data?.data.map((one) => {
          const started = one.rings.filter(({ state }) => state !== 'waiting')
          return {
            key: one.id,
            quiet: one.endedAt !== null,
            cells: [
              <Link key="name" to="/rollouts/$id" params={{ id: one.id }}>
                <DeviceText value={one.name} />
              </Link>,
              kindWords[one.kind],
              <State key="state" state={one.state} title={one.reason} />,
              `${started.length} of ${one.rings.length}`,
              started.reduce((sum, ring) => sum + ringHosts(ring), 0).toLocaleString('en'),
              started.reduce((sum, ring) => sum + ring.hosts.failed, 0).toLocaleString('en'),
              <Time key="when" value={one.createdAt} />,
              <DeviceText key="by" value={one.createdBy} />,
            ],
          }
        })}
        empty="Nothing was rolled out yet. A rollout of arming begins with a few hosts and ends with all."
      />
    </SettingsPage>
  )
}
