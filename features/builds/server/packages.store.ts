import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface PackageRow {
  package_id: string
  version: string
  architecture: string
  sha256: Buffer
  size: number
  signature: Buffer
  release_key: Buffer
  published_at: Date
  published_by: string
  withdrawn_at: Date | null
  /** The time of the upload, while the build waits for a second approver. It counts as withdrawn in the meantime. */
  pending_since: Date | null
  pending_by: string | null
}

export interface FormerKeyRow {
  public_key: Buffer
  pinned_at: Date
  pinned_by: string
}

export const createPackagesStore = (db: Queryable) => ({
  /** Returns the key that an earlier version pinned over HTTP. */
  formerlyPinned: async (): Promise<FormerKeyRow | undefined> =>
    (await db.prepared<FormerKeyRow>(sql`select k.public_key, k.pinned_at, k.pinned_by from agent_release_key k`))[0],

  /** Makes publishers wait for each other; reads continue. */
  lock: (): Promise<number> => db.execute(sql`lock table agent_packages in share row exclusive mode`),

  all: (): Promise<PackageRow[]> =>
    db.prepared<PackageRow>(sql`
      select p.package_id, p.version, p.architecture, p.sha256, p.size, p.signature, p.release_key, p.published_at,
        p.published_by, p.withdrawn_at, p.pending_since, p.pending_by
      from agent_packages p`),

  /** Stores a build, or replaces a withdrawn or untrusted one of the same version. Returns its id. */
  put: async (row: Omit<PackageRow, 'withdrawn_at'>): Promise<string> => {
    const rows = await db.query<{ package_id: string }>(sql`
      insert into agent_packages (package_id, version, architecture, sha256, size, signature, release_key, published_at,
        published_by, withdrawn_at, pending_since, pending_by)
      values (${row.package_id}::uuid, ${row.version}, ${row.architecture}, ${row.sha256}, ${row.size}::bigint,
        ${row.signature}, ${row.release_key}, ${row.published_at}, ${row.published_by}, ${row.pending_since}, ${row.pending_since},
        ${row.pending_by})
      on conflict (architecture, version) do update
      set withdrawn_at = excluded.withdrawn_at, sha256 = excluded.sha256, size = excluded.size, signature = excluded.signature,
        release_key = excluded.release_key, published_at = excluded.published_at, published_by = excluded.published_by,
        pending_since = excluded.pending_since, pending_by = excluded.pending_by
      returning package_id`)
    const packageId = rows[0]?.package_id ?? row.package_id
    await db.execute(sql`delete from agent_package_chunks c where c.package_id = ${packageId}::uuid`)
    return packageId
  },

  /** Publishes a build that waited for a second approver. */
  release: (packageId: string, now: Date, by: string): Promise<number> =>
    db.execute(sql`
      update agent_packages p set withdrawn_at = null, pending_since = null, pending_by = null, published_at = ${now},
        published_by = ${by}
      where p.package_id = ${packageId}::uuid`),

  /** Deletes a pending build. No host ever received it, so its version is free again. */
  discard: (packageId: string): Promise<number> =>
    db.execute(
      sql`delete from agent_packages p where p.package_id = ${packageId}::uuid and p.pending_since is not null`,
    ),

  /** Deletes builds that have been waiting since before then. */
  discardOlder: (before: Date): Promise<{ version: string; architecture: string }[]> =>
    db.query(sql`
      delete from agent_packages p where p.pending_since <= ${before} returning p.version, p.architecture`),

  putChunk: (packageId: string, n: number, bytes: Buffer): Promise<number> =>
    db.execute(
      sql`insert into agent_package_chunks (package_id, n, bytes) values (${packageId}::uuid, ${n}::int, ${bytes})`,
    ),

  withdraw: async (packageId: string, now: Date): Promise<void> => {
    await db.execute(sql`update agent_packages p set withdrawn_at = ${now} where p.package_id = ${packageId}::uuid`)
    await db.execute(sql`delete from agent_package_chunks c where c.package_id = ${packageId}::uuid`)
  },

  chunk: async (packageId: string, n: number): Promise<Buffer | undefined> =>
    (
      await db.prepared<{ bytes: Buffer }>(
        sql`select c.bytes from agent_package_chunks c where c.package_id = ${packageId}::uuid and c.n = ${n}::int`,
      )
    )[0]?.bytes,
})
