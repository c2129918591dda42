import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, isConflict, isUnavailable, type Tx } from '#platform/db/db.ts'
import { newId } from '#platform/ids.ts'
import type { Log } from '#platform/log.ts'
import type { Tracer } from '#platform/tracing/index.ts'
import { type ClaimedJob, createJobsStore, type Progress } from './jobs.store.ts'

/** How long a replica may be silent about a job before another takes it. Each step renews it; none may take longer. */
const leaseMs = 60_000
/** Wait before a job is tried again that failed for a reason that may pass. */
const retryMs = 5_000
/** Tries without progress before a job is given up. */
const maxAttempts = 5

/** A job in the hands of its handler. */
export interface JobRun {
  readonly id: string
  /** As it was enqueued. */
  readonly data: unknown
  /** As the last step left it; null before the first. */
  readonly cursor: unknown
  /** What the steps counted, as the last step left it; null before the first. */
  readonly tally: unknown
  readonly createdBy: string
  /**
   * Notes a step in the transaction that did it. Throws when the job was cancelled or taken over, so that the step is
   * rolled back: call it in each. Locks the job's row: after agents and counters, before events and audit.
   */
  save(tx: Tx, step: Progress): Promise<void>
}

/**
 * Carries a job out, from its cursor on. It may be called again after a crash, so what a step did is in the cursor.
 * `waits`: parts of the job end elsewhere (`count`), and it is complete when all have.
 */
export interface JobHandler {
  run(job: JobRun): Promise<'done' | 'waits'>
  /** What is to be undone or ended after a cancel; may be called more than once. */
  cancelled?(job: JobRun): Promise<void>
}

/** The job went to somebody else, or was cancelled: whatever was about to be done for it must not be. */
class JobLost extends Error {}

export interface RunnerDeps {
  db: Db
  clock: Clock
  log: Log
  tracer: Pick<Tracer, 'work'>
  /** Counts what this process ended. */
  ended(kind: string, outcome: 'completed' | 'failed' | 'cancelled'): void
}

/**
 * Takes due jobs, of each kind one after the other: judging a million devices anew does not keep an order to free hosts
 * waiting. Other replicas take others. A claim is a row lock and a
 * lease with an id of its own (fencing): a runner that was away too long can save nothing any more.
 */
export const createRunner = ({ db, clock, log, tracer, ended }: RunnerDeps) => {
  const store = createJobsStore(db)
  const handlers = new Map<string, JobHandler>()
  let stopping = false
  /** The job under way of each kind. */
  const lanes = new Map<string, Promise<boolean>>()
  /** Kinds that are looked at again anyway, behind the job under way. */
  const woken = new Set<string>()

  const inMs = (milliseconds: number) => new Date(clock.now() + milliseconds)

  async function work(job: ClaimedJob, leaseId: string): Promise<void> {
    const handler = handlers.get(job.kind) as JobHandler
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
      // What a server that stops takes away from under a job is no failure of the job.
      if (error instanceof JobLost || stopping) await store.release(leaseId, job.job_id, inMs(0))
      else if (error instanceof AppError && error.status < 500) {
        await store.fail(leaseId, job.job_id, inMs(0), error.message)
        ended(job.kind, 'failed')
      } else if (job.attempts < maxAttempts && (isUnavailable(error) || isConflict(error)))
        await store.release(leaseId, job.job_id, inMs(retryMs))
      else {
        log.error({ err: error, jobId: job.job_id, kind: job.kind }, 'job failed')
        await store.fail(leaseId, job.job_id, inMs(0), 'The server failed; its log tells more.')
        ended(job.kind, 'failed')
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

  /** Looks for a due job of a kind and runs it, after the one under way. False when there was none. */
  async function runOne(kind: string): Promise<boolean> {
    for (let before = lanes.get(kind); before !== undefined; before = lanes.get(kind)) await before.catch(() => {})
    const lane = takeOne(kind).finally(() => lanes.delete(kind))
    lanes.set(kind, lane)
    return lane
  }

  /** Runs due jobs of a kind until none is left; true when there was one. */
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
      .catch((error: unknown) => log.warn({ err: error, kind }, 'jobs could not be taken'))
  }

  return {
    handle: (kind: string, handler: JobHandler): void => {
      if (handlers.has(kind)) throw new Error(`jobs of kind ${kind} have a handler already`)
      handlers.set(kind, handler)
    },
    /** Runs due jobs until none is left, those too that jobs enqueue. */
    drain: async (): Promise<void> => {
      while ((await Promise.all([...handlers.keys()].map(drainKind))).some((ran) => ran));
    },
    /** Something may be due: looks, and works it off in the background. */
    wake: (): void => {
      for (const kind of handlers.keys()) wakeKind(kind)
    },
    /** Takes no more; a job under way is given back at its next step. */
    close: async (): Promise<void> => {
      stopping = true
      await Promise.allSettled(lanes.values())
    },
  }
}
