import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** Finds the devices that a rule may match. */
export const createDevicesRead = () => ({
  /**
   * Returns the fingerprints with the ids that rules name, in one query. A rule without a vendor id may match any
   * fingerprint.
   */
  fingerprintsMatching: (
    tx: Queryable,
    matches: readonly { vid: string | null; pid: string | null }[],
  ): Promise<{ design_id: number }[]> => {
    if (matches.some(({ vid }) => vid === null)) return tx.query(sql`select d.design_id from designs d`)
    const models = [...new Set(matches.map(({ vid, pid }) => `${vid}${pid === null ? '' : `:${pid}`}`))]
    return tx.query(sql`
      select d.design_id from designs d join models m on m.model_id = d.model_id
      where m.vid = any(${models}::text[]) or m.vid || ':' || m.pid = any(${models}::text[])`)
  },

  /** Returns one device fingerprint for each of these fingerprints without revision. */
  withoutRevision: (tx: Queryable, fingerprints: readonly string[]): Promise<{ design_id: number }[]> =>
    tx.query(sql`
      select distinct on (d.policy_without_revision) d.design_id from designs d
      where d.policy_without_revision = any(${fingerprints}::text[]) order by d.policy_without_revision, d.design_id`),
})

export type DevicesRead = ReturnType<typeof createDevicesRead>
