import { createPublicKey } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointKeyId, parseCheckpoint, type TrailVerdict, verifyTrail } from '@portcullis/domain'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { auditStatusOf, change, minute, sinkDir, sinkFiles, sinkText, turn } from '@portcullis/server/test/trail.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp
let manager: Person
let user: Person

beforeAll(async () => {
  t = await startTestApp()
  manager = await person(t, { profile: 20 })
  user = await person(t)
})
afterAll(() => t.close())

const get = async (what: string): Promise<Buffer> => {
  const answer = await (await t.admin()).get(`/prime/webui/admin/audit/${what}`)
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
  return answer.rawPayload
}
const verify = async (): Promise<TrailVerdict> => {
  const key = createPublicKey((await auditStatusOf(t)).publicKey)
  const keys = new Map([[checkpointKeyId(key), key]])
  return verifyTrail([await get('trail')], { bytes: [Buffer.from(sinkText(sinkDir(t)))], keys })
}
describe('checkpoints', () => {
  it('are signed a minute after new records, in the database and outside it', async () => {
    await change(t, 'ünï"\\')
    await turn(t, 0)
    expect(await auditStatusOf(t)).toMatchObject({ lastCheckpoint: { number: 1 }, uncovered: 0, problem: '' })
    await change(t, 'soon')
    await turn(t, minute - 1)
    expect((await auditStatusOf(t)).lastCheckpoint?.number).toBe(1)
    await turn(t, 1)
    expect(await auditStatusOf(t)).toMatchObject({
      lastCheckpoint: { number: 2, time: new Date(t.clock.now()).toISOString() },
      uncovered: 0,
      secondSink: { upTo: 2, isCurrent: true },
    })
    await turn(t, 10 * minute)
    expect((await auditStatusOf(t)).lastCheckpoint?.number, 'nothing new').toBe(2)
    expect((await get('checkpoints')).toString()).toBe(sinkText(sinkDir(t)))
    expect(await verify()).toMatchObject({ ok: true, checkpoints: 2 })
  })

  it('are signed after every 1,000 records, whatever the time', async () => {
    const { newestAuditTrailID } = await auditStatusOf(t)
    const copies = `select audit_id + n, created_at, actor, action, severity, record from audit_records, generate_series(1, 2100) n where audit_id = ${newestAuditTrailID}`
    await t.db.withClient((client) =>
      client.query(`do $$ declare r record; h bytea; begin
        select hash into h from ordered_head where stream = 'audit';
        for r in ${copies} order by 1 loop
          h := sha256(h || convert_to(r."?column?"::text || chr(10) || r.record, 'UTF8'));
          insert into audit_records values (r."?column?", r.created_at, r.actor, r.action, r.severity, r.record, h);
        end loop;
        update ordered_head set n = n + 2100, hash = h where stream = 'audit';
      end $$`),
    )
    const before = (await auditStatusOf(t)).lastCheckpoint
    await turn(t, 0)
    const lines = sinkText(sinkDir(t)).trimEnd().split('\n')
    expect(lines.slice(2).map((line) => parseCheckpoint(line)?.auditTrailID)).toEqual([
      (before?.auditTrailID ?? 0) + 1000,
      (before?.auditTrailID ?? 0) + 2000,
    ])
    await turn(t, minute)
    expect(await verify()).toMatchObject({ ok: true, checkpoints: 5, uncovered: 0 })
  })

  it('cannot be changed or removed by the server', async () => {
    for (const statement of [
      sql`update audit_checkpoints set line = '' where number = 1`,
      sql`delete from audit_checkpoints where number = 1`,
      sql`truncate audit_checkpoints`,
    ])
      await expect(t.server.db.execute(statement)).rejects.toThrow(/append-only/)
  })

  it('can be read by Managers and above', async () => {
    for (const path of ['', '/trail', '/checkpoints']) {
      const url = `/prime/webui/admin/audit${path}`
      expect((await manager.api.get(url)).statusCode).toBe(200)
      expect((await user.api.get(url)).statusCode).toBe(403)
      expect((await t.as(undefined).get(url)).statusCode).toBe(401)
    }
  })

  it('are signed with a separate key of the key file, with its public half next to them', async () => {
    const keys = loadKeys(join(t.keyDir, 'key'))
    const { keyId, publicKey, lastCheckpoint } = await auditStatusOf(t)
    expect(checkpointKeyId(keys.audit.publicKey)).toBe(keyId)
    expect(lastCheckpoint?.keyId).toBe(keyId)
    expect(readFileSync(join(sinkDir(t), `${keyId}.pem`), 'utf8')).toBe(publicKey)
    const audit = keys.audit.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    expect(audit).not.toBe(keys.command.newest().publicKey)
  })
})

