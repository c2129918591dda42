import { notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { dueRun, rangeStart } from './cadence.ts'
import type { ReportsContext } from './context.ts'
import { createReportsStore, type ScheduleRow } from './reports.store.ts'

/** Kind of the jobs that make reports. */
export const reportJob = 'report'
/** Schedules per transaction. */
const atOnce = 20
/** Delay after which a run notes that it is late. */
const lateMs = 15 * 60_000

interface Order {
  reason: 'schedule' | 'manual'
  by: string
  /** End of the reported period. */
  at: number
  missed: number
  note: string
}

const times = (n: number): string => `${n.toLocaleString('en')} earlier ${n === 1 ? 'time was' : 'times were'}`

/** Describes how late a run is. */
const lateNote = (at: number, missed: number, now: number): string =>
  [
    now - at > lateMs || missed > 0
      ? `Late: it was due ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC, but no server was running.`
      : '',
    missed > 0 ? `${times(missed)} missed.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ')

/** Creates runs of reports, on schedule and on request. */
export const createOrders = ({ db, clock, log, audit, jobs, hint }: ReportsContext) => {
  /** Creates a run of a schedule with its current settings; its job starts at COMMIT. */
  async function order(tx: Tx, schedule: ScheduleRow, { reason, by, at, missed, note }: Order) {
    const now = clock.now()
    const runId = newId(now)
    const { range, cadence } = schedule.definition
    const before =
      range === 'previous' ? await createReportsStore(tx).lastRangeEnd(schedule.schedule_id, new Date(at)) : null
    const length = range === 'previous' ? cadence.every : range
    const from = length === 'all' ? null : (before ?? new Date(rangeStart(length, at, cadence.timeZone)))
    const jobId = await jobs.enqueue(
      tx,
      { userName: by },
      {
        kind: reportJob,
        title: `Report ${schedule.name}`,
        data: { runId },
        canCancel: true,
      },
    )
    await createReportsStore(tx).insertRun(tx, {
      run_id: runId,
      schedule_id: schedule.schedule_id,
      name: schedule.name,
      definition: schedule.definition,
      owner_id: schedule.owner_id,
      owner_name: schedule.owner_name,
      reason,
      ordered_by: by,
      job_id: jobId,
      created_at: new Date(now),
      due_at: new Date(at),
      missed,
      range_from: from,
      range_to: from === null ? null : new Date(at),
      note,
    })
    await hint(tx, 'reports')
    return { runId, jobId }
  }

  const orderSome = (): Promise<number> =>
    db.transaction(async (tx) => {
      const store = createReportsStore(tx)
      const now = clock.now()
      const due = await store.lockDue(new Date(now), atOnce)
      for (const schedule of due) {
        const { cadence } = schedule.definition
        const { at, missed, next } = dueRun(cadence, (schedule.next_run_at as Date).getTime(), now)
        await store.moveTo(schedule.schedule_id, new Date(next))
        if (await store.isOrdered(tx, schedule.schedule_id, new Date(at))) continue
        await order(tx, schedule, { reason: 'schedule', by: 'system', at, missed, note: lateNote(at, missed, now) })
      }
      return due.length
    })

  return {
    /**
     * Creates due runs. Locks each schedule until its next time is set, so that two replicas never create the same run.
     */
    orderDue: async (): Promise<void> => {
      while ((await orderSome()) === atOnce) log.debug({}, 'more reports are due')
    },

    /** Orders one now. */
    run: (actor: Actor, id: string): Promise<{ runId: string; jobId: string }> =>
      db.transaction(async (tx) => {
        const schedule = isId(id) ? await createReportsStore(tx).schedule(id) : undefined
        if (schedule === undefined) throw notFound('No schedule has this id.')
        const ordered = await order(tx, schedule, {
          reason: 'manual',
          by: actor.userName,
          at: clock.now(),
          missed: 0,
          note: '',
        })
        await audit.write(tx, actor, {
          action: 'report.ordered',
          entity: schedule.name,
          details: `run ${ordered.runId}`,
        })
        return ordered
      }),
  }
}
