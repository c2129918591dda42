import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface MadeBackup {
  madeAt: Date
  madeBy: string
  bytes: number
  hasKeys: boolean
  isEncrypted: boolean
}

/** Number of kept rows. Only the newest is ever read. */
const kept = 100

export const createBackupStore = (db: Queryable) => ({
  note: async (made: MadeBackup): Promise<void> => {
    await db.execute(sql`
      insert into backups_made (made_at, made_by, bytes, has_keys, is_encrypted)
      values (${made.madeAt}, ${made.madeBy}, ${made.bytes}::bigint, ${made.hasKeys}, ${made.isEncrypted})`)
    await db.execute(sql`
      delete from backups_made b where b.backup_id <= (select max(x.backup_id) from backups_made x) - ${kept}::bigint`)
  },

  newest: async (): Promise<Date | null> =>
    (await db.query<{ at: Date | null }>(sql`select max(b.made_at) as at from backups_made b`))[0]?.at ?? null,
})
