import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { ExportForm, ReportDelivery, ReportRunState, ReportScheduleInput } from '#features/contract.ts'

/** The definition of a schedule, without its name and state. */
export type Definition = Required<Omit<ReportScheduleInput, 'name' | 'isEnabled' | 'form'>> & {
  form?: ExportForm | null
}

/** Returns the form of CSV files. A schedule that was saved before there were two keeps the fixed one. */
export const formOf = ({ form }: Definition): ExportForm => form ?? 'fixed'

export interface ScheduleRow {
  schedule_id: string
  name: string
  definition: Definition
  is_enabled: boolean
  owner_id: string | null
  owner_name: string
  updated_at: Date
  next_run_at: Date | null
}

export interface RunRow {
  run_id: string
  schedule_id: string | null
  name: string
  definition: Definition
  owner_id: string | null
  owner_name: string
  reason: 'schedule' | 'manual'
  ordered_by: string
  state: ReportRunState
  job_id: string
  created_at: Date
  due_at: Date
  missed: number
  range_from: Date | null
  range_to: Date | null
  ended_at: Date | null
  rows: number
  bytes: number
  file_name: string
  has_file: boolean
  folder_file: string
  note: string
}

type NewDelivery = Pick<ReportDelivery, 'kind' | 'target' | 'state' | 'error'>

