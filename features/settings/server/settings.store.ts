import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import type { Static } from 'typebox'
import type { ConfigChange, ConfigVersion, IntegrationUse } from '#features/contract.ts'

export interface ItemRow {
  name: string
  value: string
  sealed: Buffer | null
}

/** An item in a version. A null value: not set. */
export interface WrittenItem {
  name: string
  value: string | null
  sealed: Buffer | null
}

const base64 = (sealed: Buffer | null): string | null => sealed?.toString('base64') ?? null

export const createSettingsStore = () => ({
  items: (q: Queryable, names: readonly string[]): Promise<ItemRow[]> =>
    q.query<ItemRow>(sql`select c.name, c.value, c.sealed from config_items c where c.name = any(${names}::text[])`),

  /** Makes changes of the configuration wait for each other, so that each is checked against the current values. */
  lock: async (tx: Tx): Promise<number> => {
    await tx.execute(sql`lock table config_versions in share row exclusive mode`)
    const [row] = await tx.query<{ n: number }>(
      sql`select coalesce(max(v.version), 0)::int as n from config_versions v`,
    )
    return row?.n ?? 0
  },

  write: async (
    tx: Tx,
    now: Date,
    by: string,
    version: number,
    items: readonly WrittenItem[],
    changes: readonly ConfigChange[],
  ): Promise<void> => {
    await tx.execute(sql`
      insert into config_versions (version, changed_at, changed_by, changes)
      values (${version}, ${now}, ${by}, ${JSON.stringify(changes)}::jsonb)`)
    const given = unnestOf([
      [items.map((item) => item.name), 'text[]'],
      [items.map((item) => item.value), 'text[]'],
      [items.map((item) => base64(item.sealed)), 'text[]'],
    ])
    await tx.execute(sql`
      insert into config_history (version, name, value, sealed)
      select ${version}::int, u.name, u.value, decode(u.sealed, 'base64') from ${given} u(name, value, sealed)`)
    await tx.execute(sql`
      delete from config_items c using ${given} u(name, value, sealed) where c.name = u.name and u.value is null`)
    await tx.execute(sql`
      insert into config_items (name, value, sealed, changed_at)
      select u.name, u.value, decode(u.sealed, 'base64'), ${now} from ${given} u(name, value, sealed) where u.value is not null
      on conflict (name) do update set value = excluded.value, sealed = excluded.sealed, changed_at = excluded.changed_at`)
  },

  /** Returns all items that ever changed, with their values at a version. A null value: not set then. */
  asOf: (q: Queryable, version: number): Promise<WrittenItem[]> =>
    q.query<WrittenItem>(sql`
      select n.name, h.value, h.sealed from (select distinct h.name from config_history h) n
      left join lateral (
        select h.value, h.sealed from config_history h where h.name = n.name and h.version <= ${version}::int
        order by h.version desc limit 1) h on true
      order by n.name`),

  /** Returns who last changed each of these items. */
  lastChanges: (q: Queryable, names: readonly string[]): Promise<{ name: string; by: string; at: Date }[]> =>
    q.query(sql`
      select distinct on (h.name) h.name, v.changed_by as by, v.changed_at as at
      from config_history h join config_versions v on v.version = h.version
      where h.name = any(${names}::text[]) order by h.name, h.version desc`),

  noteUse: async (q: Queryable, now: Date, name: string, failure: string | null): Promise<void> => {
    const [ok, bad] = failure === null ? [now, null] : [null, now]
    await q.execute(sql`
      insert into integration_uses (name, succeeded_at, failed_at, failure)
      values (${name}, ${ok}::timestamptz, ${bad}::timestamptz, ${failure ?? ''})
      on conflict (name) do update set succeeded_at = coalesce(excluded.succeeded_at, integration_uses.succeeded_at),
        failed_at = coalesce(excluded.failed_at, integration_uses.failed_at),
        failure = case when excluded.failed_at is null then integration_uses.failure else excluded.failure end`)
  },

  uses: (q: Queryable): Promise<Static<typeof IntegrationUse>[]> =>
    q.query(sql`
      select u.name, ${raw(utcSql('u.succeeded_at'))} as "succeededAt", ${raw(utcSql('u.failed_at'))} as "failedAt", u.failure
      from integration_uses u order by u.name`),

  history: async (
    q: Queryable,
    prefix: string,
    page: { number: number; size: number },
  ): Promise<{ recordsTotal: number; recordsFiltered: number; data: ConfigVersion[] }> => {
    const touched = sql`(${prefix}::text = '' or exists (
      select from config_history h where h.version = v.version and starts_with(h.name, ${prefix}::text)))`
    const [[counts], data] = await Promise.all([
      q.query<{ total: number; filtered: number }>(
        sql`select count(*)::int as total, count(*) filter (where ${touched})::int as filtered from config_versions v`,
      ),
      q.query<ConfigVersion>(sql`
        select v.version, ${raw(utcSql('v.changed_at'))} as "changedAt", v.changed_by as "changedBy", v.changes from config_versions v
        where ${touched} order by v.version desc limit ${page.size}::int offset ${(page.number - 1) * page.size}::bigint`),
    ])
    return { recordsTotal: counts?.total ?? 0, recordsFiltered: counts?.filtered ?? 0, data }
  },
})
