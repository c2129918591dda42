import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDb, type Db } from '@portcullis/platform/server/db/db.ts'
import { migrate } from '@portcullis/platform/server/db/migrate.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { dropDatabase } from '@portcullis/server/test/database.ts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

const folder = fileURLToPath(new URL('../../../../server/migrations', import.meta.url))
const before = mkdtempSync(join(tmpdir(), 'portcullis-migrations-'))
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
  for (const file of readdirSync(folder).filter((name) => name < '0070')) cpSync(join(folder, file), join(before, file))
  db = open(database)
  await migrate(db, before)
})
afterAll(async () => {
  await db.close()
  const admin = open(undefined)
  await dropDatabase(admin, database)
  await admin.close()
  rmSync(before, { recursive: true, force: true })
})

const addDesign = (fingerprint: string, interfaces: string) =>
  db.execute(sql`
    insert into designs (fingerprint, without_revision, model_id, manufacturer, product, configuration, folded, icon, kinds, class_code,
      subclass_code, protocol_code, interfaces, bcd_device, attack_tool, vulnerable, severity, evidence, vulnerabilities, findings,
      descriptors, knowledge_version)
    select ${fingerprint}, 'w', m.model_id, '', '', '', '', 1, '{Keyboard}', '03', '01', '01', ${interfaces}, '0100', 0, false, 10,
      '[]', '[]', '', '', 'v' from models m`)

describe('counters of a database from before counters existed', () => {
  it('are computed once, and fingerprints of the earlier release get their shape', async () => {
    await db.execute(
      sql`insert into models (vid, pid, vendor, product, folded, first_seen, last_seen) values ('0001', '0002', '', '', '', '2030-01-01Z', '2030-06-01Z')`,
    )
    await addDesign('one', '03:01:01')
    await addDesign('two', '03:01:01')
    await addDesign('three', '03:01:01 08:06:50')
    await db.execute(
      sql`insert into agents (agent_id, host, address, enrolled_at, facts) select gen_random_uuid(), 'host ' || n, '', now(), '{}' from generate_series(1, 3) n`,
    )
    // Every host has both fingerprints of the common shape. The first also has the odd one, and a detached one.
    await db.execute(sql`
      insert into peripherals (agent_id, device_id, design_id, port_path, serial, serial_folded, first_seen, last_seen, present)
      select a.agent_id, d.fingerprint, d.design_id, '1-1', '', '', '2030-02-01Z'::timestamptz, '2030-03-01Z'::timestamptz, true from agents a, designs d
        where d.fingerprint <> 'three' or a.host = 'host 1'
      union all select a.agent_id, 'gone', d.design_id, '1-2', '', '', '2030-02-01Z'::timestamptz, '2030-04-01Z'::timestamptz, false from agents a, designs d
        where d.fingerprint = 'one' and a.host = 'host 1'`)
    await migrate(db, folder)
    const shapes = await db.query(
      sql`select s.interfaces, s.hosts, s.devices, s.last_seen from shapes s order by s.hosts desc`,
    )
    const at = new Date('2030-03-01T00:00:00Z')
    expect(shapes).toEqual([
      { interfaces: '03:01:01', hosts: 3, devices: 6, last_seen: at },
      { interfaces: '03:01:01 08:06:50', hosts: 1, devices: 1, last_seen: at },
    ])
    expect(
      await db.query(
        sql`select d.fingerprint, c.hosts, c.devices from design_counts c join designs d using (design_id) order by d.design_id`,
      ),
    ).toEqual([
      { fingerprint: 'one', hosts: 3, devices: 3 },
      { fingerprint: 'two', hosts: 3, devices: 3 },
      { fingerprint: 'three', hosts: 1, devices: 1 },
    ])
    // The earlier release stores a fingerprint without a shape.
    await addDesign('four', '03:01:01')
    await addDesign('five', 'ff:00:00')
    expect(
      await db.query(
        sql`select d.fingerprint, s.interfaces from designs d join shapes s using (shape_id) where d.fingerprint in ('four', 'five') order by d.design_id`,
      ),
    ).toEqual([
      { fingerprint: 'four', interfaces: '03:01:01' },
      { fingerprint: 'five', interfaces: 'ff:00:00' },
    ])
  })
})
