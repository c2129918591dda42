import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** A set without its files. */
export interface SetRow {
  set_id: string
  version: string
  state: string
  created_at: Date
  uploaded_at: Date
  uploaded_by: string
  fingerprint: string
  brings: string[]
  base_id: string | null
  applied_at: Date | null
  applied_by: string | null
  seal: Buffer
}
export type WholeSet = SetRow & { files: string }

export interface KeyRow {
  fingerprint: string
  public_key: Buffer
  trusted_at: Date
  trusted_by: string
  seal: Buffer
}

const columns = sql`s.set_id, s.version, s.state, s.created_at, s.uploaded_at, s.uploaded_by, s.fingerprint, s.brings, s.base_id, s.applied_at, s.applied_by, s.seal`

export const createKnowledgeStore = (db: Queryable) => ({
  keys: (): Promise<KeyRow[]> =>
    db.query<KeyRow>(sql`
      select k.fingerprint, k.public_key, k.trusted_at, k.trusted_by, k.seal from knowledge_keys k order by k.trusted_at`),

  addKey: (k: KeyRow): Promise<unknown> =>
    db.execute(sql`
      insert into knowledge_keys (fingerprint, public_key, trusted_at, trusted_by, seal)
      values (${k.fingerprint}, ${k.public_key}, ${k.trusted_at}, ${k.trusted_by}, ${k.seal})`),

  inState: async (state: string): Promise<WholeSet | undefined> =>
    (await db.query<WholeSet>(sql`select ${columns}, s.files from knowledge_sets s where s.state = ${state}`))[0],

  byId: async (id: string): Promise<WholeSet | undefined> =>
    (await db.query<WholeSet>(sql`select ${columns}, s.files from knowledge_sets s where s.set_id = ${id}::uuid`))[0],

  history: (limit: number): Promise<SetRow[]> =>
    db.query<SetRow>(
      sql`select ${columns} from knowledge_sets s order by s.uploaded_at desc, s.set_id desc limit ${limit}::int`,
    ),

  dropCandidate: (): Promise<number> => db.execute(sql`delete from knowledge_sets s where s.state = 'Candidate'`),

  add: (s: WholeSet): Promise<unknown> =>
    db.execute(sql`
      insert into knowledge_sets (set_id, version, state, created_at, uploaded_at, uploaded_by, fingerprint, brings, base_id, files, seal)
      values (${s.set_id}, ${s.version}, ${s.state}, ${s.created_at}, ${s.uploaded_at}, ${s.uploaded_by}, ${s.fingerprint}, ${s.brings},
        ${s.base_id}::uuid, ${s.files}, ${s.seal})`),

  move: (s: Pick<SetRow, 'set_id' | 'state' | 'applied_at' | 'applied_by' | 'seal'>): Promise<unknown> =>
    db.execute(sql`
      update knowledge_sets s set state = ${s.state}, applied_at = ${s.applied_at}, applied_by = ${s.applied_by}, seal = ${s.seal}
      where s.set_id = ${s.set_id}::uuid`),
})
