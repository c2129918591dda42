import { newId } from '@portcullis/platform/server/ids.ts'
import type { HealthStatus } from '#features/contract.ts'
import type { JobsContext } from './context.ts'
import { createJobsStore, type QueueFigures } from './jobs.store.ts'

/** How long after its last beat a process counts as taking jobs. */
const aliveMs = 60_000
const goneMs = 3_600_000
const dayMs = 24 * 3_600_000

const minutes = (seconds: number): string =>
  seconds < 120
    ? `${Math.round(seconds)} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`

export const createJobsHealth = ({ db, clock, settings }: JobsContext) => {
  const store = createJobsStore(db)
  const runnerId = newId(clock.now())

  function figures(): Promise<QueueFigures> {
    const now = clock.now()
    return store.figures(new Date(now), new Date(now - dayMs), new Date(now - aliveMs))
  }

  return {
    /** Records that this process takes jobs. */
    beat: (): Promise<void> => store.beat(runnerId, new Date(clock.now()), new Date(clock.now() - goneMs)),
    /** Removes this process from the list. If that fails, its row expires. */
    leave: async (): Promise<void> => {
      await store.leave(runnerId).catch(() => {})
    },
    figures,

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      const { waiting, running, oldestUntaken, failed, lastFailed, runners } = await figures()
      const waitSeconds = settings.threshold('JOB_WAIT_SECONDS')
      const maxFailed = settings.threshold('JOBS_FAILED')
      const waited = oldestUntaken === null ? 0 : Math.max(0, clock.now() - oldestUntaken.getTime()) / 1000
      const servers = runners === 1 ? '1 process takes jobs' : `${runners} processes take jobs`
      const queue = `${running} running, ${waiting} waiting; ${servers}.`
      if (waited > waitSeconds)
        return {
          status: waited > 10 * waitSeconds ? 'Error' : 'Warning',
          description: `A job has been due for ${minutes(waited)}, but no process takes it; ${queue}`,
        }
      if (maxFailed > 0 && failed >= maxFailed)
        return {
          status: 'Warning',
          description: `${failed === 1 ? '1 job' : `${failed} jobs`} failed in the last day, most recently: ${lastFailed}. ${queue}`,
        }
      return { status: 'OK', description: queue[0]?.toUpperCase() + queue.slice(1) }
    },
  }
}
