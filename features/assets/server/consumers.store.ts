import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { type AssetConsumer, assetStreamLimits } from '#features/contract.ts'

export type ConsumerKind = AssetConsumer['kind']
export type SinkKind = Exclude<ConsumerKind, 'http'>

const shown = (now: Date) => sql`c.kind, c.name, c.position, greatest(0, h.n - c.position) as lag,
  coalesce(c.lease_until > ${now}, false) and c.error = '' as "isConnected", ${raw(utcSql('c.last_seen'))} as "lastSeen", c.error`

export const createConsumersStore = (db: Queryable) => ({
  /**
   * Saves the position of a reader and the time until which it counts as connected (null: it left). Its account holds the lease.
   */
  seen: async (
    accountId: string | null,
    name: string,
    position: number,
    now: Date,
    until: Date | null,
  ): Promise<void> => {
    await db.prepared(sql`
      insert into asset_consumers as c (kind, name, position, last_seen, lease_id, lease_until)
      values ('http', ${name}, ${position}::bigint, ${now}, ${accountId}::uuid, ${until}::timestamptz)
      on conflict (kind, name) do update set position = excluded.position, last_seen = excluded.last_seen,
        lease_id = excluded.lease_id, lease_until = excluded.lease_until, error = ''`)
  },

  /** Deletes the readers seen longest ago, beyond the limits per account and in total. Connected readers stay. */
  trim: async (accountId: string | null, now: Date): Promise<void> => {
    const { consumers, consumersOfAccount } = assetStreamLimits
    const beyond = (whose: SqlFragment, most: number) => sql`
      delete from asset_consumers c where c.kind = 'http' and (c.lease_until is null or c.lease_until < ${now})
        and c.name in (select o.name from asset_consumers o where o.kind = 'http' and ${whose}
          order by o.last_seen desc, o.name offset ${most}::int)`
    await db.execute(beyond(sql`o.lease_id is not distinct from ${accountId}::uuid`, consumersOfAccount))
    await db.execute(beyond(sql`true`, consumers))
  },

  list: (now: Date): Promise<AssetConsumer[]> =>
    db.query<AssetConsumer>(sql`
      select ${shown(now)} from asset_consumers c, ordered_head h where h.stream = 'outbox'
      order by c.kind = 'http', c.last_seen desc, c.name limit 300`),

  /** Locks a consumer before its deletion. */
  one: async (
    tx: Tx,
    kind: string,
    name: string,
    now: Date,
  ): Promise<(AssetConsumer & { leased: boolean }) | undefined> =>
    (
      await tx.query<AssetConsumer & { leased: boolean }>(sql`
        select ${shown(now)}, coalesce(c.lease_until > ${now}, false) as leased from asset_consumers c, ordered_head h
        where h.stream = 'outbox' and c.kind = ${kind} and c.name = ${name} for update of c`)
    )[0],

  forget: async (tx: Tx, kind: string, name: string): Promise<void> => {
    await tx.execute(sql`delete from asset_consumers c where c.kind = ${kind} and c.name = ${name}`)
  },

  /** Takes or renews the lease of a sink. Returns its position, or undefined if another server holds the lease. */
  lease: async (kind: SinkKind, name: string, leaseId: string, now: Date, until: Date): Promise<number | undefined> =>
    (
      await db.prepared<{ position: number }>(sql`
        insert into asset_consumers as c (kind, name, last_seen, lease_id, lease_until)
        values (${kind}, ${name}, ${now}, ${leaseId}::uuid, ${until})
        on conflict (kind, name) do update set lease_id = excluded.lease_id, lease_until = excluded.lease_until
          where c.lease_id = excluded.lease_id or c.lease_until is null or c.lease_until <= ${now}
        returning c.position`)
    )[0]?.position,

  /** Saves the acknowledged position. Returns false if another server holds the lease now. */
  published: async (
    kind: SinkKind,
    name: string,
    leaseId: string,
    position: number,
    now: Date,
    until: Date,
  ): Promise<boolean> =>
    (
      await db.prepared(sql`
        update asset_consumers c set position = ${position}::bigint, last_seen = ${now}, lease_until = ${until}, error = ''
        where c.kind = ${kind} and c.name = ${name} and c.lease_id = ${leaseId}::uuid returning 1`)
    ).length > 0,

  failed: async (kind: SinkKind, name: string, leaseId: string, error: string): Promise<void> => {
    await db.prepared(sql`
      update asset_consumers c set error = ${error} where c.kind = ${kind} and c.name = ${name} and c.lease_id = ${leaseId}::uuid`)
  },

  /** Releases the lease, so that another server takes over at once. */
  release: async (kind: SinkKind, name: string, leaseId: string): Promise<void> => {
    await db.prepared(sql`
      update asset_consumers c set lease_until = null
      where c.kind = ${kind} and c.name = ${name} and c.lease_id = ${leaseId}::uuid`)
  },
})
