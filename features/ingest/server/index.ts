import type { IncomingMessage } from 'node:http'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { Metrics } from '@portcullis/platform/server/metrics.ts'
import { createRate } from '@portcullis/platform/server/rate.ts'
import type { Tracer } from '@portcullis/platform/server/tracing/index.ts'
import type { AgentlessApi } from '#features/agentless/server/index.ts'
import { type AgentsApi, hostTopics } from '#features/agents/server/index.ts'
import { registerAgentProtocol } from './agent-routes.ts'
import { createCheckInPath } from './check-in-path.ts'
import { createCheckIns } from './check-ins.ts'
import { registerDebugLogUpload } from './debug-log-routes.ts'
import { createQuota, workerQuota } from './quota.ts'
import { createReports, type ReportsDeps } from './reports.ts'
import { createWake } from './wake.ts'
import { registerWorkerProtocol } from './worker-routes.ts'

export { registerAgentPolicy } from './policy-routes.ts'

export interface IngestDeps extends ReportsDeps {
  db: Db
  clock: Clock
  log: Log
  bus: Pick<Bus, 'on'>
  agents: AgentsApi
  agentless: Pick<AgentlessApi, 'worker' | 'polls'>
  intervalSeconds(): number
  /** Returns the address that a request came from. */
  addressOf(request: IncomingMessage): string
  /** Longest wait of a check-in for its batch, in milliseconds. */
  maxWaitMs: number
  tracer: Pick<Tracer, 'work'>
  metrics: Pick<Metrics, 'counter' | 'histogram'>
}

export type IngestApi = ReturnType<typeof createIngest>

/** Number of missed intervals after which an agent counts as disconnected. */
const missedIntervals = 3

/** Creates the ingest: enrolment and sessions, check-ins, wake sockets, and the detection of disconnected hosts. */
export const createIngest = (deps: IngestDeps) => {
  const { clock, log, agents, metrics } = deps
  const rate = createRate()
  const count = metrics.counter('portcullis_check_ins_total', 'Check-ins acknowledged.')
  const duration = metrics.histogram(
    'portcullis_check_in_duration_seconds',
    'Time from request to answer of a check-in.',
  )
  const checkIns = createCheckIns({
    clock,
    agents,
    reports: createReports(deps),
    revoked: agents.revoked,
    commandsFor: deps.commands.deliver,
    log,
    tracer: deps.tracer,
    maxWaitMs: deps.maxWaitMs,
    counted: (n) => {
      count.inc({}, n)
      rate.add(n)
    },
  })
  const wake = createWake({ clock, verifySession: agents.verifySession })
  deps.bus.on(hostTopics.wake, ({ ids }) => (ids as string[]).forEach(wake.wake))
  deps.bus.on(hostTopics.removed, ({ ids }) => wake.drop(ids as string[]))
  return {
    fastPath: createCheckInPath({
      clock,
      log,
      checkIns,
      quota: createQuota(clock),
      verifySession: agents.verifySession,
      intervalSeconds: deps.intervalSeconds,
      addressOf: deps.addressOf,
      observed: (milliseconds) => duration.observe(milliseconds / 1000),
    }),
    register: (app: HttpApp): void => {
      registerAgentProtocol(app, agents, clock)
      registerDebugLogUpload(app, deps)
      registerWorkerProtocol(app, {
        clock,
        agentless: deps.agentless,
        checkIns,
        quota: createQuota(clock, workerQuota),
      })
      wake.attach(app.fastify.server)
    },
    wake,
    /** Stores a report about a host without an agent. */
    report: checkIns.report,
    figures: () => ({ queueDepth: checkIns.depth(), checkInsPerSecond: rate.perSecond() }),
    drain: checkIns.drain,
    /** Marks hosts without recent check-ins as disconnected; runs every second. */
    sweep: (): Promise<number> =>
      agents.disconnectSilent(new Date(clock.now() - deps.intervalSeconds() * missedIntervals * 1000)),
  }
}
