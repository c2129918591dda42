import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, assertPermission } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import type { Job, Permission } from '#features/contract.ts'
import type { JobsContext } from './context.ts'
import { createJobsStore, type PartCount } from './jobs.store.ts'

/** How long ended jobs are shown. They are kept for `keptMs`. */
const shownMs = 24 * 3_600_000
const keptMs = 30 * 24 * 3_600_000
const shownAtMost = 200

export interface NewJob {
  /** Name of its handler. */
  kind: string
  /** Description for people: `Arm 9,300 hosts`. */
  title: string
  /** Number of parts. Absent if not known yet. */
  total?: number
  /** Input of the handler: ids, not objects. */
  data?: unknown
  canCancel?: boolean
  /** Maximum running jobs of this kind for one person. */
  mostPerPerson?: number
}

/** Bus topic: a job is due. */
export const jobsTopic = 'jobs'

export const createJobsService = ({ db, clock, audit, bus }: JobsContext) => {
  const store = createJobsStore(db)
  const guarded = new Map<string, Permission>()
  /** Shows whether this caller can cancel a job, after a fresh authentication if it needs one. */
  const shownTo = ({ kind, permissions }: Actor, job: Job): Job => {
    const needed = guarded.get(job.kind)
    return needed === undefined || (permissions.has(needed) && kind === 'session') ? job : { ...job, canCancel: false }
  }
  async function read(id: string): Promise<Job> {
    const job = isId(id) ? await store.one(id) : undefined
    if (job === undefined) throw notFound('The job does not exist.')
    return job
  }

  return {
    /** Enqueues a job, which starts when the transaction commits. Returns its id. */
    enqueue: async (tx: Tx, actor: Pick<Actor, 'userName'>, job: NewJob): Promise<string> => {
      const id = newId(clock.now())
      if (job.mostPerPerson !== undefined) {
        await store.lockPerson(tx, actor.userName)
        if ((await store.underWay(tx, actor.userName, job.kind)) >= job.mostPerPerson)
          throw new AppError('conflict', {
            detail: `${job.mostPerPerson} of your jobs are already running. Wait until one ends, or cancel one.`,
          })
      }
      await store.insert(tx, {
        id,
        kind: job.kind,
        title: job.title,
        total: job.total ?? 0,
        data: job.data ?? null,
        createdBy: actor.userName,
        canCancel: job.canCancel ?? false,
        now: new Date(clock.now()),
      })
      await bus.publish(tx, jobsTopic)
      return id
    },

    /** Adds parts that ended elsewhere. Locks job rows: after agents and counters, before events. */
    count: async (tx: Tx, parts: readonly PartCount[]): Promise<void> => {
      const moving = parts.filter((part) => part.done !== 0 || part.failed !== 0)
      if (moving.length > 0) await store.count(tx, new Date(clock.now()), moving)
    },

    recent: async (actor: Actor): Promise<{ data: Job[] }> => ({
      data: (await store.recent(new Date(clock.now() - shownMs), shownAtMost)).map((job) => shownTo(actor, job)),
    }),

    read: async (actor: Actor, id: string): Promise<Job> => shownTo(actor, await read(id)),

    /** Requires a further permission and fresh authentication to cancel jobs of a kind. */
    guardCancel: (kind: string, permission: Permission): void => {
      guarded.set(kind, permission)
    },

    /** Cancels a job. Completed steps stay, and its handler cleans up at once. */
    cancel: async (actor: Actor, id: string): Promise<Job> => {
      const job = await read(id)
      const needed = guarded.get(job.kind)
      if (needed !== undefined) {
        assertPermission(actor, needed)
        assertFresh(actor, clock.now())
      }
      await db.transaction(async (tx) => {
        const message = `Cancelled by ${actor.userName}.`
        if (!job.canCancel || !(await store.cancel(tx, id, new Date(clock.now()), message)))
          throw new AppError('conflict', {
            detail: job.state === 'running' ? 'This job cannot be cancelled.' : 'This job has already ended.',
          })
        await bus.publish(tx, jobsTopic)
        await audit.write(tx, actor, { action: 'job.cancelled', entity: job.title, details: `job ${id}` })
      })
      return read(id)
    },

    /** Deletes jobs that ended 30 days ago. */
    forget: (): Promise<number> => store.forget(new Date(clock.now() - keptMs)),
  }
}
