import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { appendChained } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** Locks the head row, chains the record to it and inserts it, in one statement. */
export const appendRecord = (
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
  )
