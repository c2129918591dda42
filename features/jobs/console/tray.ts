import type { Job } from '#features/contract.ts'
import { strings } from './strings.ts'

/** How long an ended item stays in the tray. */
export const keptMs = 60_000

/** A job in the tray. */
export interface TrayJob {
  job: Job
  /** When this tab first saw that it ended, by its own clock; null while it runs. */
  endedAt: number | null
}

/**
 * Returns the jobs in the tray: running jobs, and jobs that ended while shown or that this tab started. Jobs that ended
 * earlier are left out.
 */
export const nextTray = (
  shown: readonly TrayJob[],
  jobs: readonly Job[],
  memory: { followed: readonly string[]; closed: ReadonlySet<string> },
  now: number,
): TrayJob[] =>
  jobs.flatMap((job): TrayJob[] => {
    if (job.state === 'running') return [{ job, endedAt: null }]
    const before = shown.find((one) => one.job.id === job.id)
    if (memory.closed.has(job.id) || (before === undefined && !memory.followed.includes(job.id))) return []
    return [{ job, endedAt: before?.endedAt ?? now }]
  })

/** Returns true if an ended item can leave the tray. Failed items stay until closed. */
export const isOver = (one: { endedAt: number | null; failed: boolean }, now: number): boolean =>
  one.endedAt !== null && !one.failed && now - one.endedAt >= keptMs

/** Returns the progress of a job, 0 to 1; null if unknown. */
export const jobShare = ({ total, done, failed }: Pick<Job, 'total' | 'done' | 'failed'>): number | null =>
  total === 0 ? null : Math.min(1, (done + failed) / total)

/** Describes the state of a job. */
export const jobText = ({ state, total, done, failed, message }: Job): string => {
  switch (state) {
    case 'running':
      if (total === 0) return strings.starting
      return failed === 0 ? strings.running({ done, total }) : strings.runningWithFailures({ done, total, failed })
    case 'completed':
      return failed === 0 ? strings.completed({ done, total }) : strings.completedWithFailures({ done, failed })
    case 'cancelled':
      return strings.cancelledJob({ done, total })
    case 'failed':
      return message === '' ? strings.failed : strings.failedBecause({ message })
  }
}
