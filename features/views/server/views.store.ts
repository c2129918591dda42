import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { lock, locks } from '@portcullis/platform/server/db/locks.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import type { SavedView } from '#features/contract.ts'

export interface ViewRow {
  view_id: string
  page: string
  name: string
  name_key: string
  search: string
  is_shared: boolean
  owner_id: string | null
  changed_at: Date
}

const shown = (account: string | null): SqlFragment => sql`
  v.view_id as id, v.page, v.name, v.search, v.is_shared as "isShared", coalesce(a.user_name, '') as owner,
  coalesce(v.owner_id = ${account}::uuid, false) as "isOwn",
  exists (select from saved_view_pins p where p.account_id = ${account}::uuid and p.view_id = v.view_id) as "isPinned", ${raw(utcSql('v.changed_at'))} as "changedAt"`

/** The saved views. A private view is visible only to its account. */
export const createViewsStore = (q: Queryable) => ({
  list: (account: string | null): Promise<SavedView[]> =>
    q.query<SavedView>(sql`
      select ${shown(account)} from saved_views v left join accounts a on a.account_id = v.owner_id
      where v.is_shared or v.owner_id = ${account}::uuid order by v.page, v.is_shared, v.name_key`),

  one: async (account: string | null, id: string): Promise<SavedView | undefined> =>
    (
      await q.query<SavedView>(sql`
        select ${shown(account)} from saved_views v left join accounts a on a.account_id = v.owner_id
        where v.view_id = ${id}::uuid and (v.is_shared or v.owner_id = ${account}::uuid)`)
    )[0],
})

export const createViewWrites = (tx: Tx) => ({
  /** Serialises changes, so that limits hold, and removes private views of deleted accounts. */
  lock: async (): Promise<void> => {
    await lock(tx, locks.savedViews)
    await tx.execute(sql`delete from saved_views v where v.owner_id is null and not v.is_shared`)
  },

  /** Counts the views that share a limit: the shared ones, or the private ones of an account. */
  count: async (account: string | null, isShared: boolean, except: string): Promise<number> =>
    (
      await tx.query<{ n: number }>(
        isShared
          ? sql`select count(*)::int as n from saved_views v where v.is_shared and v.view_id <> ${except}::uuid`
          : sql`select count(*)::int as n from saved_views v where not v.is_shared and v.owner_id = ${account}::uuid and v.view_id <> ${except}::uuid`,
      )
    )[0]?.n ?? 0,

  /** Adds or replaces a view. Throws 23505 if the name is taken. */
  put: (row: ViewRow): Promise<unknown> =>
    tx.execute(sql`
      insert into saved_views (view_id, page, name, name_key, search, is_shared, owner_id, changed_at)
      values (${row.view_id}::uuid, ${row.page}, ${row.name}, ${row.name_key}, ${row.search}, ${row.is_shared}, ${row.owner_id}::uuid, ${row.changed_at})
      on conflict (view_id) do update set page = excluded.page, name = excluded.name, name_key = excluded.name_key,
        search = excluded.search, is_shared = excluded.is_shared, changed_at = excluded.changed_at`),

  countPins: async (account: string): Promise<number> =>
    (
      await tx.query<{ n: number }>(sql`
        select count(*)::int as n from saved_view_pins p join saved_views v on v.view_id = p.view_id
        where p.account_id = ${account}::uuid and (v.is_shared or v.owner_id = ${account}::uuid)`)
    )[0]?.n ?? 0,

  pin: (account: string, id: string, isPinned: boolean): Promise<unknown> =>
    tx.execute(
      isPinned
        ? sql`insert into saved_view_pins (account_id, view_id) values (${account}::uuid, ${id}::uuid) on conflict do nothing`
        : sql`delete from saved_view_pins p where p.account_id = ${account}::uuid and p.view_id = ${id}::uuid`,
    ),

  remove: (id: string): Promise<unknown> => tx.execute(sql`delete from saved_views v where v.view_id = ${id}::uuid`),
})
