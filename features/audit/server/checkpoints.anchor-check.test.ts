// Invariant: A trail that was changed, or rebuilt with its checkpoints and their folder, gets no more checkpoints,
//   because the anchor beside the key file contradicts it.

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signCheckpoint } from '@portcullis/domain'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import {
  actionsOf,
  auditStatusOf,
  change,
  minute,
  sinkDir,
  sinkText,
  tamper,
  turn,
  withApp,
} from '@portcullis/server/test/trail.ts'
import { describe, expect, it } from 'vitest'

describe('a server with a changed trail', () => {
  const fresh = async (): Promise<TestApp> => {
    const app = await startTestApp()
    for (const name of ['a', 'b', 'c']) {
      await change(app, name)
      await turn(app, minute)
    }
    await change(app, 'd')
    return app
  }
  const cases: [string, string, RegExp][] = [
    [
      'a new record',
      `update audit_records set record = replace(record, '"d"', '"x"') where audit_id = N`,
      /^Record N of/,
    ],
    ['a column', `update audit_records set severity = 7 where audit_id = N`, /^Record N of the audit trail/],
    ['a deleted record', 'delete from audit_records where audit_id = N', /^Record N of the audit trail/],
    [
      'the last checkpoint',
      'delete from audit_checkpoints where number = 3',
      /has checkpoint 3, but the database does not/,
    ],
    [
      'all of them',
      'truncate audit_checkpoints; truncate audit_records',
      /has checkpoint 3, but the database does not. The database was truncated/,
    ],
    [
      'a checkpoint',
      `update audit_checkpoints set line = replace(line, '"number":3', '"number":3 ') where number = 3`,
      /differs from that of the second sink/,
    ],
    [
      'an added checkpoint',
      `insert into audit_checkpoints select 4, audit_id + 1, replace(line, '"number":3', '"number":4') from audit_checkpoints where number = 3`,
      /^Checkpoint 4 of the database does not follow/,
    ],
  ]
  it.each(cases)('stops signing after a change: %s', async (_, statement, expected) => {
    const app = await fresh()
    try {
      const newest = (await auditStatusOf(app)).newestAuditTrailID
      // One more record, so that the deleted one leaves a gap.
      await change(app, 'e')
      const before = sinkText(sinkDir(app))
      await tamper(app, statement.replaceAll('N', String(newest)))
      await turn(app, minute)
      const { status: worst, description } = await app.server.checkpoints.health()
      expect(worst).toBe('Error')
      expect(description).toMatch(new RegExp(expected.source.replace('N', String(newest))))
      expect(sinkText(sinkDir(app))).toBe(before)
    } finally {
      await app.close()
    }
  })

  it('continues with a new directory and anchor after an intended restore', async () => {
    const app = await fresh()
    try {
      await tamper(app, 'delete from audit_checkpoints where number = 3')
      await turn(app, minute)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'Error' })
      renameSync(sinkDir(app), `${sinkDir(app)}.before`)
      await turn(app, 0)
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: expect.stringContaining('The database does not contain checkpoint 3 of the anchor'),
      })
      expect(await app.server.checkpoints.reanchor()).toMatchObject({ number: 2 })
      await turn(app, 0)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
      expect(sinkText(sinkDir(app)).trimEnd().split('\n')).toHaveLength(3)
      expect(await actionsOf(app)).toContain('audit_anchor.set')
    } finally {
      await app.close()
    }
  })

  it('accepts checkpoints of a former key file whose public key is stored next to its own, and records the new key', async () => {
    const first = await fresh()
    const keyDir = `${first.keyDir}-new`
    mkdirSync(keyDir)
    const second = await startTestApp({ database: first.database, keyDir, clock: first.clock })
    try {
      await turn(second, minute)
      expect(await second.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: 'Checkpoint 1 of the database was not signed by a key of this server.',
      })
      writeFileSync(join(sinkDir(second), 'former.pem'), (await auditStatusOf(first)).publicKey)
      await turn(second, 0)
      expect(await second.server.checkpoints.health(), 'the key in the sink is not trusted').toMatchObject({
        status: 'Error',
      })
      writeFileSync(join(keyDir, 'key.former.pem'), (await auditStatusOf(first)).publicKey)
      await turn(second, 0)
      expect(await second.server.checkpoints.health()).toMatchObject({ status: 'OK' })
      const { lastCheckpoint, keyId } = await auditStatusOf(second)
      expect(lastCheckpoint).toMatchObject({ number: 4, keyId })
      const { data } = (await (await second.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=5')).json()
      expect(data).toContainEqual(expect.objectContaining({ action: 'audit_key.changed', entity: keyId }))
    } finally {
      await second.close()
      await first.close()
      rmSync(keyDir, { recursive: true })
    }
  })
})

