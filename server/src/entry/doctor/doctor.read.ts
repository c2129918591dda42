import { mustExist } from '@portcullis/domain'
import {
  type Difference,
  differencesSql,
  type SealedRow,
  type SetRow,
  sealedPage,
  setSql,
  type UnsealedFacts,
  unsealedSql,
} from '@portcullis/features/policy/server/index.ts'
import { createClient } from '@portcullis/platform/server/db/connection.ts'
import { floorSql } from '@portcullis/platform/server/db/migrate.ts'
import type pg from 'pg'

export interface DatabaseFacts {
  versionNumber: number
  version: string
  encoding: string
  locale: string
  foldsLetters: boolean
  /** Versions of the collation, at creation of the database and now; null: it has none. */
  collation: { made: string | null; now: string | null }
  settings: Readonly<Record<string, string>>
  user: { name: string; isSuperuser: boolean; mayCreate: boolean }
  connections: { used: number; max: number; reserved: number }
  sizeBytes: number
  /** Used share of the transaction ids. */
  wraparound: number
  skewMs: number
  answerMs: number
  trigrams: 'installed' | 'available' | 'missing'
  /** Whether the extension creates trigrams for letters beyond ASCII; null: it is not installed. */
  makesTrigrams: boolean | null
  /** Bytes of WAL; null: this user may not see it. */
  walBytes: number | null
  archiver: { failedLast: boolean; lastFailed: string } | null
  /** Maximum bytes of WAL that an unused replication slot holds back. */
  heldBySlots: number
}

export interface BackupFacts {
  newestAt: Date | null
  isScheduled: boolean
  nextAt: Date | null
  /** Why the last scheduled backup failed; empty if it worked. */
  lastError: string
}

export interface RuleSetFacts {
  set: SetRow
  unsealed: UnsealedFacts
  differences: readonly Difference[]
  /** Returns a page of rules with everything that their seals cover. */
  sealedAfter(id: string): Promise<SealedRow[]>
}

export interface AppliedMigration {
  version: number
  name: string
  checksum: string
}

const settingNames = ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'archive_mode']

