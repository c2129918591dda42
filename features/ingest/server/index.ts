import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createRate } from '@portcullis/platform/server/rate.ts'
import { hostTopics } from '#features/agents/server/index.ts'
import { registerAgentPolicy } from './agent-policy.routes.ts'
import { registerAgentProtocol } from './agent-protocol.routes.ts'
import { createCheckInPath } from './check-in-path.ts'
import { createCheckIns } from './check-ins.ts'
import type { IngestContext } from './context.ts'
import { registerDebugLogUpload } from './debug-log-upload.routes.ts'
import { createWake } from './wake.ts'
import { registerWorkerProtocol } from './worker-protocol.routes.ts'

export type IngestApi = ReturnType<typeof ingestFeature>

/** Number of missed intervals after which an agent counts as disconnected. */
const missedIntervals = 3

/** Creates the ingest: enrolment and sessions, check-ins, wake sockets, and the detection of disconnected hosts. */
export const ingestFeature = (app: HttpApp, context: IngestContext) => {
  const { clock, agents, metrics } = context
  const rate = createRate()
  const count = metrics.counter('portcullis_check_ins_total', 'Check-ins acknowledged.')
  const checkIns = createCheckIns(context, (n) => {
    count.inc({}, n)
    rate.add(n)
  })
  const wake = createWake({ clock, verifySession: agents.verifySession })
  context.bus.on(hostTopics.wake, ({ ids }) => (ids as string[]).forEach(wake.wake))
  context.bus.on(hostTopics.removed, ({ ids }) => wake.drop(ids as string[]))
  registerAgentProtocol(app, agents, clock)
  registerDebugLogUpload(app, context)
  registerWorkerProtocol(app, context, checkIns)
  registerAgentPolicy(app, context)
  wake.attach(app.fastify.server)
  return {
    fastPath: createCheckInPath(context, checkIns),
    wake,
    /** Stores a report about a host without an agent. */
    report: checkIns.report,
    figures: () => ({ queueDepth: checkIns.depth(), checkInsPerSecond: rate.perSecond() }),
    drain: checkIns.drain,
    /** Marks hosts without recent check-ins as disconnected; runs every second. */
    sweep: (): Promise<number> =>
      agents.disconnectSilent(
        new Date(clock.now() - Number(context.settings.now('VENDORA_CHECKIN_SECONDS')) * missedIntervals * 1000),
      ),
  }
}