describe('the second sink', () => {
  it('causes a warning if it cannot be written, and later receives everything it missed', async () => {
    const before = (await auditStatusOf(t)).lastCheckpoint?.number ?? 0
    const away = `${sinkDir(t)}.away`
    renameSync(sinkDir(t), away)
    writeFileSync(sinkDir(t), 'no folder')
    await change(t, 'while it is away')
    await turn(t, minute)
    await change(t, 'and more')
    await turn(t, minute)
    expect(await t.server.checkpoints.health()).toMatchObject({
      status: 'Warning',
      description: expect.stringMatching(/^The second sink cannot be used \(E/),
    })
    expect(await auditStatusOf(t)).toMatchObject({
      secondSink: { upTo: before, isCurrent: false },
      lastCheckpoint: { number: before + 2 },
    })
    rmSync(sinkDir(t))
    renameSync(away, sinkDir(t))
    await turn(t, 0)
    expect(await auditStatusOf(t)).toMatchObject({ secondSink: { isCurrent: true }, problem: '' })
    expect(await t.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    expect((await get('checkpoints')).toString()).toBe(sinkText(sinkDir(t)))
  })

  it('completes a line that a crash interrupted', async () => {
    await change(t, 'before the crash')
    const name = join(sinkDir(t), sinkFiles(sinkDir(t)).at(-1) as string)
    const before = readFileSync(name)
    await turn(t, minute)
    const after = readFileSync(name)
    for (const cut of [before.length + 1, after.length - 1]) {
      writeFileSync(name, after.subarray(0, cut))
      await turn(t, 0)
      expect(readFileSync(name).equals(after), `cut at ${cut}`).toBe(true)
    }
  })

  it('starts a file each month, and never an earlier one than the newest', async () => {
    const other = await startTestApp()
    try {
      await change(other, 'in May')
      await turn(other, 0)
      await change(other, 'in June')
      await turn(other, 30 * 24 * 60 * minute)
      await change(other, 'with a clock put back')
      await turn(other, -29 * 24 * 60 * minute)
      expect(sinkFiles(sinkDir(other))).toEqual(['2031-05.jsonl', '2031-06.jsonl'])
      const numbers = sinkText(sinkDir(other))
        .trimEnd()
        .split('\n')
        .map((line) => parseCheckpoint(line)?.number)
      expect(numbers).toEqual([1, 2, 3])
      expect(await other.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    } finally {
      await other.close()
    }
  })

  it('of each replica is complete, while only one replica signs', async () => {
    const own = join(t.keyDir, 'other-sink')
    mkdirSync(own)
    const [beside, apart] = await Promise.all([
      startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock }),
      startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, auditDir: own }),
    ])
    try {
      const before = (await auditStatusOf(t)).lastCheckpoint?.number ?? 0
      await change(t, 'for all')
      t.clock.advance(minute)
      await Promise.all([t, beside, apart].map((app) => app.server.checkpoints.run()))
      // A replica that missed the lock runs again two seconds later.
      for (const app of [t, beside, apart]) await app.server.checkpoints.run()
      expect((await auditStatusOf(t)).lastCheckpoint?.number).toBe(before + 1)
      expect(sinkText(own)).toBe(sinkText(sinkDir(t)))
      for (const app of [t, beside, apart])
        expect(await auditStatusOf(app)).toMatchObject({
          secondSink: { upTo: before + 1, isCurrent: true },
          problem: '',
        })
    } finally {
      await Promise.all([beside.close(), apart.close()])
    }
  })
})
