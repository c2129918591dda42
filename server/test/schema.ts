import type { Db } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** Lists everything that migrations create, one line each, sorted by text. */
export const schemaOf = async (db: Db): Promise<string[]> => {
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
