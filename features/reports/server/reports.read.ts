import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { type Filter, likePattern } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { type ReportRunState, reportRunList, type UserProfile } from '#features/contract.ts'

const hasId =
  (column: string): Filter =>
  (_field, text) =>
    isId(text) ? sql`${raw(column)} = ${text}::uuid` : sql`false`

export const runsList = listSpec(reportRunList, {
  name: 'report-runs',
  from: 'report_runs r',
  id: 'r.run_id',
  ties: ['r.run_id'],
  search: (needle) => sql`lower(r.name || ' ' || r.error || ' ' || r.file_name) like ${likePattern(needle)}::text`,
  columns: {
    id: 'r.run_id',
    scheduleId: 'r.schedule_id',
    name: { select: 'r.name', sort: 'lower(r.name)' },
    list: "(r.definition->>'list')",
    format: "(r.definition->>'format')",
    reason: 'r.reason',
    by: { select: 'r.ordered_by', sort: 'lower(r.ordered_by)' },
    state: 'r.state',
    // Runs with the same due time appear in order of creation.
    dueAt: { select: utcSql('r.due_at'), sort: 'r.created_at' },
    startedAt: { select: utcSql('r.started_at'), sort: 'r.started_at' },
    endedAt: { select: utcSql('r.ended_at'), sort: 'r.ended_at' },
    rangeFrom: utcSql('r.range_from'),
    rangeTo: utcSql('r.range_to'),
    rows: 'r.rows',
    bytes: 'r.bytes',
    fileName: 'r.file_name',
    hasFile: 'r.has_file',
    missed: 'r.missed',
    note: 'r.note',
    error: 'r.error',
    jobId: 'r.job_id',
    deliveries: "coalesce(deliveries.all, '[]')",
  },
  filters: { id: hasId('r.run_id'), scheduleId: hasId('r.schedule_id') },
  rowJoins: `join report_runs r on r.run_id = ids.id
    left join lateral (
      select json_agg(json_build_object('kind', d.kind, 'target', d.target, 'state', d.state, 'error', d.error, 'at', ${utcSql('d.at')}) order by d.n) as all
      from report_deliveries d where d.run_id = r.run_id) deliveries on true`,
})

/** The owner of schedules. */
export interface Owner {
  account_id: string
  user_name: string
  user_profile: UserProfile
  is_enabled: boolean
}

export interface LastRun {
  schedule_id: string
  run_id: string
  state: ReportRunState
  at: Date
  error: string
}

export const createReportsRead = (db: Queryable) => ({
  owners: async (ids: readonly string[]): Promise<ReadonlyMap<string, Owner>> => {
    const rows = await db.query<Owner>(sql`
      select a.account_id, a.user_name, a.user_profile, a.is_enabled from accounts a where a.account_id = any(${ids}::uuid[])`)
    return new Map(rows.map((row) => [row.account_id, row]))
  },

  /** Returns the runs that lack only a mail which is still retried. */
  waitingForMail: async (runIds: readonly string[]): Promise<ReadonlySet<string>> =>
    new Set(
      (
        await db.query<{ run_id: string }>(sql`
          select d.run_id from report_deliveries d join report_runs r on r.run_id = d.run_id
          where d.run_id = any(${runIds}::uuid[]) and r.error = '' and d.error <> ''
          group by d.run_id having bool_and(d.kind = 'mail' and d.state = 'waiting')`)
      ).map(({ run_id }) => run_id),
    ),

  /** Returns the newest run of each schedule with its first error. */
  lastRuns: (): Promise<LastRun[]> =>
    db.query<LastRun>(sql`
      select s.schedule_id, r.run_id, r.state, coalesce(r.ended_at, r.started_at, r.created_at) as at,
        coalesce(nullif(r.error, ''), (select d.target || ': ' || d.error from report_deliveries d
          where d.run_id = r.run_id and d.error <> '' order by d.n limit 1), '') as error
      from report_schedules s cross join lateral (
        select * from report_runs x where x.schedule_id = s.schedule_id order by x.created_at desc, x.run_id desc limit 1) r`),
})
