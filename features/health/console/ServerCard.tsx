import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { durationText } from '@portcullis/platform/console/lib/time.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Panel } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { UseQueryResult } from '@tanstack/react-query'
import type { SystemStatus } from '#features/contract.ts'
import { strings } from './strings.ts'

const count = (value: number): string => value.toLocaleString('en')

/** Figures of the server process that answered. */
export const ServerCard = ({ status }: { status: UseQueryResult<SystemStatus> }) => {
  const server = status.data
  return (
    <Panel>
      <h2>{strings.server}</h2>
      {server === undefined ? (
        status.error === null ? null : (
          <ErrorState query={status} inline />
        )
      ) : (
        <Facts
          rows={[
            [strings.uptime, durationText(server.uptimeSeconds)],
            [strings.clock, <Time key="c" value={server.serverTime} form="local" />],
            [
              strings.hosts,
              strings.connectedHosts({ connected: count(server.agents.connected), total: count(server.agents.total) }),
            ],
            [
              strings.checkIns,
              strings.checkInRate({ rate: server.checkInsPerSecond.toFixed(1), waiting: count(server.queueDepth) }),
            ],
            [
              strings.cpu,
              strings.cpuUse({
                percent: server.cpu.processPercent.toFixed(0),
                load: server.cpu.loadAverage.toFixed(2),
                cores: server.cpu.cores,
              }),
            ],
            [
              strings.memory,
              strings.memoryUse({
                used: bytesText(server.memory.processBytes),
                free: bytesText(server.memory.freeBytes),
                total: bytesText(server.memory.totalBytes),
              }),
            ],
            [
              strings.disk,
              strings.diskFree({
                free: bytesText(server.disk.freeBytes),
                total: bytesText(server.disk.totalBytes),
              }),
            ],
            [
              strings.database,
              server.database.sizeBytes === null ? strings.unavailable : bytesText(server.database.sizeBytes),
            ],
            [strings.eventLoop, strings.eventLoopDelay({ delay: server.eventLoopDelayMs.toFixed(1) })],
          ]}
        />
      )}
    </Panel>
  )
}
