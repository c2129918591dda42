import { cancelJob, getJob, listJobs } from '@portcullis/contract'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { JobsContext } from './context.ts'
import { createJobsHealth } from './jobs.health.ts'
import { createRunner } from './jobs.runner.ts'
import { createJobsService, jobsTopic } from './jobs.service.ts'

export type { JobHandler, JobRun } from './jobs.runner.ts'
export type JobsApi = ReturnType<typeof jobsFeature>

/**
 * Runs work that takes longer than a request. Jobs are enqueued in the caller's transaction, run on any free replica,
 * resume after a crash, show their progress, and can be cancelled.
 */
export const jobsFeature = (app: HttpApp, context: JobsContext) => {
  const ended = context.metrics.counter(
    'portcullis_jobs_ended_total',
    'Jobs that this process ended, by kind and outcome.',
    ['kind', 'outcome'],
  )
  const service = createJobsService(context)
  const runner = createRunner({ ...context, ended: (kind, outcome) => ended.inc({ kind, outcome }) })
  const { beat, leave, health, figures } = createJobsHealth(context)
  app.register(listJobs, ({ actor }) => service.recent(actor))
  app.register(getJob, ({ actor, params }) => service.read(actor, params.id))
  app.register(cancelJob, ({ actor, params }) => service.cancel(actor, params.id))
  context.bus.on(jobsTopic, runner.wake)
  context.bus.onGap(runner.wake)
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
