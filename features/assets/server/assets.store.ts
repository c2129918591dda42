import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { appendOrdered, unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** An asset that gets a new position. An empty device id means the host itself. */
export interface AssetKey {
  agent_id: string
  device_id: string
  removed: boolean
}

/** A message that does not carry the state of an asset. */
export interface Note {
  type: string
  subject: string
  data: unknown
}

export const createAssetsStore = (db: Queryable) => ({
  /** Waits for the exclusive right to assign positions, until the transaction ends. */
  lock: async (tx: Tx): Promise<void> => {
    await tx.query(sql`select from asset_stream s for update`)
  },

  /** Takes the exclusive right to assign positions. Returns false if another replica has it. */
  tryLock: async (tx: Tx): Promise<boolean> =>
    (await tx.prepared(sql`select 1 from asset_stream s for update skip locked`)).length > 0,

  /** Counts the changes without a position, up to `limit`. */
  waiting: async (limit: number): Promise<number> =>
    (
      await db.prepared<{ n: number }>(
        sql`select count(*)::int as n from (select from asset_dirty d limit ${limit}::int) d`,
      )
    )[0]?.n ?? 0,

  isDirty: async (): Promise<boolean> =>
    (await db.prepared<{ is: boolean }>(sql`select exists (select from asset_dirty d) as is`))[0]?.is === true,

  /** Replaces each changed fingerprint with its peripherals. Returns the number of fingerprints. */
  spreadFingerprints: (tx: Tx): Promise<number> =>
    tx.execute(sql`
      with taken as (delete from asset_dirty d where d.design_id is not null returning d.design_id),
        spread as (
          insert into asset_dirty (agent_id, device_id)
          select p.agent_id, p.device_id from peripherals p where p.design_id in (select t.design_id from taken t))
      select from taken`),

  hasFingerprints: async (): Promise<boolean> =>
    (
      await db.prepared<{ is: boolean }>(
        sql`select exists (select from asset_dirty d where d.design_id is not null) as is`,
      )
    )[0]?.is === true,

  /**
   * Takes some of the changed assets, each once, hosts first, and reads in the same snapshot whether they exist. A row
   * that is visible here was committed with its change. Assets that were added and removed in between are skipped.
   */
  take: async (tx: Tx, limit: number): Promise<{ taken: number; keys: AssetKey[] }> => {
    const rows = await tx.prepared<AssetKey & { taken: number; is_news: boolean }>(sql`
      with taken as (
        delete from asset_dirty d where d.ctid = any(array(
          select t.ctid from asset_dirty t where t.design_id is null limit ${limit}::int))
        returning d.agent_id, d.device_id),
      keys as (
        select k.agent_id, k.device_id, case when k.device_id = ''
            then not exists (select from agents a where a.agent_id = k.agent_id)
            else not exists (select from peripherals p where p.agent_id = k.agent_id and p.device_id = k.device_id) end as removed
        from (select distinct t.agent_id, t.device_id from taken t) k)
      select k.agent_id, k.device_id, k.removed, (select count(*)::int from taken) as taken,
        not k.removed or exists (
          select from asset_heads h where h.agent_id = k.agent_id and h.device_id = k.device_id and not h.removed) as is_news
      from keys k order by k.device_id <> '', k.agent_id, k.device_id`)
    return {
      taken: rows[0]?.taken ?? 0,
      keys: rows
        .filter((row) => row.is_news)
        .map(({ agent_id, device_id, removed }) => ({ agent_id, device_id, removed })),
    }
  },

  /**
   * Assigns the next positions in the given order and returns the last one. Only events and audit records may follow.
   */
  assignPositions: async (tx: Tx, at: Date, keys: readonly AssetKey[]): Promise<number> =>
    (
      await appendOrdered(
        tx,
        'outbox',
        keys.length,
        sql`
        insert into asset_heads as x (agent_id, device_id, sequence, removed, at)
        select r.agent_id, r.device_id, h.n - ${keys.length}::bigint + r.ord, r.removed, ${at}::timestamptz
        from h, ${unnestOf([
          [keys.map((k) => k.agent_id), 'uuid[]'],
          [keys.map((k) => k.device_id), 'text[]'],
          [keys.map((k) => k.removed), 'boolean[]'],
        ])} with ordinality r(agent_id, device_id, removed, ord)
        on conflict (agent_id, device_id) do update set sequence = excluded.sequence, removed = excluded.removed, at = excluded.at`,
      )
    )[0]?.n ?? 0,

  /** Appends messages without state in the given order and returns the last position. */
  note: async (tx: Tx, at: Date, notes: readonly Note[]): Promise<number> =>
    (
      await appendOrdered(
        tx,
        'outbox',
        notes.length,
        sql`
        insert into asset_notes (sequence, at, type, subject, data)
        select h.n - ${notes.length}::bigint + r.ord, ${at}::timestamptz, r.type, r.subject, r.data
        from h, ${unnestOf([
          [notes.map((n) => n.type), 'text[]'],
          [notes.map((n) => n.subject), 'text[]'],
          [notes.map((n) => JSON.stringify(n.data)), 'jsonb[]'],
        ])} with ordinality r(type, subject, data, ord)`,
      )
    )[0]?.n ?? 0,

  /** Deletes the notes from before a time. */
  forgetNotes: (before: Date): Promise<number> => db.execute(sql`delete from asset_notes n where n.at < ${before}`),
})
