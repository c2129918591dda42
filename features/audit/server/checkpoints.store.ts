import type { AuditLine } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'

export type CheckpointsStore = ReturnType<typeof createCheckpointsStore>

/** Ends of the trail and of the checkpoints. */
export interface Position {
  newest: number
  /** The newest checkpoint. Null without one. */
  line: string | null
}

/** Migration that created the table of checkpoints. */
const checkpointsVersion = 92

/** Six digits of a second, because the column is more precise than the three digits of the record. */
const createdAt = sql`to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`
const lineColumns = sql`r.audit_id as "id", ${createdAt} as "createdAt", r.actor, r.action, r.severity, r.record,
  encode(r.hash, 'hex') as "hash"`

/** Lines of the exported trail, one JSON object per record. `row_to_json` formats like JSON.stringify. */
export const trailLines: SqlFragment = sql`
  select row_to_json(l)::text from (select ${lineColumns} from audit_records r order by r.audit_id) l`

export const checkpointLines: SqlFragment = sql`select c.line from audit_checkpoints c order by c.number`

/** Returns whether the database has checkpoints. Databases of older releases do not. */
export const hasCheckpoints = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ is: boolean }>(sql`select to_regclass('audit_checkpoints') is not null as is`))[0]?.is === true

/** Yields the lines of all checkpoints in batches, for a reader that may pause between them. */
export async function* readCheckpointLines(db: Queryable): AsyncGenerator<Buffer> {
  const store = createCheckpointsStore(db)
  for (let number = 0; ; ) {
    const rows = await store.numbered(number, 1_000)
    const last = rows.at(-1)
    if (last === undefined) return
    yield Buffer.from(rows.map(({ line }) => `${line}\n`).join(''))
    number = last.number
  }
}

export const createCheckpointsStore = (db: Queryable) => ({
  position: async (q: Queryable = db): Promise<Position> => {
    const [row] = await q.prepared<Position>(sql`
      select h.n as newest, c.line
      from ordered_head h
        left join lateral (select x.audit_id, x.line from audit_checkpoints x order by x.number desc limit 1) c on true
      where h.stream = 'audit'`)
    return row ?? { newest: 0, line: null }
  },

  /** Returns whether the checkpoint table is new, by the database's own clock and migration record. */
  isJustUpgraded: async (q: Queryable): Promise<boolean> =>
    (
      await q.query<{ is: boolean }>(sql`
        select exists (
          select from schema_migrations m
          where m.version = ${checkpointsVersion}::int and m.applied_at > now() - interval '10 minutes') as is`)
    )[0]?.is === true,

  recordsAfter: (tx: Tx, id: number, limit: number): Promise<AuditLine[]> =>
    tx.query<AuditLine>(sql`
      select ${lineColumns} from audit_records r where r.audit_id > ${id}::bigint
      order by r.audit_id limit ${limit}::int`),

  /** Returns lines from this number on. */
  linesFrom: async (q: Queryable, number: number, limit: number): Promise<string[]> =>
    (
      await q.query<{ line: string }>(sql`
        select c.line from audit_checkpoints c where c.number >= ${number}::bigint
        order by c.number limit ${limit}::int`)
    ).map(({ line }) => line),

  /** Returns checkpoints after this number. */
  numbered: (number: number, limit: number): Promise<{ number: number; line: string }[]> =>
    db.query(sql`
      select c.number, c.line from audit_checkpoints c where c.number > ${number}::bigint
      order by c.number limit ${limit}::int`),

  insert: (tx: Tx, number: number, auditId: number, line: string): Promise<number> =>
    tx.execute(sql`
      insert into audit_checkpoints (number, audit_id, line) values (${number}::bigint, ${auditId}::bigint, ${line})`),
})
