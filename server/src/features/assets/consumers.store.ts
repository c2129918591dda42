import type { Queryable } from '#platform/db/db.ts'
import { sql } from '#platform/db/sql.ts'

export type ConsumerKind = 'http' | 'nats' | 'kafka'

export const createConsumersStore = (db: Queryable) => ({
  /** Notes how far a reader is, and that it is there until then; null: it left. */
  seen: async (kind: ConsumerKind, name: string, position: number, now: Date, until: Date | null): Promise<void> => {
    await db.prepared(sql`
      insert into asset_consumers as c (kind, name, position, last_seen, lease_until)
      values (${kind}, ${name}, ${position}::bigint, ${now}, ${until}::timestamptz)
      on conflict (kind, name) do update set position = excluded.position, last_seen = excluded.last_seen,
        lease_until = excluded.lease_until, error = ''`)
  },

  /** Keeps the readers seen last; one that is there is never forgotten. */
  trim: (most: number, now: Date): Promise<number> =>
    db.execute(sql`
      delete from asset_consumers c where c.kind = 'http' and (c.lease_until is null or c.lease_until < ${now})
        and c.name in (select o.name from asset_consumers o where o.kind = 'http' order by o.last_seen desc offset ${most}::int)`),
})
