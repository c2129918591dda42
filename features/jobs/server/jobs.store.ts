import { mustExist } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { lock, locks } from '@portcullis/platform/server/db/locks.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import type { Job } from '#features/contract.ts'

/** A claimed job, as its handler needs it. */
export interface ClaimedJob {
  job_id: string
  kind: string
  state: Job['state']
  data: unknown
  cursor: unknown
  tally: unknown
  created_by: string
  attempts: number
}

/** Progress of a step. Parts are added; other members replace their values. */
export interface Progress {
  done?: number
  failed?: number
  /** Total parts, once known. */
  total?: number
  cursor?: unknown
  /** Counts of the steps so far. */
  tally?: unknown
  message?: string
}

export interface PartCount {
  jobId: string
  done: number
  failed: number
}

export interface QueueFigures {
  /** Due jobs that no process has claimed. */
  waiting: number
  running: number
  /** Time since which the oldest unclaimed job is due. */
  oldestUntaken: Date | null
  failed: number
  lastFailed: string | null
  runners: number
}

const shown = sql`j.job_id as id, j.kind, j.title, j.state, j.total, j.done, j.failed, j.message, j.created_by as "createdBy",
  ${raw(utcSql('j.created_at'))} as "createdAt", ${raw(utcSql('j.ended_at'))} as "endedAt", j.can_cancel and j.state = 'running' as "canCancel"`

