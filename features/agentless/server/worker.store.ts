import { mustExist } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface WorkerRow {
  worker_id: string
  admin_status: 'Pending' | 'Activated' | 'Deactivated'
}

export interface PollerRow {
  poller_id: string
  name: string
  address: string
  version: string
  capacity: number
  running: number
  cpu: number
  last_seen: Date
  is_activated: boolean
}

export const createWorkerStore = () => ({
  worker: async (q: Queryable): Promise<WorkerRow | undefined> =>
    (await q.query<WorkerRow>(sql`select w.worker_id, w.admin_status from workers w`))[0],

  /** Returns whether a process may poll. A deactivation waits until the transaction ends. */
  mayPoll: async (tx: Tx, pollerId: string): Promise<boolean> =>
    (
      await tx.query(sql`
        select 1 from workers w join worker_pollers p on p.worker_id = w.worker_id
        where w.admin_status = 'Activated' and p.is_activated and p.poller_id = ${pollerId}::uuid for share of w`)
    ).length === 1,

  /** Lets processes poll after the worker is activated. */
  activatePollers: async (tx: Tx, pollerIds: readonly string[]): Promise<void> => {
    await tx.execute(sql`update worker_pollers p set is_activated = true where p.poller_id = any(${pollerIds}::uuid[])`)
  },

  ensureWorker: async (tx: Tx, id: string, now: Date): Promise<WorkerRow> => {
    await tx.execute(
      sql`insert into workers (worker_id, admin_status, created_at) values (${id}::uuid, 'Pending', ${now}) on conflict (single) do nothing`,
    )
    const [row] = await tx.query<WorkerRow>(sql`select w.worker_id, w.admin_status from workers w`)
    return mustExist(row, 'the worker')
  },

  setStatus: async (tx: Tx, id: string, status: WorkerRow['admin_status']): Promise<boolean> =>
    (await tx.execute(sql`update workers w set admin_status = ${status} where w.worker_id::text = ${id}`)) === 1,

  remove: async (tx: Tx): Promise<boolean> => (await tx.execute(sql`delete from workers w`)) > 0,

  /** Returns processes that connected since then. */
  pollers: (q: Queryable, since: Date): Promise<PollerRow[]> =>
    q.query<PollerRow>(sql`
      select p.poller_id, p.name, p.address, p.version, p.capacity, p.running, p.cpu, p.last_seen, p.is_activated from worker_pollers p
      where p.last_seen >= ${since}
      order by p.last_seen desc, p.poller_id`),

  insertPoller: async (
    tx: Tx,
    p: {
      id: string
      workerId: string
      keyHash: Buffer
      name: string
      address: string
      version: string
      now: Date
      isActivated: boolean
    },
  ): Promise<void> => {
    await tx.execute(sql`
      insert into worker_pollers (poller_id, worker_id, key_hash, name, address, version, last_seen, is_activated)
      values (${p.id}::uuid, ${p.workerId}::uuid, ${p.keyHash}, ${p.name}, ${p.address}, ${p.version}, ${p.now}, ${p.isActivated})`)
  },

  /** Returns the process that has a key and whether the worker may poll, and stores the time of contact. */
  seen: async (
    q: Queryable,
    keyHash: Buffer,
    now: Date,
    reported: { capacity: number; running: number; cpu: number; version: string; address: string } | null,
  ): Promise<{ poller_id: string; admin_status: WorkerRow['admin_status'] } | undefined> =>
    (
      await q.query<{ poller_id: string; admin_status: WorkerRow['admin_status'] }>(sql`
        update worker_pollers p set last_seen = ${now}, capacity = coalesce(${reported?.capacity ?? null}::int, p.capacity),
          running = coalesce(${reported?.running ?? null}::int, p.running), cpu = coalesce(${reported?.cpu ?? null}::real, p.cpu),
          version = coalesce(${reported?.version ?? null}::text, p.version), address = coalesce(${reported?.address ?? null}::text, p.address)
        from workers w where w.worker_id = p.worker_id and p.key_hash = ${keyHash} returning p.poller_id, w.admin_status`)
    )[0],

  /** Deletes processes that did not connect for a long time. After a restart, they register again. */
  forgetPollers: (q: Queryable, before: Date): Promise<number> =>
    q.execute(sql`delete from worker_pollers p where p.last_seen < ${before}`),

  insertToken: async (tx: Tx, hash: Buffer, by: string, expiresAt: Date): Promise<void> => {
    await tx.execute(sql`
      insert into worker_tokens (token_hash, created_by, expires_at) values (${hash}, ${by}, ${expiresAt})`)
  },

  /** Uses up a token; false if no valid token has this hash. */
  useToken: async (tx: Tx, hash: Buffer, now: Date): Promise<boolean> =>
    (await tx.execute(sql`delete from worker_tokens t where t.token_hash = ${hash} and t.expires_at > ${now}`)) === 1,

  forgetTokens: (q: Queryable, now: Date): Promise<number> =>
    q.execute(sql`delete from worker_tokens t where t.expires_at <= ${now}`),
})
