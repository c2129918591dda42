import type { Queryable } from '#platform/db/db.ts'
import { sql } from '#platform/db/sql.ts'

/** Devices as rules see them: which ones a rule may be about. */
export const createDevicesRead = () => ({
  /** Designs by the ids that rules name: one query for all of them. A rule without a vendor id may be about any design. */
  designsMatching: (
    tx: Queryable,
    matches: readonly { vid: string | null; pid: string | null }[],
  ): Promise<{ design_id: number }[]> => {
    if (matches.some(({ vid }) => vid === null)) return tx.query(sql`select d.design_id from designs d`)
    const models = [...new Set(matches.map(({ vid, pid }) => `${vid}${pid === null ? '' : `:${pid}`}`))]
    return tx.query(sql`
      select d.design_id from designs d join models m on m.model_id = d.model_id
      where m.vid = any(${models}::text[]) or m.vid || ':' || m.pid = any(${models}::text[])`)
  },
})

export type DevicesRead = ReturnType<typeof createDevicesRead>
