import { Button } from '@mantine/core'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type AgentPackage, getAgents, listPackages, withdrawPackage } from '#features/contract.ts'
import { PublishButton } from './PublishButton.tsx'
import { signSteps } from './publish.ts'
import { ReleaseKeySection } from './ReleaseKeySection.tsx'
import { Steps } from './Steps.tsx'
import { buildSystems } from './shared/build-systems.ts'
import { strings } from './strings.ts'

// Hosts are counted for this many versions; older ones rarely run on a maintained host.
const counted = 8

/** Returns the number of hosts that run each of the newest versions. */
const useVersions = (packages: readonly AgentPackage[]) => {
  const { api } = useServices()
  const versions = [...new Set(packages.map(({ version }) => version))].slice(0, counted)
  const answers = useQueries({
    queries: versions.map((version) => ({
      queryKey: ['agents-by-version', version],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.call(getAgents, { query: { Version: version, PageSize: 1 }, signal }),
      staleTime: 30_000,
    })),
  })
  return new Map(versions.map((version, index) => [version, answers[index]?.data?.recordsFiltered]))
}

const stateText = ({ state, isNewest }: AgentPackage): string => {
  if (state === 'Withdrawn') return strings.withdrawn
  if (state === 'Pending') return strings.waitingForApproval
  if (state === 'Untrusted') return strings.untrusted
  return isNewest ? strings.newest : strings.older
}

/** The agent builds: how many hosts run them, and how to publish a new one. */
export const PackagesPage = () => {
  useTitle(strings.agentBuilds)
  const { api, session } = useServices()
  const packages = useRead(['packages'], listPackages)
  const list = packages.data?.data
  const hostsOf = useVersions(list ?? [])
  const [failure, setFailure] = useState<Error | null>(null)

  const withdraw = (one: AgentPackage) =>
    confirm({
      title: strings.withdraw,
      names: [strings.buildName({ version: one.version, system: buildSystems[one.architecture] })],
      kind: strings.buildCount,
      consequence: strings.withdrawConsequence,
      run: () => api.call(withdrawPackage, { params: { id: one.id } }),
      done: strings.buildWithdrawn,
      reread: packages.refetch,
    })

  return (
    <SettingsPage
      title={strings.agentBuilds}
      intro={strings.intro}
      actions={
        <>
          {session.may('packages:manage') ? (
            <PublishButton
              onDone={(next) => {
                setFailure(next)
                void packages.refetch()
              }}
            />
          ) : null}
          {session.may('fleet:write') && list !== undefined && list.length > 0 ? (
            <LinkButton to="/rollouts/new" search={{ kind: 'update' }} size="compact-sm">
              {strings.updateInRings}
            </LinkButton>
          ) : null}
          <MoreMenu curl={() => curlOf(listPackages)} />
        </>
      }
    >
      <ErrorState query={packages} inline />
      <ErrorState failure={failure} inline />
      <SmallTable
        label={strings.agentBuilds}
        head={[
          strings.version,
          strings.systemColumn,
          right(strings.size),
          right(strings.hosts),
          strings.published,
          strings.by,
          strings.state,
          right(''),
        ]}
        rows={list?.map((one) => {
          const hosts = hostsOf.get(one.version)
          return {
            key: one.id,
            quiet: one.state !== 'Published',
            cells: [
              <DeviceText key="version" value={one.version} />,
              buildSystems[one.architecture],
              bytesText(one.size),
              hosts === undefined ? (
                '–'
              ) : (
                <Link key="hosts" to="/agents" search={{ Version: one.version }}>
                  {hosts.toLocaleString('en')}
                </Link>
              ),
              <Time key="when" value={one.publishedAt} />,
              <DeviceText key="by" value={one.publishedBy} />,
              stateText(one),
              one.state !== 'Withdrawn' && session.may('packages:manage') ? (
                <Button key="withdraw" size="compact-xs" variant="default" onClick={() => withdraw(one)}>
                  {strings.withdrawMenu}
                </Button>
              ) : null,
            ],
          }
        })}
        empty={strings.empty}
      />
      <Stack as="section" gap={8} top={12}>
        {packages.data === undefined ? null : <ReleaseKeySection answer={packages.data} />}
        <h2>{strings.publishTitle}</h2>
        <Steps steps={signSteps} />
      </Stack>
    </SettingsPage>
  )
}