describe('a server with late checkpoints', () => {
  /** Holds the signing lock, as any session of the database can. */
  const whileLocked = (app: TestApp, work: () => Promise<void>): Promise<void> =>
    app.db.withClient(async (client) => {
      await client.query('select pg_advisory_lock(7205774)')
      await work().finally(() => client.query('select pg_advisory_unlock(7205774)'))
    })

  it('reports it by its own clock, and that another process holds the lock', () =>
    withApp(async (app) => {
      await change(app, 'covered')
      await turn(app, 0)
      await change(app, 'waits')
      await whileLocked(app, async () => {
        for (let i = 0; i < 7; i++) await turn(app, minute)
        expect(await app.server.checkpoints.health()).toMatchObject({
          status: 'Warning',
          description: expect.stringMatching(
            /records? have waited \d minutes for a checkpoint because another process holds the signing lock\.$/,
          ),
        })
      })
      await turn(app, 0)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    }))

  it('detects changes while another process holds the lock', () =>
    withApp(async (app) => {
      await change(app, 'a')
      await turn(app, 0)
      await change(app, 'b')
      const { newestAuditTrailID } = await auditStatusOf(app)
      await whileLocked(app, async () => {
        await tamper(
          app,
          `update audit_records set record = replace(record, '"b"', '"x"') where audit_id = ${newestAuditTrailID}`,
        )
        await turn(app, minute)
        expect(await app.server.checkpoints.health()).toMatchObject({
          status: 'Error',
          description: `Record ${newestAuditTrailID} of the audit trail was altered or removed.`,
        })
      })
    }))

  it('notices a checkpoint that the database silently dropped', () =>
    withApp(async (app) => {
      await change(app, 'a')
      await tamper(
        app,
        `create function swallow() returns trigger language plpgsql as 'begin return null; end';
         create trigger swallow before insert on audit_checkpoints for each row execute function swallow()`,
      )
      await turn(app, 0)
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: 'The database did not store checkpoint 1.',
      })
    }))
})

describe('a server without its second sink', () => {
  const takeAway = (app: TestApp): void => {
    rmSync(sinkDir(app), { recursive: true, force: true })
    writeFileSync(sinkDir(app), 'no folder')
  }

  it('signs nothing after a checkpoint that it did not sign', () =>
    withApp(async (app) => {
      await change(app, 'a')
      await turn(app, 0)
      takeAway(app)
      const { privateKey } = generateKeyPairSync('ed25519')
      const { lastCheckpoint } = await auditStatusOf(app)
      const { number, auditTrailID, hash, time } = lastCheckpoint ?? expect.fail('no checkpoint')
      const previous = '0'.repeat(64)
      const forged = signCheckpoint(
        { number: number + 1, auditTrailID: auditTrailID + 1, hash, time, previous },
        privateKey,
      )
      await tamper(app, `insert into audit_checkpoints values (${number + 1}, ${auditTrailID + 1}, '${forged}')`)
      await change(app, 'b')
      await turn(app, minute)
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: 'Checkpoint 2 of the database was not signed by a key of this server.',
      })
    }))

  it('signs no first checkpoint until the sink is readable', () =>
    withApp(async (app) => {
      await change(app, 'a')
      takeAway(app)
      await turn(app, 0)
      expect(await auditStatusOf(app)).toMatchObject({ lastCheckpoint: null })
      rmSync(sinkDir(app))
      await turn(app, 0)
      expect(await auditStatusOf(app)).toMatchObject({ lastCheckpoint: { number: 1 } })
    }))

  it('does not create a configured directory', async () => {
    const auditDir = join(tmpdir(), `portcullis-not-mounted-${randomUUID()}`)
    const app = await startTestApp({ auditDir })
    try {
      await change(app, 'a')
      await turn(app, 0)
      expect(existsSync(auditDir)).toBe(false)
      expect(await app.server.checkpoints.health()).toEqual({
        status: 'Warning',
        description: 'The second sink cannot be used (ENOENT).',
      })
    } finally {
      await app.close()
    }
  })
})

