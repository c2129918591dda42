import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** A connection as it is stored; secrets are sealed. */
export interface ConnectionRow {
  connection_id: string
  computer_name: string
  name_key: string
  port: number | null
  platform: string
  user_name: string
  password: Buffer | null
  private_key: Buffer | null
  passphrase: Buffer | null
  host_key: string
  /** The host key that a person confirmed. A pinned key that differs from it was trusted on first use. */
  confirmed_host_key: string
  /** The last presented host key that is not pinned; empty: none. */
  shown_host_key?: string
  interval_minutes: number | null
  is_override: boolean
  tags: string[]
  is_registered: boolean
  /** An Administrator confirmed that it may receive the default password. */
  is_confirmed: boolean
  agent_id: string | null
}

export interface DefaultsRow {
  port: number
  platform: string
  user_name: string
  password: Buffer | null
  private_key: Buffer | null
  passphrase: Buffer | null
  interval_minutes: number
}

const columns = sql`c.connection_id, c.computer_name, c.name_key, c.port, c.platform, c.user_name, c.password, c.private_key, c.passphrase,
  c.host_key, c.confirmed_host_key, c.shown_host_key, c.interval_minutes, c.is_override, c.tags, c.is_registered, c.is_confirmed, c.agent_id`

/** Whether a person confirmed the pinned host key. */
export const isKeyConfirmed = (row: Pick<ConnectionRow, 'host_key' | 'confirmed_host_key'>): boolean =>
  row.host_key !== '' && row.host_key === row.confirmed_host_key

