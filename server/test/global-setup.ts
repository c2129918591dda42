import { createDb } from '@portcullis/platform/server/db/db.ts'
import { migrate } from '@portcullis/platform/server/db/migrate.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { startTestPostgres } from '@portcullis/platform/server/postgres/test-postgres.ts'
import type { TestProject } from 'vitest/node'
import { templateDatabase } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { host: string; port: number; user: string; database: string }
  }
}

/** Starts a temporary PostgreSQL for the run, with a migrated template that each test file clones. */
export default async function setup(project: TestProject) {
  const postgres = await startTestPostgres()
  const log = createLog('silent')
  const admin = createDb({
    connection: postgres.connection,
    max: 1,
    name: 'setup',
    log,
    statementTimeoutMs: 0,
    connectTimeoutMs: 60_000,
  })
  await admin.withClient((client) => client.query(`CREATE DATABASE ${templateDatabase}`))
  await admin.close()
  const template = createDb({
    connection: { ...postgres.connection, database: templateDatabase },
    max: 1,
    name: 'setup',
    log,
    statementTimeoutMs: 0,
  })
  await migrate(template, new URL('../migrations', import.meta.url).pathname)
  await template.close()
  project.provide('postgres', postgres.connection)
  return () => postgres.stop()
}