export const createJobsStore = (db: Queryable) => ({
  insert: async (
    tx: Tx,
    job: {
      id: string
      kind: string
      title: string
      total: number
      data: unknown
      createdBy: string
      canCancel: boolean
      now: Date
    },
  ): Promise<void> => {
    await tx.execute(sql`
      insert into jobs (job_id, kind, title, total, created_by, created_at, can_cancel, data)
      values (${job.id}, ${job.kind}, ${job.title}, ${job.total}, ${job.createdBy}, ${job.now}, ${job.canCancel},
        ${JSON.stringify(job.data)}::jsonb)`)
  },

  /** Makes parallel counts of the same person's jobs wait until this transaction ends. */
  lockPerson: async (tx: Tx, createdBy: string): Promise<void> => {
    await lock(tx, locks.jobsOfPerson(createdBy))
  },

  /** Counts a person's due and running jobs of a kind, without those that only wait for hosts. */
  underWay: async (q: Queryable, createdBy: string, kind: string): Promise<number> =>
    (
      await q.query<{ n: number }>(sql`
        select count(*)::int as n from jobs j
        where j.is_due and j.state = 'running' and j.kind = ${kind} and lower(j.created_by) = lower(${createdBy})`)
    )[0]?.n ?? 0,

  /** Claims the unclaimed job of a kind that has waited longest. */
  claim: async (leaseId: string, now: Date, until: Date, kind: string): Promise<ClaimedJob | undefined> =>
    (
      await db.query<ClaimedJob>(sql`
        update jobs j set lease_id = ${leaseId}, lease_until = ${until}, attempts = j.attempts + 1
        where j.job_id = (
          select d.job_id from jobs d where d.is_due and d.lease_until <= ${now} and d.kind = ${kind}
          order by d.lease_until, d.created_at limit 1 for update skip locked)
        returning j.job_id, j.kind, j.state, j.data, j.cursor, j.tally, j.created_by, j.attempts`)
    )[0],

  /** Returns the kinds of jobs that `claim` would find. */
  dueKinds: async (now: Date): Promise<string[]> =>
    (
      await db.query<{ kind: string }>(
        sql`select distinct d.kind from jobs d where d.is_due and d.lease_until <= ${now}`,
      )
    ).map(({ kind }) => kind),
  /** Records a step. Returns false if the lease no longer holds the job. */
  save: async (tx: Tx, leaseId: string, until: Date, jobId: string, step: Progress): Promise<boolean> =>
    (await tx.execute(sql`
      update jobs j set done = j.done + ${step.done ?? 0}::int, failed = j.failed + ${step.failed ?? 0}::int,
        total = coalesce(${step.total ?? null}::int, j.total), message = coalesce(${step.message ?? null}::text, j.message),
        cursor = coalesce(${step.cursor === undefined ? null : JSON.stringify(step.cursor)}::jsonb, j.cursor),
        tally = coalesce(${step.tally === undefined ? null : JSON.stringify(step.tally)}::jsonb, j.tally),
        lease_until = ${until}, attempts = 0
      where j.job_id = ${jobId} and j.lease_id = ${leaseId}`)) === 1,

  /** Ends the handler's part. A job whose parts end elsewhere continues until all have ended. */
  settle: async (leaseId: string, jobId: string, now: Date, waitsForParts: boolean): Promise<void> => {
    await db.execute(sql`
      update jobs j set is_due = false, lease_id = null,
        state = case when j.state = 'running' and (not ${waitsForParts}::boolean or j.done + j.failed >= j.total) then 'completed' else j.state end,
        ended_at = case when j.state = 'running' and (not ${waitsForParts}::boolean or j.done + j.failed >= j.total) then ${now} else j.ended_at end
      where j.job_id = ${jobId} and j.lease_id = ${leaseId}`)
  },

  fail: async (leaseId: string, jobId: string, now: Date, message: string): Promise<void> => {
    await db.execute(sql`
      update jobs j set is_due = false, lease_id = null,
        state = case when j.state = 'running' then 'failed' else j.state end, message = ${message},
        ended_at = coalesce(j.ended_at, ${now})
      where j.job_id = ${jobId} and j.lease_id = ${leaseId}`)
  },

  /** Releases a job, to be claimed again from `at` on. */
  release: async (leaseId: string, jobId: string, at: Date): Promise<void> => {
    await db.execute(
      sql`update jobs j set lease_id = null, lease_until = ${at} where j.job_id = ${jobId} and j.lease_id = ${leaseId}`,
    )
  },

  /** Cancels a running job. Its handler is due again to clean up. Returns false if the job had ended. */
  cancel: async (tx: Tx, jobId: string, now: Date, message: string): Promise<boolean> =>
    (await tx.execute(sql`
      update jobs j set state = 'cancelled', ended_at = ${now}, message = ${message}, is_due = true, lease_id = null,
        lease_until = '-infinity', attempts = 0
      where j.job_id = ${jobId} and j.state = 'running' and j.can_cancel`)) === 1,

  /** Adds ended parts, in id order. Completes jobs that waited for their last part. */
  count: async (tx: Tx, now: Date, parts: readonly PartCount[]): Promise<void> => {
    await tx.prepared(sql`
      with u as materialized (
        select j.job_id, u.done, u.failed,
          j.state = 'running' and not j.is_due and j.done + u.done + j.failed + u.failed >= j.total as ends
        from jobs j join ${unnestOf([
          [parts.map((p) => p.jobId), 'uuid[]'],
          [parts.map((p) => p.done), 'int[]'],
          [parts.map((p) => p.failed), 'int[]'],
        ])} u(job_id, done, failed) on u.job_id = j.job_id order by j.job_id for update of j)
      update jobs j set done = j.done + u.done, failed = j.failed + u.failed,
        state = case when u.ends then 'completed' else j.state end,
        ended_at = case when u.ends then ${now} else j.ended_at end
      from u where j.job_id = u.job_id`)
  },

  one: async (jobId: string): Promise<Job | undefined> =>
    (await db.query<Job>(sql`select ${shown} from jobs j where j.job_id = ${jobId}::uuid`))[0],

  /** Returns running jobs, and those that ended since a time. Newest first. */
  recent: (since: Date, limit: number): Promise<Job[]> =>
    db.query<Job>(sql`
      select ${shown} from jobs j where j.ended_at is null or j.ended_at > ${since}
      order by j.created_at desc, j.job_id desc limit ${limit}`),

  /** Records that this process takes jobs, and deletes rows of processes that are gone. */
  beat: async (runnerId: string, now: Date, goneBefore: Date): Promise<void> => {
    await db.execute(sql`
      insert into job_runners (runner_id, seen_at) values (${runnerId}::uuid, ${now})
      on conflict (runner_id) do update set seen_at = excluded.seen_at`)
    await db.execute(sql`delete from job_runners r where r.seen_at < ${goneBefore}`)
  },

  leave: (runnerId: string): Promise<number> =>
    db.execute(sql`delete from job_runners r where r.runner_id = ${runnerId}::uuid`),

  /**
   * Returns the state of the queue. A kind is not overdue while one of its jobs is running, because the next one waits
   * for it.
   */
  figures: async (now: Date, since: Date, aliveSince: Date): Promise<QueueFigures> =>
    mustExist(
      (
        await db.query<QueueFigures>(sql`
        with due as materialized (
          select j.kind, j.lease_until > ${now} and j.lease_id is not null as is_held,
            case when j.lease_until > ${now} then null else greatest(j.created_at, nullif(j.lease_until, '-infinity')) end as due_since
          from jobs j where j.is_due),
        held as (select distinct d.kind from due d where d.is_held)
        select (select count(*)::int from due d where not d.is_held) as waiting,
          (select count(*)::int from due d where d.is_held) as running,
          (select min(d.due_since) from due d where d.kind not in (select h.kind from held h)) as "oldestUntaken",
          (select count(*)::int from jobs j where j.state = 'failed' and j.ended_at > ${since}) as failed,
          (select j.title from jobs j where j.state = 'failed' and j.ended_at > ${since} order by j.ended_at desc limit 1) as "lastFailed",
          (select count(*)::int from job_runners r where r.seen_at > ${aliveSince}) as runners`)
      )[0],
      'the row of figures',
    ),

  forget: (before: Date): Promise<number> =>
    db.execute(sql`delete from jobs j where j.ended_at < ${before} and not j.is_due`),
})
