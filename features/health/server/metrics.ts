import { readdir } from 'node:fs/promises'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Metrics, Sample } from '@portcullis/platform/server/metrics.ts'
import type { AnyOperation, HealthStatus } from '#features/contract.ts'
import type { BuildInfo } from './build-info.ts'
import type { HealthContext } from './context.ts'
import { createHealthRead } from './health.read.ts'
import type { ProbeRunner } from './probe-results.ts'

/** Higher is worse, so that an alert is one comparison. */
const statusNumber: Record<HealthStatus, number> = { Unknown: 0, OK: 1, Warning: 2, Error: 3 }

/** Interval of the timer that measures the event loop. */
const resolutionMs = 20

/** Shares one answer among the figures of a scrape, for half a second. */
const shared = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let last: { answer: Promise<T>; at: number } | null = null
  return () => {
    const now = performance.now()
    if (last === null || now - last.at > 500) last = { answer: ask(), at: now }
    return last.answer
  }
}

/** Counts requests by operation id: paths would create a series per object. */
const measureRequests = (app: HttpApp, metrics: Metrics): void => {
  const requests = metrics.counter('portcullis_http_requests_total', 'Requests answered, by operation and status.', [
    'operation',
    'status',
  ])
  const seconds = metrics.histogram(
    'portcullis_http_request_duration_seconds',
    'Seconds from a request to the end of its answer.',
    ['operation'],
  )
  app.fastify.addHook('onResponse', async (request, reply) => {
    const config = request.routeOptions.config as { operation?: AnyOperation }
    const operation = config.operation?.id ?? 'none'
    requests.inc({ operation, status: String(reply.statusCode) })
    seconds.observe(reply.elapsedTime / 1000, { operation })
  })
}

/** Measures the process, under the metric names that other exporters use. */
const measureProcess = (metrics: Metrics): { sample(): Promise<void>; close(): void } => {
  const { read } = metrics
  read('process_resident_memory_bytes', 'gauge', 'Resident memory of this process.', () => process.memoryUsage.rss())
  read('process_cpu_seconds_total', 'counter', 'Processor time of this process.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  read('process_start_time_seconds', 'gauge', 'Start of this process, seconds since 1970.', () =>
    Math.round(performance.timeOrigin / 1000),
  )
  read(
    'process_open_fds',
    'gauge',
    'Open files and sockets of this process.',
    async () => (await readdir('/proc/self/fd')).length,
  )
  read('nodejs_heap_size_used_bytes', 'gauge', 'Heap in use.', () => process.memoryUsage().heapUsed)
  read(
    'nodejs_heap_size_total_bytes',
    'gauge',
    'Heap allocated from the system.',
    () => process.memoryUsage().heapTotal,
  )
  read(
    'nodejs_external_memory_bytes',
    'gauge',
    'Memory outside the heap that is bound to objects.',
    () => process.memoryUsage().external,
  )
  read(
    'nodejs_eventloop_busy_seconds_total',
    'counter',
    'Time that the event loop was busy; its rate is the share of one core.',
    () => performance.eventLoopUtilization().active / 1000,
  )
  const late = metrics.histogram(
    'nodejs_eventloop_delay_seconds',
    'Longest delay of the event loop in each second.',
    [],
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  )
  const loop = monitorEventLoopDelay({ resolution: resolutionMs })
  loop.enable()
  return {
    sample: async () => {
      // The timer may not have fired between two samples.
      if (loop.count > 0) late.observe(Math.max(0, loop.max / 1e6 - resolutionMs) / 1000)
      loop.reset()
    },
    close: () => {
      loop.disable()
    },
  }
}

/** Registers the metrics of /metrics. Features with their own figures register them with the same `metrics`. */
export const measure = (app: HttpApp, context: HealthContext, build: BuildInfo, probeRunner: ProbeRunner) => {
  const { metrics, db, exportDb, ingest } = context
  const read = createHealthRead(db)
  measureRequests(app, metrics)
  metrics.read('portcullis_build_info', 'gauge', 'Running version; the value is always 1.', () => [
    { labels: { version: build.version, commit: build.commit, node: process.versions.node }, value: 1 },
  ])
  const parts = shared(probeRunner.recent)
  metrics.read(
    'portcullis_subsystem_status',
    'gauge',
    'Status of a subsystem: 0 not configured, 1 OK, 2 warning, 3 error.',
    async () =>
      (await parts()).map(({ item }) => ({ labels: { subsystem: item.name }, value: statusNumber[item.status] })),
  )
  metrics.read(
    'portcullis_subsystem_probe_duration_seconds',
    'gauge',
    'Duration of the last probe of a subsystem.',
    async () =>
      (await parts()).flatMap(({ item }) =>
        item.latencyMs === null ? [] : [{ labels: { subsystem: item.name }, value: item.latencyMs / 1000 }],
      ),
  )
  const poolFigures = (pick: (figures: ReturnType<Db['figures']>) => Sample[]): Sample[] =>
    Object.entries({ serve: db, export: exportDb }).flatMap(([pool, db]) =>
      pick(db.figures()).map(({ labels, value }) => ({ labels: { pool, ...labels }, value })),
    )
  metrics.read('portcullis_db_pool_connections', 'gauge', 'Connections to the database, by pool and state.', () =>
    poolFigures(({ used, idle }) => [
      { labels: { state: 'used' }, value: used },
      { labels: { state: 'idle' }, value: idle },
    ]),
  )
  metrics.read('portcullis_db_pool_connections_limit', 'gauge', 'Maximum connections of a pool.', () =>
    poolFigures(({ limit }) => [{ labels: {}, value: limit }]),
  )
  metrics.read('portcullis_db_pool_waiting', 'gauge', 'Callers that wait for a connection.', () =>
    poolFigures(({ waiting }) => [{ labels: {}, value: waiting }]),
  )
  metrics.read('portcullis_database_size_bytes', 'gauge', 'Size of the database.', read.sizeBytes)
  metrics.read(
    'portcullis_events_appended_total',
    'counter',
    'Events stored since installation; the same on every replica.',
    read.newestEventId,
  )
  const fleet = shared(context.agents.totals)
  metrics.read('portcullis_agents', 'gauge', 'Known hosts.', async () => (await fleet()).total)
  metrics.read('portcullis_agents_connected', 'gauge', 'Connected hosts.', async () => (await fleet()).connected)
  metrics.read('portcullis_wake_sockets', 'gauge', 'Hosts that this process can wake immediately.', ingest.wake.size)
  metrics.read(
    'portcullis_ingest_queue_depth',
    'gauge',
    'Reports that wait to be stored.',
    () => ingest.figures().queueDepth,
  )
  const jobs = shared(context.jobs.figures)
  metrics.read('portcullis_jobs_waiting', 'gauge', 'Jobs that are due.', async () => (await jobs()).waiting)
  metrics.read('portcullis_jobs_running', 'gauge', 'Jobs that are running.', async () => (await jobs()).running)
  metrics.read(
    'portcullis_jobs_failed',
    'gauge',
    'Jobs that failed in the last day.',
    async () => (await jobs()).failed,
  )
  metrics.read('portcullis_job_runners', 'gauge', 'Processes that take jobs.', async () => (await jobs()).runners)
  metrics.read('portcullis_mails_waiting', 'gauge', 'Mails that wait to be sent.', context.mail.waiting)
  return measureProcess(metrics)
}