describe('the anchor next to the key file', () => {
  const rebuildTrail = `do $$ declare r record; h bytea := decode(repeat('00', 32), 'hex'); begin
    for r in select audit_id, replace(record, '"a"', '"x"') as text from audit_records order by 1 loop
      h := sha256(h || convert_to(r.audit_id::text || chr(10) || r.text, 'UTF8'));
      update audit_records set record = r.text, hash = h where audit_id = r.audit_id;
    end loop;
    update ordered_head set hash = h where stream = 'audit';
  end $$; truncate audit_checkpoints`

  it('keeps the server from signing a rebuilt trail with its checkpoints and their directory', () =>
    withApp(async (app) => {
      await change(app, 'a')
      await turn(app, 0)
      await change(app, 'b')
      await turn(app, minute)
      const keys = { keyDir: app.keyDir, database: app.database, clock: app.clock }
      await tamper(app, rebuildTrail)
      rmSync(sinkDir(app), { recursive: true })
      await turn(app, minute)
      const again = await startTestApp(keys)
      await turn(again, minute)
      for (const one of [app, again]) {
        expect(await one.server.checkpoints.health()).toMatchObject({
          status: 'Error',
          description: expect.stringContaining('The database does not contain checkpoint 2 of the anchor'),
        })
        expect(await auditStatusOf(one)).toMatchObject({ lastCheckpoint: null })
      }
      await again.close()
      expect(existsSync(sinkDir(app)) ? sinkText(sinkDir(app)) : '').toBe('')
    }))

  it('is required if old records have no checkpoint, except right after an upgrade', () =>
    withApp(async (app) => {
      await change(app, 'a')
      app.clock.advance(11 * minute)
      const keyDir = `${app.keyDir}-other`
      mkdirSync(keyDir)
      const applied = (when: string) =>
        tamper(app, `update schema_migrations set applied_at = now() - interval '${when}' where version = 92`)
      await applied('11 minutes')
      const other = await startTestApp({ keyDir, database: app.database, clock: app.clock })
      try {
        await turn(other, 0)
        expect(await other.server.checkpoints.health()).toMatchObject({
          status: 'Error',
          description: expect.stringMatching(
            /^\d+ records have no checkpoint, and the anchor of this server is missing/,
          ),
        })
        await applied('9 minutes')
        await turn(other, 0)
        expect(await other.server.checkpoints.health()).toMatchObject({ status: 'OK' })
        expect(await actionsOf(other)).toContain('audit_checkpoints.begun')
      } finally {
        await other.close()
        rmSync(keyDir, { recursive: true })
      }
    }))

  it('is valid only if this key file wrote it', () =>
    withApp(async (app) => {
      await change(app, 'a')
      await turn(app, 0)
      const file = join(app.keyDir, 'key.audit-anchor')
      const text = readFileSync(file, 'utf8')
      writeFileSync(file, text.replace('"number":1', '"number":0'))
      await turn(app, 0)
      expect(await app.server.checkpoints.health()).toEqual({
        status: 'Error',
        description: `The anchor ${file} was not written with this key file.`,
      })
      writeFileSync(file, text)
      await turn(app, 0)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    }))

  it.each(['key.audit-anchor', 'key.former.pem'])(
    '%s that is temporarily unreadable is a warning, not a changed trail',
    (name) =>
      withApp(async (app) => {
        await change(app, 'a')
        await turn(app, 0)
        const file = join(app.keyDir, name)
        const kept = `${file}.kept`
        if (existsSync(file)) renameSync(file, kept)
        // The kernel answers EIO to every reader.
        symlinkSync('/proc/self/mem', file)
        await change(app, 'b')
        await turn(app, minute)
        expect(await app.server.checkpoints.health()).toEqual({
          status: 'Warning',
          description: expect.stringMatching(/ is temporarily unreadable \(EIO\)\.$/),
        })
        expect(await auditStatusOf(app)).toMatchObject({ lastCheckpoint: { number: 1 } })
        rmSync(file)
        if (existsSync(kept)) renameSync(kept, file)
        await turn(app, 0)
        expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
        expect(await auditStatusOf(app)).toMatchObject({ lastCheckpoint: { number: 2 }, problem: '' })
      }),
  )

  it('causes a warning if it cannot be written, and the server keeps signing', () =>
    withApp(async (app) => {
      await change(app, 'a')
      await turn(app, 0)
      // A directory in place of the draft, because file modes do not stop tests that run as root.
      const draft = join(app.keyDir, `key.audit-anchor.${process.pid}.new`)
      mkdirSync(draft)
      await change(app, 'b')
      await turn(app, minute)
      expect(await auditStatusOf(app)).toMatchObject({ lastCheckpoint: { number: 2 } })
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Warning',
        description: expect.stringMatching(/^The anchor .* cannot be written \(EISDIR\)\.$/),
      })
      rmSync(draft, { recursive: true })
      await turn(app, 0)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    }))
})