export const createConnectionsStore = () => ({
  any: async (q: Queryable): Promise<boolean> =>
    (await q.query(sql`select c.connection_id from connections c limit 1`)).length > 0,

  byKeys: (q: Queryable, keys: readonly string[]): Promise<ConnectionRow[]> =>
    q.query<ConnectionRow>(
      sql`select ${columns} from connections c where c.name_key = any(${keys}::text[]) order by c.name_key`,
    ),

  /** Returns connections and locks them in name order until the transaction ends. */
  lockByKeys: (tx: Tx, keys: readonly string[]): Promise<ConnectionRow[]> =>
    tx.query<ConnectionRow>(
      sql`select ${columns} from connections c where c.name_key = any(${keys}::text[]) order by c.name_key for update of c`,
    ),

  /** Adds connections, registered and due now, and skips existing names. Returns the added names. */
  insert: async (tx: Tx, now: Date, rows: readonly ConnectionRow[]): Promise<string[]> => {
    const added = await tx.query<{ connection_id: string; name_key: string }>(sql`
      insert into connections (connection_id, computer_name, name_key, port, platform, user_name, password, private_key, passphrase, host_key,
        confirmed_host_key, interval_minutes, is_override, tags, is_registered, is_confirmed, created_at, changed_at)
      select u.connection_id, u.computer_name, u.name_key, u.port, u.platform, u.user_name, decode(u.password, 'base64'),
        decode(u.private_key, 'base64'), decode(u.passphrase, 'base64'), u.host_key, u.confirmed_host_key, u.interval_minutes, u.is_override,
        (select coalesce(array_agg(t), '{}') from jsonb_array_elements_text(u.tags) t), true, u.is_confirmed, ${now}, ${now}
      from ${unnestOf([
        [rows.map((r) => r.connection_id), 'uuid[]'],
        [rows.map((r) => r.computer_name), 'text[]'],
        [rows.map((r) => r.name_key), 'text[]'],
        [rows.map((r) => r.port), 'int[]'],
        [rows.map((r) => r.platform), 'text[]'],
        [rows.map((r) => r.user_name), 'text[]'],
        [rows.map((r) => r.password?.toString('base64') ?? null), 'text[]'],
        [rows.map((r) => r.private_key?.toString('base64') ?? null), 'text[]'],
        [rows.map((r) => r.passphrase?.toString('base64') ?? null), 'text[]'],
        [rows.map((r) => r.host_key), 'text[]'],
        [rows.map((r) => r.confirmed_host_key), 'text[]'],
        [rows.map((r) => r.interval_minutes), 'int[]'],
        [rows.map((r) => r.is_override), 'boolean[]'],
        [rows.map((r) => JSON.stringify(r.tags)), 'jsonb[]'],
        [rows.map((r) => r.is_confirmed), 'boolean[]'],
      ])} u(connection_id, computer_name, name_key, port, platform, user_name, password, private_key, passphrase, host_key, confirmed_host_key,
        interval_minutes, is_override, tags, is_confirmed)
      order by u.name_key on conflict (name_key) do nothing returning connection_id, name_key`)
    await tx.execute(sql`
      insert into connection_runs (connection_id, next_run)
      select id, ${now} from unnest(${added.map((r) => r.connection_id)}::uuid[]) id`)
    return added.map((r) => r.name_key)
  },

  update: async (tx: Tx, now: Date, r: ConnectionRow): Promise<void> => {
    await tx.execute(sql`
      update connections c set computer_name = ${r.computer_name}, name_key = ${r.name_key}, port = ${r.port}::int, platform = ${r.platform},
        user_name = ${r.user_name}, password = ${r.password}::bytea, private_key = ${r.private_key}::bytea, passphrase = ${r.passphrase}::bytea,
        host_key = ${r.host_key}, confirmed_host_key = ${r.confirmed_host_key}, shown_host_key = case when ${r.host_key}::text = c.shown_host_key then '' else c.shown_host_key end, interval_minutes = ${r.interval_minutes}::int, is_override = ${r.is_override}, tags = ${r.tags}::text[], is_confirmed = ${r.is_confirmed},
        changed_at = ${now} where c.connection_id = ${r.connection_id}::uuid`)
  },

  /** Invalidates running polls, which use the old details, and makes the hosts due at once. */
  startOver: async (tx: Tx, now: Date, ids: readonly string[]): Promise<void> => {
    await tx.execute(sql`
      update connection_runs r set next_run = case when c.is_registered then ${now}::timestamptz end, lease_until = null,
        fence = r.fence + 1, attempts = 0, failures = 0, step = ''
      from connections c where c.connection_id = r.connection_id and r.connection_id = any(${ids}::uuid[])`)
  },

  setRegistered: async (tx: Tx, ids: readonly string[], isRegistered: boolean): Promise<void> => {
    await tx.execute(
      sql`update connections c set is_registered = ${isRegistered} where c.connection_id = any(${ids}::uuid[])`,
    )
  },

  /** Removes connections. Returns the hosts without another connection. */
  remove: async (tx: Tx, ids: readonly string[]): Promise<string[]> => {
    const rows = await tx.query<{ agent_id: string }>(sql`
      with gone as (delete from connections c where c.connection_id = any(${ids}::uuid[]) returning c.agent_id)
      select distinct g.agent_id from gone g where g.agent_id is not null
        and not exists (select from connections o where o.agent_id = g.agent_id and o.connection_id <> all(${ids}::uuid[]))
      order by g.agent_id`)
    return rows.map((row) => row.agent_id)
  },

  defaults: async (q: Queryable): Promise<DefaultsRow | undefined> =>
    (
      await q.query<DefaultsRow>(
        sql`select d.port, d.platform, d.user_name, d.password, d.private_key, d.passphrase, d.interval_minutes from connection_defaults d`,
      )
    )[0],

  writeDefaults: async (tx: Tx, d: DefaultsRow): Promise<void> => {
    await tx.execute(sql`
      insert into connection_defaults (port, platform, user_name, password, private_key, passphrase, interval_minutes)
      values (${d.port}, ${d.platform}, ${d.user_name}, ${d.password}::bytea, ${d.private_key}::bytea, ${d.passphrase}::bytea, ${d.interval_minutes})
      on conflict (single) do update set port = excluded.port, platform = excluded.platform, user_name = excluded.user_name,
        password = excluded.password, private_key = excluded.private_key, passphrase = excluded.passphrase,
        interval_minutes = excluded.interval_minutes`)
  },
})
