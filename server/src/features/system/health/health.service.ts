import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { HealthStatus, LicenseSummary, Subsystem, SubsystemName, SystemStatus } from '@portcullis/contract'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { type createLooks, round, within } from './health.probe-results.ts'
import type { FleetFigures, IngestFigures } from './health.probes.ts'
import type { HealthRead } from './health.read.ts'

/** Readiness has to turn within 3 s of losing the database. */
const readyLimitMs = 2_000

export interface HealthServiceDeps {
  clock: Clock
  read: HealthRead
  looks: Pick<ReturnType<typeof createLooks>, 'recent'>
  /** Since when a part is as it is, where that was written down. */
  sinceOf(name: SubsystemName, status: HealthStatus): Date | null
  license: () => Promise<LicenseSummary>
  fleet: () => Promise<FleetFigures>
  ingest: () => IngestFigures
  dataDir: string
  version: string
  /** Whether every pool sees what the first start committed. */
  isSetUp(): Promise<boolean>
}

export type HealthService = ReturnType<typeof createHealthService>

/** The worst of what is configured. */
export const overall = (items: readonly { status: HealthStatus }[]): HealthStatus => {
  const all = new Set(items.map((item) => item.status))
  for (const status of ['Error', 'Warning', 'OK'] as const) if (all.has(status)) return status
  return 'Unknown'
}

export const createHealthService = (deps: HealthServiceDeps) => {
  const { clock, read, looks, sinceOf, license, fleet, ingest, dataDir, version } = deps
  const loop = monitorEventLoopDelay({ resolution: 10 })
  loop.enable()
  let cpuBefore = process.cpuUsage()
  let cpuAt = performance.now()
  /** Once true it stays so: asked by each probe only while a first start is under way. */
  let isSetUp = false
  let ping: { answer: Promise<void>; at: number } | null = null

  async function subsystems(): Promise<Subsystem[]> {
    const looked = await looks.recent()
    return looked.map(({ item: { name, status, description, lastUpdated, latencyMs, whatToDo } }) => ({
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
    // The timer itself sleeps 10 ms between two looks.
    return Number.isFinite(p99) ? Math.max(0, round(p99 - 10)) : 0
  }

  return {
    subsystems,

    status: async (): Promise<SystemStatus> => {
      const [items, licenseNow, agents, disk, sizeBytes] = await Promise.all([
        subsystems(),
        license(),
        fleet(),
        statfs(dataDir),
        within(readyLimitMs, read.sizeBytes()).catch(() => null),
      ])
      const database = items.find((item) => item.name === 'database')
      const { checkInsPerSecond, queueDepth } = ingest()
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
        agents: { total: agents.total, connected: agents.connected },
        checkInsPerSecond: round(checkInsPerSecond),
        queueDepth,
      }
    },

    /** Asks the database; who asks while a question is on its way shares it: one that hangs holds a connection. */
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
      isSetUp ||= await within(readyLimitMs, deps.isSetUp()).catch(() => false)
      if (!isSetUp) throw new AppError('unavailable', {}, { headers: { 'retry-after': '1' } })
    },

    versions: () => read.versions(),

    close: (): void => {
      loop.disable()
    },
  }
}
