import { createHash } from 'node:crypto'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export const createOidcStore = (db: Queryable) => ({
  /** Returns true for the first answer with a state. A second one was intercepted. */
  takeOnce: async (state: string, expiresAt: Date): Promise<boolean> =>
    (await db.execute(sql`
      insert into oidc_answers (state_hash, expires_at)
      values (${createHash('sha256').update(state).digest()}, ${expiresAt}) on conflict do nothing`)) === 1,

  deleteEnded: (now: Date): Promise<number> => db.execute(sql`delete from oidc_answers where expires_at <= ${now}`),
})
