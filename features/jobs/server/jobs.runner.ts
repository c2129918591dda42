import { mustExist } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { isConflict, isUnavailable, type Tx } from '@portcullis/platform/server/db/db.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import type { JobsContext } from './context.ts'
import { type ClaimedJob, createJobsStore, type Progress } from './jobs.store.ts'

/**
 * How long a replica may be silent about a job before another takes it. Each step renews the lease and must be shorter.
 */
const leaseMs = 60_000
/** Delay before a job is retried after a temporary failure. */
const retryMs = 5_000
/** Attempts without progress before a job fails. */
const maxAttempts = 5

/** A job, as its handler sees it. */
export interface JobRun {
  readonly id: string
  /** As it was enqueued. */
  readonly data: unknown
  /** Position after the last step. Null before the first. */
  readonly cursor: unknown
  /** Counts of the steps so far. Null before the first. */
  readonly tally: unknown
  readonly createdBy: string
  /**
   * Records a step in the step's transaction. Throws if the job was cancelled or taken over, so that the step is rolled
   * back. Call it in each step. Locks the job's row: after agents and counters, before events and audit.
   */
  save(tx: Tx, step: Progress): Promise<void>
}

/**
 * Runs a job from its cursor on. It may run again after a crash, so steps must record their progress in the cursor.
 * `waits`: parts of the job end elsewhere (`count`), and the job completes with the last of them.
 */
export interface JobHandler {
  run(job: JobRun): Promise<'done' | 'waits'>
  /** Cleans up after a cancellation. May be called more than once. */
  cancelled?(job: JobRun): Promise<void>
  /** Cleans up before the job is recorded as failed. May be called more than once. */
  failed?(job: JobRun): Promise<void>
}

/** The job was taken over or cancelled, so the current step must be rolled back. */
class JobLost extends Error {}

/**
 * Runs due jobs, those of each kind one after the other, so that a long job does not delay urgent ones of other kinds.
 * Other replicas run other jobs. A claim is a row lock and a lease with its own id (fencing): a runner that lost its
 * lease can save nothing.
 */
export const createRunner = ({ db, clock, log, metrics, tracer }: JobsContext) => {
  const counted = metrics.counter('portcullis_jobs_ended_total', 'Jobs that this process ended, by kind and outcome.', [
    'kind',
    'outcome',
  ])
  const ended = (kind: string, outcome: 'completed' | 'failed' | 'cancelled'): void => counted.inc({ kind, outcome })
  const store = createJobsStore(db)
  const handlers = new Map<string, JobHandler>()
  let stopping = false
  /** The running job of each kind. */
  const lanes = new Map<string, Promise<boolean>>()
  /** Kinds that are checked again after their running job. */
  const woken = new Set<string>()

  const inMs = (milliseconds: number) => new Date(clock.now() + milliseconds)

  /** Records a failure after the handler cleaned up. If the cleanup fails, the job is retried. */
  async function fail(job: ClaimedJob, leaseId: string, handler: JobHandler, run: JobRun, why: string): Promise<void> {
    try {
      await handler.failed?.(run)
    } catch (error) {
      log.warn({ err: error, jobId: job.job_id, kind: job.kind }, 'could not clean up after a failed job')
      await store.release(leaseId, job.job_id, inMs(retryMs))
      return
    }
    await store.fail(leaseId, job.job_id, inMs(0), why)
    ended(job.kind, 'failed')
  }

  async function work(job: ClaimedJob, leaseId: string): Promise<void> {
    const handler = mustExist(handlers.get(job.kind), 'the handler of a job')
    const run: JobRun = {
      id: job.job_id,
      data: job.data,
      cursor: job.cursor,
      tally: job.tally,
      createdBy: job.created_by,
      save: async (tx, step) => {
        if (stopping || !(await store.save(tx, leaseId, inMs(leaseMs), job.job_id, step))) throw new JobLost()
      },
    }
    try {
      if (job.state === 'running') {
        const outcome = await handler.run(run)
        await store.settle(leaseId, job.job_id, inMs(0), outcome === 'waits')
        ended(job.kind, 'completed')
      } else {
        await handler.cancelled?.(run)
        await store.settle(leaseId, job.job_id, inMs(0), false)
        ended(job.kind, 'cancelled')
      }
    } catch (error) {
      // A job that a stopping server interrupts did not fail.
      if (error instanceof JobLost || stopping) await store.release(leaseId, job.job_id, inMs(0))
      else if (error instanceof AppError && error.status < 500) await fail(job, leaseId, handler, run, error.message)
      else if (job.attempts < maxAttempts && (isUnavailable(error) || isConflict(error)))
        await store.release(leaseId, job.job_id, inMs(retryMs))
      else {
        log.error({ err: error, jobId: job.job_id, kind: job.kind }, 'job failed')
        await fail(job, leaseId, handler, run, 'The server failed. See its log for details.')
      }
    }
  }

  async function takeOne(kind: string): Promise<boolean> {
    if (stopping) return false
    const leaseId = newId(clock.now())
    const job = await store.claim(leaseId, inMs(0), inMs(leaseMs), kind)
    if (job === undefined) return false
    await tracer.work(`job ${kind}`, { 'portcullis.job': job.job_id }, () => work(job, leaseId))
    return true
  }

  /** Runs one due job of a kind, after the running one. Returns false if none was due. */
  async function runOne(kind: string): Promise<boolean> {
    for (let before = lanes.get(kind); before !== undefined; before = lanes.get(kind)) await before.catch(() => {})
    const lane = takeOne(kind).finally(() => lanes.delete(kind))
    lanes.set(kind, lane)
    return lane
  }

  /** Runs due jobs of a kind until none is left. Returns true if there was one. */
  async function drainKind(kind: string): Promise<boolean> {
    let ran = false
    while (await runOne(kind)) ran = true
    return ran
  }

  function wakeKind(kind: string): void {
    if (woken.has(kind)) return
    woken.add(kind)
    const before = lanes.get(kind) ?? Promise.resolve(false)
    before
      .catch(() => {})
      .then(() => {
        woken.delete(kind)
        return drainKind(kind)
      })
      .catch((error: unknown) => log.warn({ err: error, kind }, 'could not take jobs'))
  }

  return {
    /** Registers the handler of a kind of jobs. Call it once per kind, when the server is wired. */
    handle: (kind: string, handler: JobHandler): void => {
      if (handlers.has(kind)) throw new Error(`jobs of kind ${kind} already have a handler`)
      handlers.set(kind, handler)
    },
    /** Runs due jobs until none is left, including jobs that jobs enqueue. */
    drain: async (): Promise<void> => {
      while ((await Promise.all([...handlers.keys()].map(drainKind))).some((ran) => ran));
    },
    /** Runs due jobs in the background. */
    wake: (): void => {
      for (const kind of handlers.keys()) wakeKind(kind)
    },
    /**
     * Runs the jobs that are due now in the background. Uses one statement for all kinds, because usually none is due.
     */
    wakeDue: async (): Promise<void> => {
      for (const kind of await store.dueKinds(inMs(0))) if (handlers.has(kind)) wakeKind(kind)
    },
    /** Stops taking jobs. A running job is released at its next step. */
    close: async (): Promise<void> => {
      stopping = true
      await Promise.allSettled(lanes.values())
    },
  }
}
