import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { type BackupRun, shownBackupRuns } from '#features/contract.ts'

/** Number of ended runs that are kept, besides those with a file. */
const kept = 1_000

export interface StoredRun {
  run_id: string
  reason: 'schedule' | 'manual'
  state: BackupRun['state']
  created_at: Date
  /** Whether it began in the database that this one was restored from. */
  is_restored: boolean
}

export interface StoredFile {
  run_id: string
  server: string
  folder: string
  file_name: string
  bytes: number
}

export interface CompletedRun {
  endedAt: Date
  bytes: number
  isEncrypted: boolean
  verification: 'read' | 'restored'
  tables: number
  rows: number
  sha256: string
  note: string
}

export const createBackupRunsStore = (db: Queryable) => ({
  /** Locks the plan. Null: another server holds it. */
  lockPlan: async (tx: Tx): Promise<{ schedule: string; next_at: Date | null } | null> =>
    (
      await tx.query<{ schedule: string; next_at: Date | null }>(
        sql`select p.schedule, p.next_at from backup_plan p for update skip locked`,
      )
    )[0] ?? null,

  plan: async (): Promise<{ schedule: string; next_at: Date | null }> =>
    (
      await db.query<{ schedule: string; next_at: Date | null }>(sql`select p.schedule, p.next_at from backup_plan p`)
    )[0] ?? {
      schedule: '',
      next_at: null,
    },

  setPlan: async (tx: Tx, schedule: string, nextAt: Date | null): Promise<void> => {
    await tx.execute(sql`update backup_plan p set schedule = ${schedule}, next_at = ${nextAt}`)
  },

  /** Returns why the backup that waits or runs was ordered. */
  underWay: async (tx: Tx): Promise<'schedule' | 'manual' | null> =>
    (
      await tx.query<{ reason: 'schedule' | 'manual' }>(
        sql`select r.reason from backup_runs r where r.state in ('waiting', 'running') order by r.reason desc limit 1`,
      )
    )[0]?.reason ?? null,

  insert: async (
    tx: Tx,
    run: { id: string; reason: 'schedule' | 'manual'; createdBy: string; createdAt: Date; jobId: string },
  ): Promise<void> => {
    await tx.execute(sql`
      insert into backup_runs (run_id, reason, created_by, created_at, job_id)
      values (${run.id}, ${run.reason}, ${run.createdBy}, ${run.createdAt}, ${run.jobId})`)
  },

  run: async (id: string): Promise<StoredRun | undefined> =>
    (
      await db.query<StoredRun>(
        sql`
          select r.run_id, r.reason, r.state, r.created_at, r.installation is not null and r.installation <> i.id as is_restored
          from backup_runs r, backup_installation i where r.run_id = ${id}`,
      )
    )[0],

  start: async (
    tx: Tx,
    id: string,
    { server, folder, fileName }: { server: string; folder: string; fileName: string },
  ): Promise<void> => {
    await tx.execute(sql`
      update backup_runs r set state = 'running', server = ${server}, folder = ${folder}, file_name = ${fileName},
        installation = (select i.id from backup_installation i)
      where r.run_id = ${id}`)
  },

  complete: async (tx: Tx, id: string, done: CompletedRun): Promise<void> => {
    await tx.execute(sql`
      update backup_runs r set state = 'completed', has_file = true, ended_at = ${done.endedAt}, bytes = ${done.bytes}::bigint,
        is_encrypted = ${done.isEncrypted}, verification = ${done.verification}, tables = ${done.tables}::int,
        row_count = ${done.rows}::bigint, sha256 = ${done.sha256}, note = ${done.note}
      where r.run_id = ${id}`)
  },

  fail: async (q: Queryable, id: string, endedAt: Date, error: string): Promise<void> => {
    await q.execute(sql`
      update backup_runs r set state = 'failed', ended_at = ${endedAt}, error = ${error}
      where r.run_id = ${id} and r.state in ('waiting', 'running')`)
  },

  /** Returns the newest runs for people. */
  shown: (): Promise<BackupRun[]> =>
    db.query<BackupRun>(sql`
      select r.run_id as id, r.reason, r.created_by as "createdBy", ${raw(utcSql('r.created_at'))} as "createdAt",
        ${raw(utcSql('r.ended_at'))} as "endedAt", r.state, r.job_id as "jobId", r.server,
        case when r.state = 'completed' then rtrim(r.folder, '/') || '/' || r.file_name else '' end as file,
        r.has_file as "isStored", r.bytes, r.is_encrypted as "isEncrypted", r.verification, r.tables, r.row_count as rows,
        r.sha256, r.note, r.error
      from backup_runs r order by r.created_at desc, r.run_id desc limit ${shownBackupRuns}::int`),

  /** Returns the newest run of this installation that has ended: those before a restore say nothing about it. */
  lastEnded: async (): Promise<
    { state: 'completed' | 'failed'; error: string; note: string; bytes: number } | undefined
  > =>
    (
      await db.query<{ state: 'completed' | 'failed'; error: string; note: string; bytes: number }>(sql`
        select r.state, r.error, r.note, r.bytes from backup_runs r, backup_installation i
        where r.ended_at is not null and coalesce(r.installation = i.id, true)
        order by r.ended_at desc limit 1`)
    )[0],

  /**
   * Returns stored files of this installation beyond the newest ones. Manual backups count separately: whoever may
   * order backups could otherwise have all scheduled ones deleted.
   */
  surplus: (keep: number): Promise<StoredFile[]> =>
    db.query<StoredFile>(sql`
      select n.run_id, n.server, n.folder, n.file_name, n.bytes from (
        select r.*, row_number() over (partition by r.reason order by r.created_at desc, r.run_id desc) as place
        from backup_runs r
        where r.has_file and r.state = 'completed' and r.installation = (select i.id from backup_installation i)) n
      where n.place > ${keep}::int`),

  fileGone: async (id: string): Promise<void> => {
    await db.execute(sql`update backup_runs r set has_file = false where r.run_id = ${id}`)
  },

  forget: async (): Promise<void> => {
    await db.execute(sql`
      delete from backup_runs r where not r.has_file and r.ended_at is not null and r.run_id in (
        select x.run_id from backup_runs x order by x.created_at desc, x.run_id desc offset ${kept}::int)`)
  },

  databaseBytes: async (): Promise<number> =>
    (await db.query<{ bytes: number }>(sql`select pg_database_size(current_database()) as bytes`))[0]?.bytes ?? 0,
})
