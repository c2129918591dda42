import type pg from 'pg'

/** Most rows of one kind in a bundle. */
const atMost = 200
/** Most names that are read to be replaced. */
const mostNames = 200_000

export interface DatabaseForBundle {
  migrations: readonly { version: number; name: string }[]
  tables: readonly { table: string; rows: number; bytes: number; deadRows: number }[]
  /** Values of settings that are not secrets, by name; null: a stored secret. */
  settings: readonly { name: string; value: string | null }[]
  health: readonly { subsystem: string; status: string; since: Date; description: string }[]
  healthChanges: readonly { subsystem: string; status: string; previous: string; beganAt: Date; description: string }[]
  jobs: readonly { kind: string; state: string; jobs: number; lastMessage: string }[]
  backups: readonly { madeAt: Date; bytes: number; hasKeys: boolean; isEncrypted: boolean }[]
  /** From pg_stat_statements; empty without this extension. Its texts contain placeholders instead of values. */
  statements: readonly { statement: string; calls: number; meanMs: number; maxMs: number }[]
  /** Names of accounts and hosts. */
  names: readonly string[]
  problems: readonly string[]
}

/** Reads the parts of a support bundle. A part that cannot be read is empty and named in `problems`. */
export const readForBundle = async (client: pg.Client): Promise<DatabaseForBundle> => {
  const problems: string[] = []
  async function rows<T>(what: string, text: string): Promise<T[]> {
    try {
      return (await client.query(text)).rows as T[]
    } catch (error) {
      problems.push(`${what}: ${(error as { code?: string }).code ?? 'unreadable'}`)
      return []
    }
  }
  const hasStatements = (
    await rows<{ is: boolean }>(
      'statements',
      "select exists (select from pg_extension e where e.extname = 'pg_stat_statements') as is",
    )
  )[0]?.is
  return {
    migrations: await rows('migrations', 'select m.version, m.name from schema_migrations m order by m.version'),
    tables: await rows(
      'tables',
      `select s.relname as "table", s.n_live_tup::float8 as rows, pg_total_relation_size(s.relid)::float8 as bytes, s.n_dead_tup::float8 as "deadRows"
       from pg_stat_user_tables s order by pg_total_relation_size(s.relid) desc limit ${atMost}`,
    ),
    settings: await rows(
      'settings',
      'select c.name, case when c.sealed is null then c.value end as value from config_items c order by c.name',
    ),
    health: await rows(
      'health',
      'select h.subsystem, h.status, h.since, h.description from health_states h order by h.subsystem',
    ),
    healthChanges: await rows(
      'health history',
      `select h.subsystem, h.status, h.previous, h.began_at as "beganAt", h.description from health_changes h order by h.change_id desc limit ${atMost}`,
    ),
    jobs: await rows(
      'jobs',
      `select j.kind, j.state, count(*)::int as jobs, coalesce((array_agg(j.message order by j.created_at desc))[1], '') as "lastMessage"
       from jobs j group by j.kind, j.state order by j.kind, j.state`,
    ),
    backups: await rows(
      'backups',
      `select b.made_at as "madeAt", b.bytes::float8 as bytes, b.has_keys as "hasKeys", b.is_encrypted as "isEncrypted"
       from backups_made b order by b.backup_id desc limit 20`,
    ),
    statements: hasStatements
      ? await rows(
          'statements',
          `select s.query as statement, s.calls::float8 as calls, s.mean_exec_time as "meanMs", s.max_exec_time as "maxMs"
           from pg_stat_statements s where s.dbid = (select d.oid from pg_database d where d.datname = current_database())
           order by s.total_exec_time desc limit 50`,
        )
      : [],
    names: (
      await rows<{ name: string }>(
        'names',
        `(select unnest(array[a.user_name, a.first_name, a.last_name, a.email]) as name from accounts a)
         union (select r.host from agent_rows r limit ${mostNames})`,
      )
    ).map(({ name }) => name),
    problems,
  }
}
