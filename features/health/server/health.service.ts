import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { HealthStatus, Subsystem, SubsystemName, SystemStatus } from '#features/contract.ts'
import type { BuildInfo } from './build-info.ts'
import type { HealthContext } from './context.ts'
import { createHealthRead } from './health.read.ts'
import { type ProbeRunner, round, within } from './probe-results.ts'

/** Readiness must fail within 3 s of losing the database. */
const readyLimitMs = 2_000

export type HealthService = ReturnType<typeof createHealthService>

/** Returns the worst status of the configured subsystems. */
export const overall = (items: readonly { status: HealthStatus }[]): HealthStatus => {
  const all = new Set(items.map((item) => item.status))
  for (const status of ['Error', 'Warning', 'OK'] as const) if (all.has(status)) return status
  return 'Unknown'
}

export const createHealthService = (
  context: HealthContext,
  { version }: BuildInfo,
  probes: ProbeRunner,
  /** Returns the time of the last status change of a subsystem, if it is recorded. */
  sinceOf: (name: SubsystemName, status: HealthStatus) => Date | null,
) => {
  const { clock, db, licence, agents, ingest, config } = context
  const read = createHealthRead(db)
  const loop = monitorEventLoopDelay({ resolution: 10 })
  loop.enable()
  let cpuBefore = process.cpuUsage()
  let cpuAt = performance.now()
  /** Stays true once set. Probes check it only during a first start. */
  let isSetUp = false
  let ping: { answer: Promise<void>; at: number } | null = null

  async function subsystems(): Promise<Subsystem[]> {
    const probed = await probes.recent()
    return probed.map(({ item: { name, status, description, lastUpdated, latencyMs, whatToDo } }) => ({
      name,
      status,
      description,
      lastUpdated,
      latencyMs,
      since: sinceOf(name, status)?.toISOString() ?? null,
      whatToDo,
    }))
  }

  function processPercent(): number {
    const now = performance.now()
    const used = process.cpuUsage(cpuBefore)
    const percent = (used.user + used.system) / 10 / Math.max(1, now - cpuAt)
    cpuBefore = process.cpuUsage()
    cpuAt = now
    return round(percent)
  }

  function eventLoopDelay(): number {
    const p99 = loop.percentile(99) / 1e6
    loop.reset()
    // Subtracts the timer's own interval of 10 ms.
    return Number.isFinite(p99) ? Math.max(0, round(p99 - 10)) : 0
  }

  return {
    subsystems,

    status: async (): Promise<SystemStatus> => {
      const [items, licenseNow, fleet, disk, sizeBytes] = await Promise.all([
        subsystems(),
        licence.summary(),
        agents.totals(),
        statfs(config.dataDir),
        within(readyLimitMs, read.sizeBytes()).catch(() => null),
      ])
      const database = items.find((item) => item.name === 'database')
      const { checkInsPerSecond, queueDepth } = ingest.figures()
      return {
        status: overall(items),
        serverTime: new Date(clock.now()).toISOString(),
        uptimeSeconds: Math.floor(process.uptime()),
        version,
        licenseStatus: licenseNow.licenseStatus,
        cpu: {
          cores: availableParallelism(),
          loadAverage: round(loadavg()[0] ?? 0),
          processPercent: processPercent(),
        },
        memory: { totalBytes: totalmem(), freeBytes: freemem(), processBytes: process.memoryUsage.rss() },
        disk: { totalBytes: disk.blocks * disk.bsize, freeBytes: disk.bavail * disk.bsize },
        eventLoopDelayMs: eventLoopDelay(),
        database: { status: database?.status ?? 'Unknown', latencyMs: database?.latencyMs ?? null, sizeBytes },
        agents: { total: fleet.total, connected: fleet.connected },
        checkInsPerSecond: round(checkInsPerSecond),
        queueDepth,
      }
    },

    /** Checks the database. Simultaneous callers share one query, because a hanging one holds a connection. */
    assertReady: async (): Promise<void> => {
      const now = performance.now()
      if (ping === null || now - ping.at > 500) {
        const asked = { answer: within(readyLimitMs, read.ping()), at: now }
        const settled = () => {
          if (ping === asked) ping = null
        }
        asked.answer.then(settled, settled)
        ping = asked
      }
      await ping.answer.catch((cause: unknown) => {
        throw new AppError('unavailable', {}, { headers: { 'retry-after': '2' }, cause })
      })
      isSetUp ||= await within(readyLimitMs, context.isSetUp()).catch(() => false)
      if (!isSetUp) throw new AppError('unavailable', {}, { headers: { 'retry-after': '1' } })
    },

    versions: () => read.versions(),

    close: (): void => {
      loop.disable()
    },
  }
}
