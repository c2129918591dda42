import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface MailRow {
  mail_id: string
  created_at: Date
  subject: string
  sealed: Buffer
  attempts: number
}

export const createMailStore = () => ({
  insert: async (tx: Tx, row: Pick<MailRow, 'mail_id' | 'created_at' | 'subject' | 'sealed'>): Promise<void> => {
    await tx.execute(sql`
      insert into mails (mail_id, created_at, subject, sealed, next_at)
      values (${row.mail_id}::uuid, ${row.created_at}, ${row.subject}, ${row.sealed}, ${row.created_at})`)
  },

  /** Leases the mails that are due. */
  lease: (q: Queryable, now: Date, until: Date, limit: number): Promise<MailRow[]> =>
    q.query<MailRow>(sql`
      update mails m set lease_until = ${until}, attempts = m.attempts + 1
      where m.mail_id in (
        select d.mail_id from mails d where d.next_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})
        order by d.next_at limit ${limit}::int for update skip locked)
      returning m.mail_id, m.created_at, m.subject, m.sealed, m.attempts`),

  /** Extends the lease of a mail. Returns false if another replica leased it since. */
  renew: async (q: Queryable, mailId: string, leased: Date, until: Date): Promise<boolean> =>
    (await q.execute(sql`
      update mails m set lease_until = ${until} where m.mail_id = ${mailId}::uuid and m.lease_until = ${leased}`)) ===
    1,

  sent: async (q: Queryable, mailId: string): Promise<void> => {
    await q.execute(sql`delete from mails m where m.mail_id = ${mailId}::uuid`)
  },

  putOff: async (q: Queryable, mailId: string, nextAt: Date, error: string): Promise<void> => {
    await q.execute(sql`
      update mails m set next_at = ${nextAt}, lease_until = null, error = ${error} where m.mail_id = ${mailId}::uuid`)
  },

  waiting: async (q: Queryable): Promise<number> =>
    (await q.query<{ n: number }>(sql`select count(*)::int as n from mails m where m.attempts > 0`))[0]?.n ?? 0,
})
