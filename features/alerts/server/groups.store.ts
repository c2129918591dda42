import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { lock, locks, tryLock } from '@portcullis/platform/server/db/locks.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { GroupConfig } from './groups.ts'

export interface GroupRow {
  group_id: number
  config: Partial<GroupConfig>
  webhook_secret: Buffer | null
  updated_at: Date | null
  updated_by: string
}

/** An alert that waits to be sent to a group by a channel. */
export interface PendingRow {
  notice_id: number
  news: string
  since: Date
  severity: number
}

export const createGroupsStore = () => ({
  all: (q: Queryable): Promise<GroupRow[]> =>
    q.query<GroupRow>(
      sql`select g.group_id, g.config, g.webhook_secret, g.updated_at, g.updated_by from notification_groups g order by g.group_id`,
    ),

  /** Serialises changes of groups. */
  lock: async (tx: Tx): Promise<void> => {
    await lock(tx, locks.notificationGroups)
  },

  save: async (
    tx: Tx,
    groupId: number,
    config: GroupConfig,
    secret: Buffer | null,
    change: { at: Date; by: string },
  ): Promise<void> => {
    await tx.execute(sql`
      insert into notification_groups (group_id, config, webhook_secret, updated_at, updated_by)
      values (${groupId}::int, ${JSON.stringify(config)}::jsonb, ${secret}::bytea, ${change.at}, ${change.by})
      on conflict (group_id) do update set config = excluded.config, webhook_secret = excluded.webhook_secret,
        updated_at = excluded.updated_at, updated_by = excluded.updated_by`)
  },

  addPending: async (
    tx: Tx,
    rows: readonly { groupId: number; channel: string; alertId: number; turn: number; news: string }[],
    now: Date,
  ): Promise<void> => {
    if (rows.length === 0) return
    await tx.execute(sql`
      insert into notice_pending (group_id, channel, notice_id, turn, news, since)
      select u.group_id, u.channel, u.notice_id, u.turn, u.news, ${now}
      from ${unnestOf([
        [rows.map((r) => r.groupId), 'int[]'],
        [rows.map((r) => r.channel), 'text[]'],
        [rows.map((r) => r.alertId), 'int[]'],
        [rows.map((r) => r.turn), 'bigint[]'],
        [rows.map((r) => r.news), 'text[]'],
      ])} u(group_id, channel, notice_id, turn, news)
      on conflict (group_id, channel, notice_id) do update set turn = excluded.turn, news = excluded.news`)
  },

  /** Returns the groups and channels with pending alerts. */
  waiting: (q: Queryable): Promise<{ group_id: number; channel: 'email' | 'webhook' }[]> =>
    q.query(sql`select distinct p.group_id, p.channel from notice_pending p order by p.group_id, p.channel`),

  /** Lets one replica at a time notify a group and channel. Returns false if another one does. */
  tryNotify: (tx: Tx, groupId: number, channel: 'email' | 'webhook'): Promise<boolean> =>
    tryLock(tx, locks.notifyGroup(groupId, channel)),

  /** Returns the pending alerts, most severe first, and the last use of the channel. */
  pending: async (tx: Queryable, groupId: number, channel: string, limit: number) => {
    const rows = await tx.query<PendingRow>(sql`
      select p.notice_id, p.news, p.since, n.severity from notice_pending p join notices n on n.notice_id = p.notice_id
      where p.group_id = ${groupId}::int and p.channel = ${channel} order by n.severity, p.since, p.notice_id limit ${limit}::int`)
    const [last] = await tx.query<{ told_at: Date; streak: number }>(
      sql`select t.told_at, t.streak from notice_told t where t.group_id = ${groupId}::int and t.channel = ${channel}`,
    )
    return { rows, last: { at: last?.told_at ?? null, streak: last?.streak ?? 0 } }
  },

  /** Deletes pending alerts; null: all of the group and channel. */
  endPending: async (tx: Tx, groupId: number, channel: string, alertIds: readonly number[] | null): Promise<void> => {
    await tx.execute(sql`
      delete from notice_pending p where p.group_id = ${groupId}::int and p.channel = ${channel}
        and (${alertIds}::int[] is null or p.notice_id = any(${alertIds}::int[]))`)
  },

  recordSent: async (tx: Tx, groupId: number, channel: string, now: Date, streak: number): Promise<void> => {
    await tx.execute(sql`
      insert into notice_told (group_id, channel, told_at, streak) values (${groupId}::int, ${channel}, ${now}, ${streak}::int)
      on conflict (group_id, channel) do update set told_at = excluded.told_at, streak = excluded.streak`)
  },
})
