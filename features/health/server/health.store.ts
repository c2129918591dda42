import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { likePattern } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { requireTime, utcSql } from '@portcullis/platform/server/time.ts'
import { type HealthStatus, healthChangeList, type SubsystemName } from '#features/contract.ts'

/** Recorded status of a subsystem. */
export interface StateRow {
  subsystem: SubsystemName
  status: HealthStatus
  since: Date
  description: string
}

/** A change to record. */
export interface NewChange {
  subsystem: SubsystemName
  status: HealthStatus
  previous: HealthStatus
  at: Date
  description: string
}

export const createHealthStore = () => ({
  /** Takes or keeps the lead until a time. Returns false if another replica has it. */
  lead: async (q: Queryable, holder: string, now: Date, until: Date): Promise<boolean> =>
    (await q.execute(sql`
      update health_watch w set holder = ${holder}::uuid, lease_until = ${until}
      where w.holder = ${holder}::uuid or w.lease_until <= ${now}`)) === 1,

  /** Returns whether this replica still leads, and locks the lead until the transaction ends. */
  isLeading: async (tx: Tx, holder: string): Promise<boolean> =>
    (await tx.query(sql`select 1 from health_watch w where w.holder = ${holder}::uuid for update`)).length === 1,

  resign: (q: Queryable, holder: string): Promise<number> =>
    q.execute(sql`
      update health_watch w set holder = null, lease_until = '-infinity' where w.holder = ${holder}::uuid`),

  states: (q: Queryable): Promise<StateRow[]> =>
    q.query<StateRow>(sql`select s.subsystem, s.status, s.since, s.description from health_states s`),

  /** Writes the status and, if it changed, the change. */
  write: async (tx: Tx, change: NewChange, now: Date, isChange: boolean): Promise<void> => {
    await tx.execute(sql`
      insert into health_states (subsystem, status, since, description)
      values (${change.subsystem}, ${change.status}, ${change.at}, ${change.description})
      on conflict (subsystem) do update
      set status = excluded.status, since = excluded.since, description = excluded.description`)
    if (!isChange) return
    await tx.execute(sql`
      update health_changes c set ended_at = greatest(${change.at}, c.began_at)
      where c.subsystem = ${change.subsystem} and c.ended_at is null`)
    await tx.execute(sql`
      insert into health_changes (subsystem, status, previous, began_at, noted_at, description)
      values (${change.subsystem}, ${change.status}, ${change.previous}, ${change.at}, ${now}, ${change.description})`)
  },

  /** Deletes changes that ended before a time. Current ones stay, however old. */
  forget: (q: Queryable, before: Date): Promise<number> =>
    q.execute(sql`delete from health_changes c where c.ended_at < ${before}`),
})

/** The list of changes, newest first. */
export const healthChangesList = listSpec(healthChangeList, {
  name: 'health-history',
  from: 'health_changes c',
  id: 'c.change_id',
  ties: ['c.change_id'],
  search: (needle) =>
    sql`lower(c.subsystem || ' ' || c.status || ' ' || c.description) like ${likePattern(needle)}::text`,
  columns: {
    id: 'c.change_id',
    subsystem: 'c.subsystem',
    status: 'c.status',
    previous: 'c.previous',
    at: { select: utcSql('c.began_at'), sort: 'c.began_at' },
    notedAt: { select: utcSql('c.noted_at'), sort: 'c.noted_at' },
    endedAt: { select: utcSql('c.ended_at'), sort: 'c.ended_at' },
    description: { select: 'c.description', sort: 'lower(c.description)' },
  },
  filters: {
    fromDate: (field, text) =>
      sql`(c.ended_at is null or c.ended_at > ${requireTime(field, text).from.toISOString()}::timestamptz)`,
    toDate: (field, text) => sql`c.began_at < ${requireTime(field, text).to.toISOString()}::timestamptz`,
  },
  rowJoins: 'join health_changes c on c.change_id = ids.id',
})
