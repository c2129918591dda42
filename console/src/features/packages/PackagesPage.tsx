import { Button } from '@mantine/core'
import { type AgentPackage, getAgents, listPackages, withdrawPackage } from '@portcullis/contract'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { bytesText } from '../../lib/bytes.ts'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { CopyField } from '../../ui/CopyField.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './PackagesPage.module.css'
import { publishCommands } from './publish.ts'

// So many versions are counted; older ones run on no host that is looked after.
const counted = 8

/** Hosts that run each of the newest versions, by version. */
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

/** The agent builds that are handed out, who runs them, and how a new one is published. */
export const PackagesPage = () => {
  useTitle('Agent builds')
  const { api, session } = useServices()
  const packages = useQuery({ queryKey: ['packages'], queryFn: ({ signal }) => api.call(listPackages, { signal }) })
  const list = packages.data?.data
  const hostsOf = useVersions(list ?? [])
  const key = packages.data?.releaseKey ?? null

  const withdraw = (one: AgentPackage) =>
    confirm({
      title: 'Withdraw a build',
      names: [`${one.version} for ${one.architecture}`],
      kind: ['build', 'builds'],
      consequence: 'no further host gets it. Hosts that run it keep it; a higher version replaces it there.',
      action: 'Withdraw',
      run: async () => {
        await api.call(withdrawPackage, { params: { id: one.id } })
        tell('Withdrawn.')
        await packages.refetch()
      },
    })

  return (
    <SettingsPage
      title="Agent builds"
      intro="Hosts install builds that carry the signature of the release key, and nothing else. The server hands them out; it can not make one."
      actions={
        <>
          {session.may('fleet:write') && list !== undefined && list.length > 0 ? (
            <Button component={Link} to="/rollouts/new" search={{ kind: 'update' } as never} size="compact-sm">
              Update hosts in rings…
            </Button>
          ) : null}
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, listPackages)} />
        </>
      }
    >
      {packages.error === null ? null : (
        <ErrorState failure={packages.error} retry={() => void packages.refetch()} inline />
      )}
      <SmallTable
        label="Agent builds"
        head={[
          'Version',
          'For',
          { title: 'Size', align: 'right' },
          { title: 'Hosts', align: 'right' },
          'Published',
          'By',
          'State',
          { title: '', align: 'right' },
        ]}
        rows={list?.map((one) => {
          const hosts = hostsOf.get(one.version)
          return {
            key: one.id,
            quiet: one.state === 'Withdrawn',
            cells: [
              <DeviceText key="version" value={one.version} />,
              one.architecture,
              bytesText(one.size),
              hosts === undefined ? (
                '–'
              ) : (
                <Link key="hosts" to="/agents" search={{ Version: one.version } as never}>
                  {hosts.toLocaleString('en')}
                </Link>
              ),
              <Time key="when" value={one.publishedAt} />,
              <DeviceText key="by" value={one.publishedBy} />,
              one.state === 'Withdrawn' ? 'withdrawn' : one.isNewest ? 'what an update brings' : 'older',
              one.state === 'Published' && session.may('packages:manage') ? (
                <Button key="withdraw" size="compact-xs" variant="default" onClick={() => withdraw(one)}>
                  Withdraw…
                </Button>
              ) : null,
            ],
          }
        })}
        empty="No build is published. Until then an update has nothing to bring."
      />
      <section className={classes.how}>
        <h2>Release key</h2>
        {key === null ? (
          <p>
            None is trusted yet. The first build that is published with <code>--trust</code> and the fingerprint of its
            key pins that key, here and on each host.
          </p>
        ) : (
          <p>
            <code className={classes.key}>{key.fingerprint}</code>
            <br />
            pinned by <DeviceText value={key.pinnedBy} /> <Time value={key.pinnedAt} form="local" />. A build signed by
            any other key is refused.
          </p>
        )}
        <h2>How a build is published</h2>
        <p>
          Signing needs no server: keep the key on a machine that is off the network, and carry the signed package to
          one that reaches this server.
        </p>
        <ol>
          {publishCommands(window.location.origin, key === null).map(({ what, command }) => (
            <li key={command}>
              {what}
              <CopyField value={command} what="Command" />
            </li>
          ))}
        </ol>
      </section>
    </SettingsPage>
  )
}
