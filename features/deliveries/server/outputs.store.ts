import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'

export interface OutputKey {
  groupId: number
  channel: 'webhook' | 'syslog'
}

/** The state of a stream. */
export interface OutputRow {
  group_id: number
  channel: 'webhook' | 'syslog'
  /** Every event up to this id was accepted or is unwanted. */
  position: number
  /** Last event of the webhook batch being sent; null: none. */
  batch_to: number | null
  sent: number
  failures: number
  next_at: Date | null
  fence: number
  succeeded_at: Date | null
  failed_at: Date | null
  error: string
}

const columns = raw(
  'o.group_id, o.channel, o.position, o.batch_to, o.sent, o.failures, o.next_at, o.fence, o.succeeded_at, o.failed_at, o.error',
)

export const createOutputsStore = () => ({
  all: (q: Queryable): Promise<OutputRow[]> =>
    q.query<OutputRow>(sql`select ${columns} from event_outputs o order by o.group_id, o.channel`),

  /** Creates an output that begins after the newest event. */
  add: async (q: Queryable, { groupId, channel }: OutputKey): Promise<void> => {
    await q.execute(sql`
      insert into event_outputs (group_id, channel, position)
      select ${groupId}::int, ${channel}, h.n from ordered_head h where h.stream = 'events'
      on conflict do nothing`)
  },

  /** Deletes the state of outputs that were switched off. */
  keepOnly: async (tx: Tx, keys: readonly OutputKey[]): Promise<void> => {
    const names = keys.map(({ groupId, channel }) => `${groupId} ${channel}`)
    await tx.execute(sql`
      delete from event_outputs o where not o.group_id || ' ' || o.channel = any(${names}::text[])`)
  },

  /** Leases an output that is due and that nobody else holds. */
  lease: async (
    q: Queryable,
    { groupId, channel }: OutputKey,
    now: Date,
    until: Date,
  ): Promise<OutputRow | undefined> =>
    (
      await q.query<OutputRow>(sql`
        update event_outputs o set lease_until = ${until}, fence = o.fence + 1
        where o.group_id = ${groupId}::int and o.channel = ${channel} and (o.next_at is null or o.next_at <= ${now})
          and (o.lease_until is null or o.lease_until <= ${now})
        returning ${columns}`)
    )[0],

  /** Saves the end of a batch before it is sent. Returns false if another server holds the output now. */
  begin: async (q: Queryable, row: OutputRow, batchTo: number, until: Date): Promise<boolean> =>
    (await q.execute(sql`
      update event_outputs o set batch_to = ${batchTo}::bigint, lease_until = ${until}
      where o.group_id = ${row.group_id}::int and o.channel = ${row.channel} and o.fence = ${row.fence}::int`)) === 1,

  moved: async (
    q: Queryable,
    row: OutputRow,
    change: { position: number; sent: number; now: Date; until: Date },
  ): Promise<boolean> =>
    (await q.execute(sql`
      update event_outputs o set position = ${change.position}::bigint, batch_to = null, sent = o.sent + ${change.sent}::int,
        lease_until = ${change.until}, next_at = null,
        failures = case when ${change.sent}::int > 0 then 0 else o.failures end,
        error = case when ${change.sent}::int > 0 then '' else o.error end,
        succeeded_at = case when ${change.sent}::int > 0 then ${change.now}::timestamptz else o.succeeded_at end
      where o.group_id = ${row.group_id}::int and o.channel = ${row.channel} and o.fence = ${row.fence}::int`)) === 1,

  /** Records a failure. `isOver` ends the current batch; another follows. */
  failed: async (
    q: Queryable,
    row: OutputRow,
    now: Date,
    nextAt: Date,
    error: string,
    isOver: boolean,
  ): Promise<void> => {
    await q.execute(sql`
      update event_outputs o set failures = o.failures + 1, failed_at = ${now}, next_at = ${nextAt}, error = ${error}, lease_until = null,
        batch_to = case when ${isOver}::boolean then null else o.batch_to end
      where o.group_id = ${row.group_id}::int and o.channel = ${row.channel} and o.fence = ${row.fence}::int`)
  },

  release: async (q: Queryable, row: OutputRow): Promise<void> => {
    await q.execute(sql`
      update event_outputs o set lease_until = null
      where o.group_id = ${row.group_id}::int and o.channel = ${row.channel} and o.fence = ${row.fence}::int`)
  },

  /** Makes an output due now. Returns false if it does not exist. */
  retry: async (q: Queryable, { groupId, channel }: OutputKey): Promise<boolean> =>
    (await q.execute(sql`
      update event_outputs o set next_at = null where o.group_id = ${groupId}::int and o.channel = ${channel}`)) === 1,

  /** Skips to the newest event and returns the skipped range. */
  skip: async (tx: Tx, { groupId, channel }: OutputKey): Promise<{ from: number; to: number } | undefined> =>
    (
      await tx.query<{ from: number; to: number }>(sql`
        with before as materialized (
          select o.group_id, o.channel, o.position from event_outputs o
          where o.group_id = ${groupId}::int and o.channel = ${channel} for update)
        update event_outputs o set position = h.n, batch_to = null, failures = 0, next_at = null, lease_until = null,
          fence = o.fence + 1, error = ''
        from before b, ordered_head h
        where o.group_id = b.group_id and o.channel = b.channel and h.stream = 'events'
        returning b.position as "from", h.n as "to"`)
    )[0],
})
