import { primeVersion, type Subsystem, subsystemHealth, systemStatus } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { bytesText } from '../../lib/bytes.ts'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { durationText } from '../../lib/time.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './HealthPage.module.css'
import { cureOf, healthSeverity, healthWord } from './health.ts'

// Probes are at most 30 s old; asking twice as often shows a change soon after it is known.
const interval = 15_000

const Status = ({ status }: { status: Subsystem['status'] }) => {
  const severity = healthSeverity[status]
  if (severity !== null) return <SeverityTag severity={severity} word={healthWord[status]} />
  return (
    <span className={classes.status}>
      {status === 'OK' ? <Icon name="check" size={14} /> : null}
      {healthWord[status]}
    </span>
  )
}

/** How the product is: its parts with what to do where one fails, its figures, its version. */
export const HealthPage = () => {
  useTitle('Health and version')
  const { api } = useServices()
  const parts = useQuery({
    queryKey: ['health', 'parts'],
    queryFn: ({ signal }) => api.call(subsystemHealth, { signal }),
    refetchInterval: interval,
  })
  const status = useQuery({
    queryKey: ['health', 'status'],
    queryFn: ({ signal }) => api.call(systemStatus, { signal }),
    refetchInterval: interval,
  })
  const version = useQuery({ queryKey: ['version'], queryFn: ({ signal }) => api.call(primeVersion, { signal }) })
  const server = status.data
  return (
    <SettingsPage
      title="Health and version"
      intro="Each line is a real probe, at most half a minute old."
      actions={
        <>
          {server === undefined ? null : <Status status={server.status} />}
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, subsystemHealth)} />
        </>
      }
    >
      {parts.error === null ? null : <ErrorState failure={parts.error} retry={() => void parts.refetch()} inline />}
      <SmallTable
        label="Parts of the product"
        head={['Part', 'State', 'What was seen', { title: 'Took', align: 'right' }, { title: 'When', align: 'right' }]}
        rows={parts.data?.map((part) => {
          const cure = cureOf(part)
          return {
            key: part.name,
            quiet: part.status === 'Unknown',
            cells: [
              part.name,
              <Status key="status" status={part.status} />,
              <span key="what">
                {part.description}
                {cure === null ? null : <span className={classes.cure}>{cure}</span>}
              </span>,
              part.latencyMs === null
                ? '–'
                : `${part.latencyMs < 10 ? part.latencyMs.toFixed(1) : Math.round(part.latencyMs)} ms`,
              <Time key="when" value={part.lastUpdated} />,
            ],
          }
        })}
        empty="Nothing is probed."
      />
      <div className={classes.cards}>
        <section className={classes.card}>
          <h2>Server</h2>
          {server === undefined ? (
            status.error === null ? null : (
              <ErrorState failure={status.error} retry={() => void status.refetch()} inline />
            )
          ) : (
            <Facts
              rows={[
                ['Running for', durationText(server.uptimeSeconds)],
                ['Clock', <Time key="c" value={server.serverTime} form="local" />],
                [
                  'Hosts',
                  `${server.agents.connected.toLocaleString('en')} of ${server.agents.total.toLocaleString('en')} connected`,
                ],
                [
                  'Check-ins',
                  `${server.checkInsPerSecond.toFixed(1)} a second, ${server.queueDepth.toLocaleString('en')} waiting`,
                ],
                [
                  'Processor',
                  `${server.cpu.processPercent.toFixed(0)} % of one core; load ${server.cpu.loadAverage.toFixed(2)} on ${server.cpu.cores} cores`,
                ],
                [
                  'Memory',
                  `${bytesText(server.memory.processBytes)} used, ${bytesText(server.memory.freeBytes)} of ${bytesText(server.memory.totalBytes)} free`,
                ],
                ['Disk', `${bytesText(server.disk.freeBytes)} of ${bytesText(server.disk.totalBytes)} free`],
                ['Database', server.database.sizeBytes === null ? 'away' : bytesText(server.database.sizeBytes)],
                ['Event loop', `${server.eventLoopDelayMs.toFixed(1)} ms (99th percentile)`],
                ['Licence', server.licenseStatus],
              ]}
            />
          )}
        </section>
        <section className={classes.card}>
          <h2>Version</h2>
          {version.data === undefined ? (
            version.error === null ? null : (
              <ErrorState failure={version.error} retry={() => void version.refetch()} inline />
            )
          ) : (
            <Facts
              rows={[
                ['Portcullis', version.data.version],
                ['Built', <Time key="b" value={version.data.buildDate} form="local" />],
                ['Commit', <code key="c">{version.data.commit || 'not known'}</code>],
                ['Node', version.data.nodeVersion],
                ['PostgreSQL', version.data.databaseVersion],
                ['Schema', String(version.data.schemaVersion)],
              ]}
            />
          )}
        </section>
      </div>
    </SettingsPage>
  )
}
