import type pg from 'pg'

/** A table of the schema; it includes its partitions. */
export interface TableShape {
  table: string
  columns: string[]
}

/**
 * Tables that a backup leaves out: their content expires within minutes, or it must not return, such as ended sessions.
 * Only a new table may be added, else older backups would lack one. The migrations write `schema_migrations` themselves.
 */
export const leftOut = [
  'schema_migrations',
  'sessions',
  'session_refresh_tokens',
  'agent_session_nonces',
  'signin_buckets',
  'oidc_answers',
  'download_tickets',
  'password_links',
  'connection_tests',
  'worker_tokens',
  'job_runners',
  // A restored asset stream starts at the beginning, under a new installation id.
  'asset_stream',
  'asset_consumers',
  // A restored server must not delete the backups of the original.
  'backup_installation',
]

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Settings for rows as text, identical wherever a checksum is computed. */
export const textSettings =
  "SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL statement_timeout = 0"

/** Returns the tables so that each comes after those it refers to. */
export const tablesOf = async (client: pg.ClientBase): Promise<TableShape[]> => {
  const { rows } = await client.query<{ table: string; columns: string[] }>({
    text: `
      SELECT c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> ALL($1::text[])
      GROUP BY c.relname ORDER BY c.relname`,
    values: [leftOut],
  })
  const { rows: references } = await client.query<{ table: string; to: string }>(`
    SELECT c.relname AS table, r.relname AS to FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
    WHERE k.contype = 'f' AND k.conrelid <> k.confrelid`)
  const known = new Map(rows.map((row) => [row.table, row]))
  const placed = new Set<string>()
  const order: TableShape[] = []
  function place(name: string, path: readonly string[]): void {
    const shape = known.get(name)
    if (shape === undefined || placed.has(name)) return
    if (path.includes(name)) throw new Error(`tables refer to each other in a circle: ${[...path, name].join(', ')}`)
    for (const { to } of references.filter(({ table }) => table === name)) place(to, [...path, name])
    placed.add(name)
    order.push(shape)
  }
  for (const { table } of rows) place(table, [])
  return order
}

export const columnList = ({ columns }: TableShape): string => columns.map(quoted).join(', ')
export const tableName = ({ table }: TableShape): string => quoted(table)

/** Returns the count of a table's rows and a checksum that does not depend on their order. */
export const fingerprintOf = async (
  client: pg.ClientBase,
  shape: TableShape,
): Promise<{ rows: number; checksum: string }> => {
  const { rows } = await client.query<{ n: string; sum: string }>(
    `SELECT count(*)::text AS n, coalesce(sum(hashtextextended(row(${columnList(shape)})::text, 0)::numeric), 0)::text AS sum FROM ${tableName(shape)}`,
  )
  return { rows: Number(rows[0]?.n ?? 0), checksum: rows[0]?.sum ?? '0' }
}

/** Returns the positions of identity columns, by table and column. */
export const sequencesOf = async (client: pg.ClientBase): Promise<Record<string, number>> => {
  const { rows } = await client.query<{ name: string; at: string }>(`
    SELECT c.relname || '.' || a.attname AS name, coalesce(s.last_value, 0)::text AS at
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
      JOIN pg_sequences s ON format('%I.%I', s.schemaname, s.sequencename) = pg_get_serial_sequence(format('%I', c.relname), a.attname)
        OR format('%s.%s', s.schemaname, s.sequencename) = pg_get_serial_sequence(format('%I', c.relname), a.attname)
    WHERE a.attidentity <> '' AND c.relkind IN ('r', 'p')`)
  return Object.fromEntries(rows.map(({ name, at }) => [name, Number(at)]))
}
