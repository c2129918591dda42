import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Columns, Panel } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { primeVersion, subsystemHealth, systemStatus } from '#features/contract.ts'
import { MonitoringCard } from './MonitoringCard.tsx'
import { Parts } from './Parts.tsx'
import { ServerCard } from './ServerCard.tsx'
import { Status } from './Status.tsx'
import { strings } from './strings.ts'
import { ThresholdsCard } from './ThresholdsCard.tsx'

const interval = 15_000

/** The health of the product: its parts now and over time with remedies, figures, thresholds and version. */
export const HealthPage = () => {
  useTitle(strings.healthAndVersion)
  const { session } = useServices()
  const status = useRead(['health', 'status'], systemStatus, { refetchInterval: interval })
  const version = useRead(['version'], primeVersion)
  return (
    <SettingsPage
      title={strings.healthAndVersion}
      intro={strings.intro}
      actions={
        <>
          {status.data === undefined ? null : <Status status={status.data.status} />}
          <MoreMenu curl={() => curlOf(subsystemHealth)} />
        </>
      }
    >
      <Parts />
      <Columns template="repeat(auto-fit, minmax(340px, 1fr))" gap={16}>
        <ServerCard status={status} />
        <Panel>
          <h2>{strings.version}</h2>
          {version.data === undefined ? (
            version.error === null ? null : (
              <ErrorState query={version} inline />
            )
          ) : (
            <Facts
              rows={[
                [strings.portcullis, version.data.version],
                [strings.built, <Time key="b" value={version.data.buildDate} form="local" />],
                [strings.commit, <code key="c">{version.data.commit || strings.unknown}</code>],
                [strings.node, version.data.nodeVersion],
                ['PostgreSQL', version.data.databaseVersion],
                [strings.schema, String(version.data.schemaVersion)],
              ]}
            />
          )}
        </Panel>
        {session.may('config:read') ? <ThresholdsCard /> : null}
        <MonitoringCard />
      </Columns>
    </SettingsPage>
  )
}