/** Read-only queries of the doctor, on one connection. */
export const createDoctorRead = (client: pg.Client) => {
  const one = async <T>(text: string): Promise<T> =>
    mustExist((await client.query(text)).rows[0] as T | undefined, 'the row')
  /** Returns null if this user may not see the value, or this version does not know it. */
  async function maybe<T>(text: string): Promise<T | null> {
    try {
      return await one<T>(text)
    } catch {
      return null
    }
  }
  return {
    facts: async (now: () => number): Promise<DatabaseFacts> => {
      let answerMs = Number.POSITIVE_INFINITY
      // The first answers of a connection are slow. The fastest of several measures the network path.
      for (let i = 0; i < 5; i++) {
        const startedAt = performance.now()
        await client.query('select 1')
        answerMs = Math.min(answerMs, performance.now() - startedAt)
      }
      const before = now()
      const { at } = await one<{ at: Date }>('select clock_timestamp() as at')
      const skewMs = at.getTime() - (before + now()) / 2
      const basic = await one<{
        n: number
        version: string
        encoding: string
        locale: string
        folds: boolean
        size: number
        age: number
      }>(`
        select current_setting('server_version_num')::int as n, current_setting('server_version') as version,
               current_setting('server_encoding') as encoding, d.datcollate as locale, lower('Ä') = 'ä' as folds,
               pg_database_size(d.oid)::float8 as size, (age(d.datfrozenxid) / 2147483648.0)::float8 as age
        from pg_database d where d.datname = current_database()`)
      const collation = await maybe<{ made: string | null; now: string | null }>(`
        select d.datcollversion as made, pg_database_collation_actual_version(d.oid) as now
        from pg_database d where d.datname = current_database()`)
      const settings = (
        await client.query<{ name: string; setting: string }>({
          text: 'select s.name, s.setting from pg_settings s where s.name = any($1::text[])',
          values: [settingNames],
        })
      ).rows
      const user = await one<{ name: string; super: boolean; may: boolean }>(`
        select current_user as name, r.rolsuper as super, has_database_privilege(current_database(), 'CREATE') as may
        from pg_roles r where r.rolname = current_user`)
      const connections = await one<{ used: number; max: number; reserved: number }>(`
        select (select count(*)::int from pg_stat_activity a where a.datid is not null) as used,
               current_setting('max_connections')::int as max,
               current_setting('superuser_reserved_connections')::int as reserved`)
      const extension = await one<{ installed: boolean; available: boolean }>(`
        select exists (select from pg_extension e where e.extname = 'pg_trgm') as installed,
               exists (select from pg_available_extensions e where e.name = 'pg_trgm') as available`)
      const trigrams = extension.installed
        ? await maybe<{ n: number }>("select cardinality(show_trgm('ж')) as n")
        : null
      const wal = await maybe<{ bytes: number }>('select sum(w.size)::float8 as bytes from pg_ls_waldir() w')
      const archiver = await maybe<{ failed: boolean; last: string }>(`
        select coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false) as failed,
               coalesce(a.last_failed_wal, '') as last from pg_stat_archiver a`)
      const slots = await maybe<{ bytes: number }>(`
        select coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)), 0)::float8 as bytes
        from pg_replication_slots s where not s.active and s.restart_lsn is not null`)
      return {
        versionNumber: basic.n,
        version: basic.version,
        encoding: basic.encoding,
        locale: basic.locale,
        foldsLetters: basic.folds,
        collation: collation ?? { made: null, now: null },
        settings: Object.fromEntries(settings.map(({ name, setting }) => [name, setting])),
        user: { name: user.name, isSuperuser: user.super, mayCreate: user.may },
        connections,
        sizeBytes: basic.size,
        wraparound: basic.age,
        skewMs,
        answerMs,
        trigrams: extension.installed ? 'installed' : extension.available ? 'available' : 'missing',
        makesTrigrams: trigrams === null ? null : trigrams.n > 0,
        walBytes: wal?.bytes ?? null,
        archiver: archiver === null ? null : { failedLast: archiver.failed, lastFailed: archiver.last },
        heldBySlots: slots?.bytes ?? 0,
      }
    },

    /** Returns the applied migrations; null: this database has no schema yet. */
    migrations: async (): Promise<AppliedMigration[] | null> => {
      const { found } = await one<{ found: boolean }>("select to_regclass('schema_migrations') is not null as found")
      if (!found) return null
      return (
        await client.query<AppliedMigration>(
          'select m.version, m.name, m.checksum from schema_migrations m order by m.version',
        )
      ).rows
    },

    /** Returns the minimum schema version that a release needs to run here. */
    floor: async (): Promise<number> => (await one<{ floor: number }>(floorSql)).floor,

    /** Returns configuration items that are not secrets, by name; empty before the schema exists. */
    items: async (names: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const { rows } = await client.query<{ name: string; value: string }>({
        text: 'select c.name, c.value from config_items c where c.name = any($1::text[])',
        values: [names],
      })
      return new Map(rows.map(({ name, value }) => [name, value]))
    },

    /** Returns the newest backups; null before the schema has them. */
    backups: async (): Promise<BackupFacts | null> =>
      maybe<BackupFacts>(`
        select (select max(b.made_at) from backups_made b) as "newestAt",
               (select c.value = 'true' from config_items c where c.name = 'BACKUP_ENABLED') is true as "isScheduled",
               (select p.next_at from backup_plan p) as "nextAt",
               coalesce((select r.error from backup_runs r where r.ended_at is not null order by r.ended_at desc limit 1), '') as "lastError"`),

    /** Returns the set of rules with its seal, and the rules that differ from the history; null: not in this schema. */
    ruleSet: async (): Promise<RuleSetFacts | null> => {
      const set = await maybe<SetRow>(setSql)
      if (set === null) return null
      return {
        set,
        unsealed: await one<UnsealedFacts>(unsealedSql),
        differences: (await client.query<Difference>(differencesSql)).rows,
        sealedAfter: async (id) => (await client.query<SealedRow>(sealedPage.sql, [id])).rows,
      }
    },

    /** Returns the outbound channels of notification groups, without their secrets. */
    channels: async (): Promise<{ group: number; url: string; syslog: string; protocol: string }[]> =>
      (
        await client.query<{ group: number; url: string; syslog: string; protocol: string }>(`
          select g.group_id as "group",
                 case when g.config #>> '{channels,webhook,isEnabled}' = 'true' then g.config #>> '{channels,webhook,url}' else '' end as url,
                 case when g.config #>> '{channels,syslog,isEnabled}' = 'true' then g.config #>> '{channels,syslog,address}' else '' end as syslog,
                 coalesce(g.config #>> '{channels,syslog,protocol}', '') as protocol
          from notification_groups g where g.config ->> 'isEnabled' = 'true' order by g.group_id`)
      ).rows,
  }
}

/** Opens a read-only connection with a timeout of ten seconds. */
export const connect = async (connection: pg.PoolConfig): Promise<pg.Client> => {
  const client = createClient({
    ...connection,
    application_name: 'portcullis doctor',
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    options: '-c default_transaction_read_only=on',
  })
  client.on('error', () => {})
  await client.connect()
  return client
}
