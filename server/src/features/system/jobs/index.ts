import { cancelJob, getJob, listJobs } from '@portcullis/contract'
import type { Bus } from '#platform/db/bus.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Metrics } from '#platform/metrics.ts'
import { createJobsHealth, type JobsHealthDeps } from './jobs.health.ts'
import { createRunner, type RunnerDeps } from './jobs.runner.ts'
import { createJobsService, type JobsDeps, jobsTopic } from './jobs.service.ts'

export type { JobHandler, JobRun } from './jobs.runner.ts'
export type JobsApi = ReturnType<typeof jobsFeature>

/**
 * Work that takes longer than a request: enqueued in the caller's transaction, carried out by whichever replica is free,
 * resumed after a crash, shown with its progress, cancelled by a person.
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
  app.register(listJobs, () => service.recent())
  app.register(getJob, ({ params }) => service.read(params.id))
  app.register(cancelJob, ({ actor, params }) => service.cancel(actor, params.id))
  deps.bus.on(jobsTopic, runner.wake)
  deps.bus.onGap(runner.wake)
  return {
    enqueue: service.enqueue,
    count: service.count,
    /** Names who carries out jobs of a kind; once per kind, when the server is wired. */
    handle: runner.handle,
    drain: runner.drain,
    /** Looks for jobs that are due: after a crash of another replica nothing else says so. */
    wake: runner.wake,
    forget: service.forget,
    /** Says that this process takes jobs. */
    beat,
    health,
    figures,
    close: async () => {
      await runner.close()
      await leave()
    },
  }
}
