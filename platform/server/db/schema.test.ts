import { fileURLToPath } from 'node:url'
import { cloneDatabase } from '@portcullis/server/test/database.ts'
import { schemaOf } from '@portcullis/server/test/schema.ts'
import { afterAll, expect, it } from 'vitest'
import type { Db } from './db.ts'
import { migrate } from './migrate.ts'

const folder = fileURLToPath(new URL('../../../server/migrations', import.meta.url))
/** Last migration of version 0.1. */
const released = 92
const open: Awaited<ReturnType<typeof cloneDatabase>>[] = []
afterAll(() => Promise.all(open.map((one) => one.close())))

const database = async (template?: string): Promise<Db> => {
  const one = await cloneDatabase(template)
  open.push(one)
  return one.db
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
