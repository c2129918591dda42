import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { cloneDatabase } from '#test/database.ts'
import type { Db } from './db.ts'
import { migrate } from './migrate.ts'
import { sql } from './sql.ts'

const folder = fileURLToPath(new URL('../../../migrations', import.meta.url))
/** Last migration of version 0.1. */
const released = 92
const open: Awaited<ReturnType<typeof cloneDatabase>>[] = []
afterAll(() => Promise.all(open.map((one) => one.close())))

const database = async (template?: string): Promise<Db> => {
  const one = await cloneDatabase(template)
  open.push(one)
  return one.db
}

/** Lists everything that migrations create, one line each, sorted by text. */
const schemaOf = async (db: Db): Promise<string[]> => {
  const rows = await db.query<{ line: string }>(sql`
    select 'column ' || c.table_name || '.' || c.column_name || ' ' || c.data_type || ' ' || c.is_nullable || ' '
        || coalesce(c.column_default, '-') || ' ' || coalesce(c.generation_expression, '-') as line
      from information_schema.columns c where c.table_schema = 'public'
    union all select 'index ' || i.indexdef from pg_indexes i where i.schemaname = 'public'
    union all select 'constraint ' || k.conrelid::regclass || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid)
      from pg_constraint k where k.connamespace = 'public'::regnamespace and k.conrelid <> 0
    union all select 'trigger ' || pg_get_triggerdef(t.oid) from pg_trigger t where not t.tgisinternal
    union all select 'function ' || pg_get_functiondef(p.oid) from pg_proc p
      where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    union all select 'options ' || r.relname || ' ' || r.relpersistence::text || ' ' || coalesce(r.reloptions::text, '-')
      from pg_class r where r.relnamespace = 'public'::regnamespace and r.relkind in ('r', 'p', 'i', 'v')
    order by line`)
  return rows.map((row) => row.line)
}

it('the schema is the same after an upgrade from version 0.1 as on an empty database', async () => {
  const upgraded = await database('template0')
  expect(await migrate(upgraded, folder, released)).toBe(released)
  const before = await schemaOf(upgraded)
  await migrate(upgraded, folder)
  const after = await schemaOf(upgraded)
  expect(after.length).toBeGreaterThan(before.length)
  expect(after).toEqual(await schemaOf(await database()))
})
