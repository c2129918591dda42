import type { AuditLine } from '@portcullis/domain'
import type { Queryable, Tx } from '#platform/db/db.ts'
import { type SqlFragment, sql } from '#platform/db/sql.ts'

export type CheckpointsStore = ReturnType<typeof createCheckpointsStore>

/** Where trail and checkpoints stand. */
export interface Position {
  /** Number of the newest record. */
  newest: number
  /** The newest checkpoint; null: none was made. */
  line: string | null
}

/** Migration that made the table of checkpoints. */
const checkpointsVersion = 92

/** Six digits of a second: what the column holds beyond the three of the record shows. */
const createdAt = sql`to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`
const lineColumns = sql`r.audit_id as "id", ${createdAt} as "createdAt", r.actor, r.action, r.severity, r.record,
  encode(r.hash, 'hex') as "hash"`

/** The trail, a line of JSON for each record: `row_to_json` writes as JSON.stringify does. */
export const trailLines: SqlFragment = sql`
  select row_to_json(l)::text from (select ${lineColumns} from audit_records r order by r.audit_id) l`

export const checkpointLines: SqlFragment = sql`select c.line from audit_checkpoints c order by c.number`

/** Whether this database knows of checkpoints: one of an older release does not. */
export const hasCheckpoints = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ is: boolean }>(sql`select to_regclass('audit_checkpoints') is not null as is`))[0]?.is === true

/** The checkpoints as bytes of their lines, for a reader who may take his time between two of them. */
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

  /** Whether this database came to know checkpoints just now, by its own clock and word. */
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

  /** From this number on. */
  linesFrom: async (q: Queryable, number: number, limit: number): Promise<string[]> =>
    (
      await q.query<{ line: string }>(sql`
        select c.line from audit_checkpoints c where c.number >= ${number}::bigint
        order by c.number limit ${limit}::int`)
    ).map(({ line }) => line),

  /** Behind this number. */
  numbered: (number: number, limit: number): Promise<{ number: number; line: string }[]> =>
    db.query(sql`
      select c.number, c.line from audit_checkpoints c where c.number > ${number}::bigint
      order by c.number limit ${limit}::int`),

  insert: (tx: Tx, number: number, auditId: number, line: string): Promise<number> =>
    tx.execute(sql`
      insert into audit_checkpoints (number, audit_id, line) values (${number}::bigint, ${auditId}::bigint, ${line})`),
})
