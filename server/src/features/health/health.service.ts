import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import {
  type HealthStatus,
  type LicenseSummary,
  type Subsystem,
  type SubsystemName,
  type SystemStatus,
  subsystemNames,
} from '@portcullis/contract'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { FleetFigures, IngestFigures, Probe } from './health.probes.ts'
import type { HealthRead } from './health.read.ts'

/** A result is good for this long; with the probes' own limit it is never over 30 s old when it is read. */
const freshMs = 20_000
const probeLimitMs = 5_000
/** Readiness has to turn within 3 s of losing the database. */
const readyLimitMs = 2_000

export interface HealthServiceDeps {
  clock: Clock
  read: HealthRead
  probes: Readonly<Partial<Record<SubsystemName, Probe>>>
  license: () => Promise<LicenseSummary>
  fleet: () => Promise<FleetFigures>
  ingest: () => IngestFigures
  dataDir: string
  version: string
}

export type HealthService = ReturnType<typeof createHealthService>

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms / 1000} s.`)), ms)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

const round = (value: number): number => Math.round(value * 10) / 10

/** The worst of what is configured. */
export const overall = (items: readonly { status: HealthStatus }[]): HealthStatus => {
  const all = new Set(items.map((item) => item.status))
  for (const status of ['Error', 'Warning', 'OK'] as const) if (all.has(status)) return status
  return 'Unknown'
}

export const createHealthService = (deps: HealthServiceDeps) => {
  const { clock, read, probes, license, fleet, ingest, dataDir, version } = deps
  const results = new Map<SubsystemName, { item: Subsystem; at: number }>()
  const running = new Map<SubsystemName, Promise<Subsystem>>()
  const loop = monitorEventLoopDelay({ resolution: 10 })
  loop.enable()
  let cpuBefore = process.cpuUsage()
  let cpuAt = performance.now()
  let ping: { answer: Promise<void>; at: number } | null = null

  const run = async (name: SubsystemName, probe: Probe): Promise<Subsystem> => {
    const startedAt = performance.now()
    const result = await within(probeLimitMs, probe()).catch((error: unknown) => ({
      status: 'Error' as const,
      description: error instanceof Error ? error.message : 'The probe failed.',
    }))
    const item: Subsystem = {
      name,
      ...result,
      lastUpdated: new Date(clock.now()).toISOString(),
      latencyMs: round(performance.now() - startedAt),
    }
    results.set(name, { item, at: performance.now() })
    return item
  }

  /** A result of at most 20 s; else the probe runs, once for all who ask meanwhile. */
  const look = async (name: SubsystemName): Promise<Subsystem> => {
    const probe = probes[name]
    if (probe === undefined)
      return {
        name,
        status: 'Unknown',
        description: 'Not configured',
        lastUpdated: new Date(clock.now()).toISOString(),
        latencyMs: null,
      }
    const known = results.get(name)
    if (known !== undefined && performance.now() - known.at < freshMs) return known.item
    let pending = running.get(name)
    if (pending === undefined) {
      pending = run(name, probe).finally(() => running.delete(name))
      running.set(name, pending)
    }
    return pending
  }

  const subsystems = (): Promise<Subsystem[]> => Promise.all(subsystemNames.map(look))

  const processPercent = (): number => {
    const now = performance.now()
    const used = process.cpuUsage(cpuBefore)
    const percent = (used.user + used.system) / 10 / Math.max(1, now - cpuAt)
    cpuBefore = process.cpuUsage()
    cpuAt = now
    return round(percent)
  }

  const eventLoopDelay = (): number => {
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
    },

    versions: () => read.versions(),

    close: (): void => {
      loop.disable()
    },
  }
}
