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
import { kindLabels, ringHosts } from './rollout.ts'
import { State } from './State.tsx'
import { strings } from './strings.ts'

/** Lists current and past rollouts. */
export const RolloutsPage = () => {
  useTitle(strings.rollouts)
  const { api, session } = useServices()
  const rollouts = useQuery({ queryKey: ['rollouts'], queryFn: ({ signal }) => api.call(listRollouts, { signal }) })
  useLiveRefresh(['agents'], 5_000, () => void rollouts.refetch())
  return (
    <SettingsPage
      title={strings.rollouts}
      intro={strings.intro}
      actions={
        <>
          {session.may('fleet:write') ? (
            <LinkButton to="/rollouts/new" size="compact-sm" leftSection={<Icon name="plus" size={14} />}>
              {strings.newRollout}
            </LinkButton>
          ) : null}
          <MoreMenu label={strings.more} curl={() => curlOf(window.location.origin, listRollouts)} />
        </>
      }
    >
      {rollouts.error === null ? null : (
        <ErrorState failure={rollouts.error} retry={() => void rollouts.refetch()} inline />
      )}
      <SmallTable
        label={strings.rollouts}
        head={[
          strings.rollout,
          strings.action,
          strings.state,
          strings.ring,
          { title: strings.hosts, align: 'right' },
          { title: strings.failed, align: 'right' },
          strings.startedColumn,
          strings.by,
        ]}
        rows={rollouts.data?.data.map((one) => {
          const started = one.rings.filter(({ state }) => state !== 'waiting')
          return {
            key: one.id,
            quiet: one.endedAt !== null,
            href: `/rollouts/${one.id}`,
            cells: [
              <Link key="name" to="/rollouts/$id" params={{ id: one.id }}>
                <DeviceText value={one.name} />
              </Link>,
              kindLabels[one.kind],
              <State key="state" state={one.state} title={one.reason} />,
              strings.ringProgress({ started: started.length, rings: one.rings.length }),
              started.reduce((sum, ring) => sum + ringHosts(ring), 0).toLocaleString('en'),
              started.reduce((sum, ring) => sum + ring.hosts.failed, 0).toLocaleString('en'),
              <Time key="when" value={one.createdAt} />,
              <DeviceText key="by" value={one.createdBy} />,
            ],
          }
        })}
        empty={strings.empty}
      />
    </SettingsPage>
  )
}
