import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { appendChained } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { auditDetail, auditPeople } from './audit.read.ts'

export type AuditStore = ReturnType<typeof createAuditStore>

export interface AuditRow {
  audit_id: number
  created_at: Date
  severity: number
  record: string
  hash: Buffer
}

export interface AuditSelection {
  maximumSeverity: number
  limit: number
  fromId: number | null
  fromDate: Date | null
}

export const createAuditStore = (db: Queryable) => ({
  /** Locks the head row, chains the record to it and inserts it, in one statement. */
  append: (
    tx: Tx,
    row: { createdAt: Date; actor: string; action: string; severity: number; record: string },
  ): Promise<void> =>
    appendChained(
      tx,
      'audit',
      row.record,
      sql`
      insert into audit_records (audit_id, created_at, actor, action, severity, record, hash)
      select next.n, ${row.createdAt}, ${row.actor}, ${row.action}, ${row.severity}::smallint, ${row.record}, next.hash from next`,
    ),

  /** Returns a record with everything that it states, as JSON text. */
  one: async (id: string): Promise<string | undefined> => (await db.query<{ row: string }>(auditDetail(id)))[0]?.row,

  people: async (): Promise<string[]> => (await db.query<{ actor: string }>(auditPeople)).map(({ actor }) => actor),

  /** Returns the oldest matching rows from a start, otherwise the newest. Newest first in both cases. */
  select: (selection: AuditSelection): Promise<AuditRow[]> => {
    const fromStart = selection.fromId !== null || selection.fromDate !== null
    return db.query<AuditRow>(sql`
      select a.audit_id, a.created_at, a.severity, a.record, a.hash from (
        select * from audit_records r
        where r.severity <= ${selection.maximumSeverity}
          and (${selection.fromId}::bigint is null or r.audit_id >= ${selection.fromId})
          and (${selection.fromDate}::timestamptz is null or r.created_at >= ${selection.fromDate})
        order by r.audit_id ${raw(fromStart ? 'asc' : 'desc')} limit ${selection.limit}) a
      order by a.audit_id desc`)
  },
})
