import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { cancelJob, getJob, listJobs } from '#features/contract.ts'
import type { JobsContext } from './context.ts'
import { createJobsHealth } from './health.ts'
import { createRunner } from './jobs.runner.ts'
import { createJobsService, jobsTopic } from './jobs.service.ts'

export type { JobHandler, JobRun } from './jobs.runner.ts'
export type JobsApi = ReturnType<typeof jobsFeature>

/**
 * Runs work that takes longer than a request. Jobs are enqueued in the caller's transaction, run on any free replica,
 * resume after a crash, show their progress, and can be cancelled.
 */
export const jobsFeature = (app: HttpApp, context: JobsContext) => {
  const service = createJobsService(context)
  const runner = createRunner(context)
  const { leave, ...health } = createJobsHealth(context)
  app.register(listJobs, ({ actor }) => service.recent(actor))
  app.register(getJob, ({ actor, params }) => service.read(actor, params.id))
  app.register(cancelJob, ({ actor, params }) => service.cancel(actor, params.id))
  context.bus.on(jobsTopic, runner.wake)
  context.bus.onGap(runner.wake)
  return {
    ...service,
    ...runner,
    ...health,
    close: async () => {
      await runner.close()
      await leave()
    },
  }
}
