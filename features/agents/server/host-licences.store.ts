import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** The numbers of the states in agent_rows. */
export const licenceNumbers = { Pending: 0, Expired: 1, Invalid: 2, Activated: 3 } as const
export type LicenceNumber = (typeof licenceNumbers)[keyof typeof licenceNumbers]

/** Number of rows per statement, to keep locks short. */
const atOnce = 5_000

export const createHostLicences = (db: Queryable) => ({
  /**
   * Gives all hosts this state and last day. With `seats`, only the first enrolled hosts get it and others become
   * Pending. Returns how many changed.
   */
  assign: async (state: LicenceNumber, expires: string | null, seats: number | null): Promise<number> => {
    const wanted =
      seats === null
        ? sql`select r.agent_id, ${state}::smallint as license from agent_rows r where r.license <> ${state}::smallint or r.expiration is distinct from ${expires}::date`
        : sql`
          select o.agent_id, o.wanted as license from (
            select r.agent_id, r.license, r.expiration,
              case when row_number() over (order by r.first_seen, r.agent_id) <= ${seats}::bigint then ${state}::smallint else 0::smallint end as wanted
            from agent_rows r) o
          where o.license <> o.wanted or o.expiration is distinct from ${expires}::date`
    return db.execute(sql`
      with w as materialized (select * from (${wanted}) x order by x.agent_id limit ${atOnce}::int),
      l as materialized (select r.agent_id, w.license from agent_rows r join w on w.agent_id = r.agent_id order by r.agent_id for no key update of r)
      update agent_rows r set license = l.license, expiration = ${expires}::date from l where r.agent_id = l.agent_id`)
  },

  atOnce,
})