export const createReportsStore = (db: Queryable) => ({
  schedules: (): Promise<ScheduleRow[]> =>
    db.query<ScheduleRow>(sql`select * from report_schedules s order by s.name_key`),

  schedule: async (id: string): Promise<ScheduleRow | undefined> =>
    (
      await db.query<ScheduleRow>(sql`select * from report_schedules s where s.schedule_id = ${id}::uuid for update`)
    )[0],

  count: async (): Promise<number> =>
    (await db.query<{ n: number }>(sql`select count(*)::int as n from report_schedules s`))[0]?.n ?? 0,

  /** Locks the schedules until COMMIT, so that two callers cannot exceed the limit. */
  lockAll: (): Promise<number> => db.execute(sql`lock table report_schedules in share row exclusive mode`),

  /** Saves a schedule. Throws 23505 on report_schedules_name_unique if the name is taken. */
  put: (row: ScheduleRow & { name_key: string }): Promise<number> =>
    db.execute(sql`
      insert into report_schedules (schedule_id, name, name_key, definition, is_enabled, owner_id, owner_name, updated_at, next_run_at)
      values (${row.schedule_id}::uuid, ${row.name}, ${row.name_key}, ${JSON.stringify(row.definition)}::jsonb, ${row.is_enabled},
        ${row.owner_id}::uuid, ${row.owner_name}, ${row.updated_at}, ${row.next_run_at})
      on conflict (schedule_id) do update set name = excluded.name, name_key = excluded.name_key, definition = excluded.definition,
        is_enabled = excluded.is_enabled, owner_id = excluded.owner_id, owner_name = excluded.owner_name,
        updated_at = excluded.updated_at, next_run_at = excluded.next_run_at`),

  delete: (id: string): Promise<number> =>
    db.execute(sql`delete from report_schedules s where s.schedule_id = ${id}::uuid`),

  /** Locks schedules that are due, for this transaction only. */
  lockDue: (now: Date, limit: number): Promise<ScheduleRow[]> =>
    db.query<ScheduleRow>(sql`
      select * from report_schedules s where s.next_run_at <= ${now}
      order by s.next_run_at, s.schedule_id limit ${limit}::int for update skip locked`),

  moveTo: (id: string, next: Date): Promise<number> =>
    db.execute(sql`update report_schedules s set next_run_at = ${next} where s.schedule_id = ${id}::uuid`),

  /** Returns the end of the newest completed period before a time. */
  lastRangeEnd: async (scheduleId: string, before: Date): Promise<Date | null> =>
    (
      await db.query<{ at: Date }>(sql`
        select r.due_at as at from report_runs r where r.schedule_id = ${scheduleId}::uuid and r.reason = 'schedule'
          and r.state = 'completed' and r.due_at < ${before} order by r.due_at desc limit 1`)
    )[0]?.at ?? null,

  /** Returns whether a run for this time exists: a clock that was set back reaches it twice. */
  isOrdered: async (tx: Tx, scheduleId: string, dueAt: Date): Promise<boolean> =>
    (
      await tx.query<{ is_there: boolean }>(sql`
        select exists (select from report_runs r where r.schedule_id = ${scheduleId}::uuid and r.due_at = ${dueAt} and r.reason = 'schedule') as is_there`)
    )[0]?.is_there === true,

  insertRun: (
    tx: Tx,
    run: Omit<RunRow, 'state' | 'rows' | 'bytes' | 'file_name' | 'has_file' | 'folder_file' | 'ended_at'>,
  ): Promise<number> =>
    tx.execute(sql`
      insert into report_runs (run_id, schedule_id, name, definition, owner_id, owner_name, reason, ordered_by, job_id, created_at,
        due_at, missed, range_from, range_to, note)
      values (${run.run_id}::uuid, ${run.schedule_id}::uuid, ${run.name}, ${JSON.stringify(run.definition)}::jsonb, ${run.owner_id}::uuid,
        ${run.owner_name}, ${run.reason}, ${run.ordered_by}, ${run.job_id}::uuid, ${run.created_at}, ${run.due_at}, ${run.missed}::int,
        ${run.range_from}, ${run.range_to}, ${run.note})`),

  run: async (runId: string): Promise<RunRow | undefined> =>
    (await db.query<RunRow>(sql`select * from report_runs r where r.run_id = ${runId}::uuid`))[0],

  /** Starts a run, or restarts it after a crash without its earlier chunks. */
  start: async (tx: Tx, runId: string, now: Date): Promise<void> => {
    await tx.execute(sql`delete from report_chunks c where c.run_id = ${runId}::uuid`)
    await tx.execute(sql`
      update report_runs r set state = 'running', started_at = coalesce(r.started_at, ${now}) where r.run_id = ${runId}::uuid`)
  },

  putChunk: (tx: Tx, runId: string, n: number, bytes: Buffer): Promise<number> =>
    tx.execute(sql`insert into report_chunks (run_id, n, bytes) values (${runId}::uuid, ${n}::int, ${bytes})`),

  chunk: async (runId: string, n: number): Promise<Buffer | undefined> =>
    (
      await db.query<{ bytes: Buffer }>(
        sql`select c.bytes from report_chunks c where c.run_id = ${runId}::uuid and c.n = ${n}::int`,
      )
    )[0]?.bytes,

  made: (tx: Tx, runId: string, file: { rows: number; bytes: number; name: string }): Promise<number> =>
    tx.execute(sql`
      update report_runs r set rows = ${file.rows}::bigint, bytes = ${file.bytes}::bigint, file_name = ${file.name}, has_file = true
      where r.run_id = ${runId}::uuid`),

  /** Ends a run. Returns false if it had ended already. */
  end: async (
    tx: Tx,
    runId: string,
    now: Date,
    end: { state: 'completed' | 'failed' | 'cancelled'; error: string; folderFile?: string },
  ): Promise<boolean> =>
    (await tx.execute(sql`
      update report_runs r set state = ${end.state}, error = ${end.error}, ended_at = ${now}, folder_file = ${end.folderFile ?? ''}
      where r.run_id = ${runId}::uuid and r.state in ('waiting', 'running')`)) === 1,

  dropFile: async (tx: Tx, runId: string): Promise<void> => {
    await tx.execute(sql`delete from report_chunks c where c.run_id = ${runId}::uuid`)
    await tx.execute(sql`update report_runs r set has_file = false where r.run_id = ${runId}::uuid`)
  },

  insertDelivery: (tx: Tx, runId: string, n: number, now: Date, delivery: NewDelivery): Promise<number> =>
    tx.execute(sql`
      insert into report_deliveries (run_id, n, kind, target, state, error, at)
      values (${runId}::uuid, ${n}::int, ${delivery.kind}, ${delivery.target}, ${delivery.state}, ${delivery.error}, ${now})`),

  setDelivery: (
    tx: Tx,
    runId: string,
    n: number,
    now: Date,
    { state, error }: Pick<ReportDelivery, 'state' | 'error'>,
  ): Promise<number> =>
    tx.execute(sql`
      update report_deliveries d set state = ${state}, error = ${error}, at = ${now}
      where d.run_id = ${runId}::uuid and d.n = ${n}::int`),

  /** Returns the files of a schedule in its folder beyond the newest `keep`. */
  folderSurplus: (
    scheduleId: string,
    keep: number,
  ): Promise<{ run_id: string; folder: string; folder_file: string }[]> =>
    db.query(sql`
      select r.run_id, r.definition->>'folder' as folder, r.folder_file from report_runs r
      where r.schedule_id = ${scheduleId}::uuid and r.folder_file <> '' order by r.created_at desc, r.run_id desc offset ${keep}::int`),

  folderFileGone: (runId: string): Promise<number> =>
    db.execute(sql`update report_runs r set folder_file = '' where r.run_id = ${runId}::uuid`),

  /** Returns expired stored files: beyond the newest of a schedule, or too old. Files that a mail needs stay. */
  fileSurplus: (scheduleId: string | null, keep: number, before: Date): Promise<{ run_id: string }[]> =>
    db.query(sql`
      with files as (
        select r.run_id, r.created_at, row_number() over (order by r.created_at desc, r.run_id desc) as n
        from report_runs r where r.has_file and r.schedule_id is not distinct from ${scheduleId}::uuid)
      select f.run_id from files f where (f.n > ${keep}::int or f.created_at < ${before})
        and not exists (select 1 from report_deliveries d where d.run_id = f.run_id and d.kind = 'mail' and d.state = 'waiting')
      limit 1000`),

  /** Returns unfinished runs whose job ended: it gave up, or was ended before it began. */
  orphans: (): Promise<{ run_id: string; message: string; state: 'failed' | 'cancelled' }[]> =>
    db.query(sql`
      select r.run_id, coalesce(j.message, 'Its job no longer exists.') as message,
        case when j.state = 'cancelled' then 'cancelled' else 'failed' end as state
      from report_runs r left join jobs j on j.job_id = r.job_id
      where r.state in ('waiting', 'running') and (j.job_id is null or (j.state <> 'running' and not j.is_due)) limit 100`),

  /** Deletes old history, except entries of files that are still kept in a folder. */
  forget: (before: Date): Promise<number> =>
    db.execute(sql`
      delete from report_runs r where r.created_at < ${before} and (r.folder_file = '' or r.schedule_id is null)`),
})
