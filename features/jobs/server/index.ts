import { cancelJob, getJob, listJobs } from '@portcullis/contract'
import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Metrics } from '@portcullis/platform/server/metrics.ts'
import { createJobsHealth, type JobsHealthDeps } from './jobs.health.ts'
import { createRunner, type RunnerDeps } from './jobs.runner.ts'
import { createJobsService, type JobsDeps, jobsTopic } from './jobs.service.ts'

export type { JobHandler, JobRun } from './jobs.runner.ts'
export type JobsApi = ReturnType<typeof jobsFeature>

/**
 * Runs work that takes longer than a request. Jobs are enqueued in the caller's transaction, run on any free replica,
 * resume after a crash, show their progress, and can be cancelled.
 */
export const jobsFeature = (
  app: HttpApp,
  deps: JobsDeps & Omit<RunnerDeps, 'ended'> & JobsHealthDeps & { bus: Bus; metrics: Pick<Metrics, 'counter'> },
) => {
  const ended = deps.metrics.counter(
    'portcullis_jobs_ended_total',
    'Jobs that this process ended, by kind and outcome.',
    ['kind', 'outcome'],
  )
  const service = createJobsService(deps)
  const runner = createRunner({ ...deps, ended: (kind, outcome) => ended.inc({ kind, outcome }) })
  const { beat, leave, health, figures } = createJobsHealth(deps)
  app.register(listJobs, ({ actor }) => service.recent(actor))
  app.register(getJob, ({ actor, params }) => service.read(actor, params.id))
  app.register(cancelJob, ({ actor, params }) => service.cancel(actor, params.id))
  deps.bus.on(jobsTopic, runner.wake)
  deps.bus.onGap(runner.wake)
  return {
    enqueue: service.enqueue,
    count: service.count,
    /** Registers the handler of a kind of jobs. Call it once per kind, when the server is wired. */
    handle: runner.handle,
    /** Requires a further permission and fresh authentication to cancel jobs of a kind. */
    guardCancel: service.guardCancel,
    drain: runner.drain,
    /** Looks for due jobs: no message announces those of a crashed replica. */
    wakeDue: runner.wakeDue,
    forget: service.forget,
    /** Records that this process takes jobs. */
    beat,
    health,
    figures,
    close: async () => {
      await runner.close()
      await leave()
    },
  }
}
