import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link } from '@tanstack/react-router'
import { listRollouts } from '#features/contract.ts'
import { kindLabels, ringHosts } from './rollout.ts'
import { State } from './State.tsx'
import { strings } from './strings.ts'

/** Lists current and past rollouts. */
export const RolloutsPage = () => {
  useTitle(strings.rollouts)
  const { session } = useServices()
  const rollouts = useRead(['rollouts'], listRollouts)
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
          <MoreMenu curl={() => curlOf(listRollouts)} />
        </>
      }
    >
      <ErrorState query={rollouts} inline />
      <SmallTable
        label={strings.rollouts}
        head={[
          strings.rollout,
          strings.action,
          strings.state,
          strings.ring,
          right(strings.hosts),
          right(strings.failed),
          strings.started,
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
