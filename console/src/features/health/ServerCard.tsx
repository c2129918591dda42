import type { SystemStatus } from '@portcullis/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { bytesText } from '../../lib/bytes.ts'
import { durationText } from '../../lib/time.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './HealthPage.module.css'
import { strings } from './strings.ts'

const count = (value: number): string => value.toLocaleString('en')

/** Figures of the process that answered. */
export const ServerCard = ({ status }: { status: UseQueryResult<SystemStatus> }) => {
  const server = status.data
  return (
    <section className={classes.card}>
      <h2>{strings.server}</h2>
      {server === undefined ? (
        status.error === null ? null : (
          <ErrorState failure={status.error} retry={() => void status.refetch()} inline />
        )
      ) : (
        <Facts
          rows={[
            [strings.runningFor, durationText(server.uptimeSeconds)],
            [strings.clock, <Time key="c" value={server.serverTime} form="local" />],
            [
              strings.hosts,
              strings.connectedOfTotalConnected({
                connected: count(server.agents.connected),
                total: count(server.agents.total),
              }),
            ],
            [
              'Check-ins',
              strings.checkinspersecondASecondQueuedepthWaiting({
                checkInsPerSecond: server.checkInsPerSecond.toFixed(1),
                queueDepth: count(server.queueDepth),
              }),
            ],
            [
              strings.processor,
              strings.processpercentOfOneCoreLoadLoadaverage({
                processPercent: server.cpu.processPercent.toFixed(0),
                loadAverage: server.cpu.loadAverage.toFixed(2),
                cores: server.cpu.cores,
              }),
            ],
            [
              strings.memory,
              strings.processbytesUsedFreebytesOfTotalbytesFree({
                processBytes: bytesText(server.memory.processBytes),
                freeBytes: bytesText(server.memory.freeBytes),
                totalBytes: bytesText(server.memory.totalBytes),
              }),
            ],
            [
              strings.disk,
              strings.freebytesOfTotalbytesFree({
                freeBytes: bytesText(server.disk.freeBytes),
                totalBytes: bytesText(server.disk.totalBytes),
              }),
            ],
            [strings.database, server.database.sizeBytes === null ? 'away' : bytesText(server.database.sizeBytes)],
            [
              strings.eventLoop,
              strings.eventloopdelaymsMs99thPercentile({ eventLoopDelayMs: server.eventLoopDelayMs.toFixed(1) }),
            ],
            [strings.licence, server.licenseStatus],
          ]}
        />
      )}
    </section>
  )
}
