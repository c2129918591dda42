import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { createDb, type Db } from '@portcullis/platform/server/db/db.ts'
import { migrate } from '@portcullis/platform/server/db/migrate.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { dropDatabase } from '@portcullis/server/test/database.ts'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'

const folder = fileURLToPath(new URL('../../../server/migrations', import.meta.url))
const database = `t_${randomBytes(6).toString('hex')}`
const open = (name: string | undefined): Db => {
  const connection = inject('postgres')
  return createDb({
    connection: name === undefined ? connection : { ...connection, database: name },
    max: 1,
    name: 'migration test',
    log: createLog('silent'),
    statementTimeoutMs: 0,
  })
}
let db: Db

beforeAll(async () => {
  const admin = open(undefined)
  await admin.withClient((client) => client.query(`CREATE DATABASE ${database}`))
  await admin.close()
  db = open(database)
  await migrate(db, folder, 199)
})
afterAll(async () => {
  await db.close()
  const admin = open(undefined)
  await dropDatabase(admin, database)
  await admin.close()
})

const addConnection = (name: string, key: string) =>
  db.execute(sql`
    insert into connections (connection_id, computer_name, name_key, host_key, created_at, changed_at)
    values (gen_random_uuid(), ${name}, lower(${name}::text), ${key}, '2030-01-10Z', '2030-01-10Z')`)
let records = 0
const record = (action: string, at: string, rest: object) =>
  db.execute(sql`
    insert into audit_records (audit_id, created_at, actor, action, severity, record, hash)
    values (${++records}, ${at}::timestamptz, 'ann', ${action}, 4, ${JSON.stringify({ action, outcome: 'success', ...rest })}, '')`)
const confirmed = (name: string) => ({ objects: [{ kind: 'connection', name }] })

it('counts existing host keys as confirmed only if the audit trail contains their confirmation', async () => {
  for (const name of ['Confirmed', 'signed-in', 'earlier-name', 'changed-since', 'old-record'])
    await addConnection(name, `SHA256:${name}`)
  await addConnection('cleared', '')
  const action = 'connection.host_key_confirmed'
  await record(action, '2030-01-11Z', confirmed('Confirmed'))
  await record(action, '2030-01-11Z', confirmed('changed-since'))
  await record(action, '2030-01-11Z', confirmed('cleared'))
  await record(action, '2030-01-09Z', confirmed('earlier-name'))
  await record(action, '2030-01-11Z', { entity: '1 connection', details: 'old-record' })
  await record('connection.changed', '2030-01-12Z', { entity: 'changed-since', details: 'hostKeyFingerprint' })
  await record('connection.changed', '2030-01-12Z', { entity: 'Confirmed', details: 'port, userName' })
  await migrate(db, folder)
  const rows = await db.query<{ name: string }>(
    sql`select c.computer_name as name from connections c where c.host_key <> '' and c.confirmed_host_key = c.host_key`,
  )
  expect(rows.map(({ name }) => name)).toEqual(['Confirmed'])
})
