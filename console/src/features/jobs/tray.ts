import type { Job } from '@portcullis/contract'
import { strings } from './strings.ts'

/** How long something that has ended stays in the tray. */
export const keptMs = 60_000

/** A job in the tray. */
export interface TrayJob {
  job: Job
  /** When this tab first saw that it had ended, by its own clock; null while it runs. */
  endedAt: number | null
}

/**
 * What the tray shows after the server has told its jobs: running ones, and for a minute those that ended before our eyes
 * or that this tab has started. Jobs that had ended before are history and stay out. What failed stays until it is closed.
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

/** Whether an ended thing has been there long enough. What failed waits for a reader. */
export const isOver = (one: { endedAt: number | null; failed: boolean }, now: number): boolean =>
  one.endedAt !== null && !one.failed && now - one.endedAt >= keptMs

/** How far a job is, 0 to 1; null while it does not know its parts. */
export const jobShare = ({ total, done, failed }: Pick<Job, 'total' | 'done' | 'failed'>): number | null =>
  total === 0 ? null : Math.min(1, (done + failed) / total)

const _number = (value: number) => value.toLocaleString('en')

/** How a job stands, in words. */
export const jobText = ({ state, total, done, failed, message }: Job): string => {
  const faults = failed === 0 ? '' : strings.failedNotCarriedOut({ failed })
  switch (state) {
    case 'running':
      return total === 0 ? 'starting' : strings.doneOfTotalFaults({ done, total, faults })
    case 'completed':
      return failed === 0 ? strings.doneDoneOfTotal({ done, total }) : strings.endedDoneDoneFaults({ done, faults })
    case 'cancelled':
      return strings.cancelledDoneOfTotalDone({ done, total })
    case 'failed':
      return message === '' ? 'failed' : `failed: ${message}`
  }
}
