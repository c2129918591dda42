import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { TestApp } from './app.ts'

/** Host names that break code which builds JSON, CSV, COPY or LIKE by hand. */
export const awkwardNames = [
  'plain',
  'quote"d',
  "apostrophe'd",
  'back\\slash',
  '\\.',
  '\\N',
  'a,b;c',
  'line\nfeed',
  'tab\tbed',
  'control\u0001\u0002',
  '100%_sure',
  '$1 $2',
  "'); drop table agents; --",
  '{"json":[1]}',
  '</script><script>alert(1)</script>',
  'ÄÖÜ-İstanbul',
  '日本語',
  '\u{1F600}',
  '\u{10FFFF}',
  '=1+1',
] as const

/** Rows per transaction, so that no statement times out on a busy machine. */
const atOnce = 2_000

/** Inserts agents with one peripheral each directly into the tables, for large lists. */
export const insertFleet = async (t: TestApp, count: number): Promise<void> => {
  for (let from = 1; from <= count; from += atOnce) await insertSome(t, from, Math.min(count, from + atOnce - 1))
}

const insertSome = async (t: TestApp, from: number, to: number): Promise<void> => {
  await t.server.db.transaction(async (tx) => {
    await tx.execute(sql`
      insert into dictionary (value, folded) values ('Fleet OS', 'fleet os'), ('9.9.9', '9.9.9') on conflict do nothing`)
    await tx.execute(sql`
      create temp table fleet on commit drop as
      select gen_random_uuid() as id, n, (${[...awkwardNames]}::text[])[n % ${awkwardNames.length} + 1] || ' ' || n as host,
        '10.' || n / 65536 || '.' || n / 256 % 256 || '.' || n % 256 as address
      from generate_series(${from}::int, ${to}::int) n`)
    await tx.execute(sql`
      insert into agents (agent_id, host, address, enrolled_at, facts, os_name, version)
      select id, host, address, now(), '{}', 'Fleet OS', '9.9.9' from fleet`)
    await tx.execute(sql`
      insert into agent_rows (agent_id, host, address, last_configured, first_seen, os_id, version_id, severity, connected)
      select f.id, lower(f.host), f.address, now(), now() - make_interval(secs => f.n), o.id, v.id,
        (array[10, 30, 40, 50])[f.n % 4 + 1], f.n % 3 = 0
      from fleet f, dictionary o, dictionary v where o.value = 'Fleet OS' and v.value = '9.9.9'`)
    await tx.execute(
      sql`insert into agent_heartbeats (agent_id, last_seen, connected) select id, now(), n % 3 = 0 from fleet`,
    )
    await tx.execute(
      sql`insert into agent_search (agent_id, search) select id, lower(host || ' ' || address || ' ' || id) from fleet`,
    )
    await tx.execute(sql`
      insert into peripherals (agent_id, device_id, design_id, port_path, serial, serial_folded, first_seen, last_seen, present)
      select f.id, 'USB\\VID_0000&PID_0000\\' || f.host, d.design_id, '1-1', f.host, lower(f.host), now(), now(), true
      from fleet f, (select design_id from designs limit 1) d`)
  })
}
