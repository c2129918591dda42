import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '#test/database.ts'
import { StartError } from '../start-error.ts'
import { migrate } from './migrate.ts'
import { sql } from './sql.ts'

const folder = fileURLToPath(new URL('../../../migrations', import.meta.url))
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

  it('refuses a newer one in a sentence, and leaves it as it is', async () => {
    await t.db.execute(sql`insert into schema_migrations (version, name, checksum) values (9999, 'future', 'x')`)
    const error = await migrate(t.db, folder).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(StartError)
    expect((error as Error).message).toMatch(/^The database has schema version 9999, this release knows \d+\. .*\.$/)
    await t.db.execute(sql`delete from schema_migrations where version = 9999`)
    await expect(migrate(t.db, folder)).resolves.toBeGreaterThan(0)
  })

  it('refuses one whose migrations are not those of this release', async () => {
    await t.db.execute(sql`update schema_migrations set checksum = 'other' where version = 1`)
    await expect(migrate(t.db, folder)).rejects.toThrow(StartError)
  })
})
