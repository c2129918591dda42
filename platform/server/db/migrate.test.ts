// Invariant: A release starts on the schema of its successor, unless that one removed something.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cloneDatabase } from '@portcullis/server/test/database.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StartError } from '../start-error.ts'
import { migrate, readMigrations } from './migrate.ts'
import { sql } from './sql.ts'

const folder = fileURLToPath(new URL('../../../server/migrations', import.meta.url))
let t: Awaited<ReturnType<typeof cloneDatabase>>

beforeAll(async () => {
  t = await cloneDatabase()
})
afterAll(() => t.close())

describe('migrate', () => {
  it('does nothing to a database of this release', async () => {
    const [before] = await t.db.query<{ n: number }>(sql`select max(version) as n from schema_migrations`)
    expect(await migrate(t.db, folder)).toBe(before?.n)
  })

  it('accepts and keeps a newer schema that only added objects, so that a release can be rolled back', async () => {
    await t.db.execute(sql`insert into schema_migrations (version, name, checksum) values (9999, 'future', 'x')`)
    expect(await migrate(t.db, folder)).toBe(9999)
    expect(await t.db.query(sql`select name from schema_migrations where version = 9999`)).toHaveLength(1)
    await t.db.execute(sql`delete from schema_migrations where version = 9999`)
  })

  it('rejects a newer schema that removed something, with a readable error', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-migrations-'))
    cpSync(folder, dir, { recursive: true })
    writeFileSync(
      join(dir, '9998_contracts.sql'),
      '-- runs-with: 9997\nALTER TABLE tags ADD COLUMN next_release text;\n',
    )
    expect(await migrate(t.db, dir)).toBe(9998)
    const error = await migrate(t.db, folder).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(StartError)
    expect((error as Error).message).toMatch(
      /^The database has schema version 9998, .* knows version 9997; this one knows \d+\. .*\.$/,
    )
    // The previous release, which the migration declared compatible.
    writeFileSync(join(dir, '9997_expands.sql'), 'SELECT 1;\n')
    rmSync(join(dir, '9998_contracts.sql'))
    expect(await migrate(t.db, dir)).toBe(9998)
    await t.db.execute(sql`delete from schema_migrations where version > 9000`)
    await t.db.execute(sql`comment on table schema_migrations is null`)
    rmSync(dir, { recursive: true })
  })

  it('does not block others while a long read holds a table, and continues after it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-migrations-'))
    cpSync(folder, dir, { recursive: true })
    writeFileSync(join(dir, '9996_waits.sql'), 'ALTER TABLE tags ADD COLUMN waited_for text;\n')
    let done: Promise<number> | undefined
    await t.db.transaction(async (tx) => {
      await tx.query(sql`select count(*) from tags`)
      done = migrate(t.db, dir)
      const isWaiting = () =>
        t.db.query(sql`select from pg_locks l where l.relation = 'tags'::regclass and not l.granted`)
      for (let i = 0; i < 500 && (await isWaiting()).length === 0; i++)
        await new Promise((next) => setTimeout(next, 10))
      // A later read gets a response: it does not wait for the first one.
      await expect(t.db.query(sql`select count(*) from tags`)).resolves.toHaveLength(1)
    })
    expect(await done).toBe(9996)
    await t.db.execute(sql`delete from schema_migrations where version > 9000`)
    rmSync(dir, { recursive: true })
  })

  it('requires every migration that removes something to name the releases that still run', () => {
    // Migrations up to here were never released.
    const firstRelease = 95
    const contracts =
      /\b(DROP (TABLE|COLUMN|VIEW|FUNCTION|TRIGGER)|RENAME|SET NOT NULL|ALTER COLUMN \w+ (SET DATA )?TYPE)\b/i
    const silent = readMigrations(folder).filter(
      ({ version, text, runsWith }) => version > firstRelease && contracts.test(text) && runsWith === 0,
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  it('rejects a schema with migrations of another release', async () => {
    await t.db.execute(sql`update schema_migrations set checksum = 'other' where version = 1`)
    await expect(migrate(t.db, folder)).rejects.toThrow(StartError)
  })
})
