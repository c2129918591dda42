import type { SystemStatus } from '@portcullis/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { bytesText } from '../../lib/bytes.ts'
import { durationText } from '../../lib/time.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './HealthPage.module.css'

const count = (value: number): string => value.toLocaleString('en')

/** Figures of the process that answered. */
export const ServerCard = ({ status }: { status: UseQueryResult<SystemStatus> }) => {
  const server = status.data
  return (
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
            ['Hosts', `${count(server.agents.connected)} of ${count(server.agents.total)} connected`],
            ['Check-ins', `${server.checkInsPerSecond.toFixed(1)} a second, ${count(server.queueDepth)} waiting`],
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
  )
}
