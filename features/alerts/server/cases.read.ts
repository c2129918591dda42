import type { Db } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { type AlertHistoryEntry, historyMost } from '#features/contract.ts'

/** State of an alert `n`. The server clears `snoozed_until` when the snooze is over. */
export const stateSql = `case when n.dismissed_at is not null then 'closed' when n.snoozed_until is not null then 'snoozed'
  when n.owner_id is not null then 'assigned' else 'open' end`

/** Whether an alert `n` is neither closed nor snoozed: lists and counts are of these. */
export const isActive = '(n.dismissed_at is null and n.snoozed_until is null)'

/** Name of the owner of an alert `n`. */
export const ownerSql = `coalesce((select o.user_name from accounts o where o.account_id = n.owner_id), '')`

/** Columns of `caseMembers` of an alert `n`. */
export const caseColumns = `${stateSql} as "state", ${ownerSql} as "owner",
  case when n.snoozed_until is null then '' else ${utcSql('n.snoozed_until')} end as "snoozedUntil", n.verdict as "verdict"`

interface Period {
  acknowledged: number
  acknowledge: number | null
  closed: number
  close: number | null
}

export const createCasesRead = (db: Db) => ({
  history: (id: number): Promise<AlertHistoryEntry[]> =>
    db.query<AlertHistoryEntry>(sql`
      select ${raw(utcSql('h.at'))} as "time", h.by as "by", h.action as "action", h.detail as "detail", h.comment as "comment"
      from alert_history h where h.notice_id = ${id}::int order by h.history_id desc limit ${historyMost}::int`),

  /** Returns how fast people acted since a time. */
  times: async (since: Date) => {
    const [row] = await db.query<Period>(sql`
      select count(h.acknowledged_s)::int as acknowledged, count(h.closed_s)::int as closed,
        round(percentile_cont(0.5) within group (order by h.acknowledged_s))::int as acknowledge,
        round(percentile_cont(0.5) within group (order by h.closed_s))::int as close
      from alert_history h where h.at >= ${since} and (h.acknowledged_s is not null or h.closed_s is not null)`)
    return {
      acknowledged: row?.acknowledged ?? 0,
      medianToAcknowledge: row?.acknowledge ?? null,
      closed: row?.closed ?? 0,
      medianToClose: row?.close ?? null,
    }
  },
})

export type CasesRead = ReturnType<typeof createCasesRead>
