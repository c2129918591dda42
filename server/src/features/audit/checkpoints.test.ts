import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditStatus } from '@portcullis/contract'
import { checkpointKeyId, parseCheckpoint, signCheckpoint, type TrailVerdict, verifyTrail } from '@portcullis/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#platform/db/sql.ts'
import { loadKeys } from '#platform/keys.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { type Person, person } from '#test/people.ts'

let t: TestApp
let manager: Person
let user: Person
const dir = (app: TestApp = t): string => join(app.keyDir, 'audit-checkpoints')
const minute = 60_000

beforeAll(async () => {
  t = await startTestApp()
  manager = await person(t, { profile: 20 })
  user = await person(t)
})
afterAll(() => t.close())

const change = async (name: string, app: TestApp = t): Promise<void> => {
  const { statusCode } = await (await app.admin()).post('/prime/webui/agents/enrollmenttokens', { name })
  expect(statusCode).toBe(200)
}
const turn = async (ms: number, app: TestApp = t): Promise<void> => {
  app.clock.advance(ms)
  await app.server.checkpoints.run()
}
const status = async (app: TestApp = t): Promise<AuditStatus> =>
  (await (await app.admin()).get('/prime/webui/admin/audit')).json()
const get = async (what: string): Promise<Buffer> => {
  const answer = await (await t.admin()).get(`/prime/webui/admin/audit/${what}`)
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
  return answer.rawPayload
}
const files = (at: string): string[] =>
  readdirSync(at)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
const sinkText = (at = dir()): string =>
  files(at)
    .map((name) => readFileSync(join(at, name), 'utf8'))
    .join('')
const verify = async (): Promise<TrailVerdict> => {
  const key = createPublicKey((await status()).publicKey)
  const keys = new Map([[checkpointKeyId(key), key]])
  return verifyTrail([await get('trail')], { bytes: [Buffer.from(sinkText())], keys })
}
/** As who holds the role of the database does. */
const tamper = (statement: string, app: TestApp = t): Promise<unknown> =>
  app.db.withClient(async (client) => {
    for (const how of ['disable', 'enable'])
      await client.query(
        `${how === 'enable' ? `${statement};` : ''} alter table audit_records ${how} trigger user; alter table audit_checkpoints ${how} trigger user`,
      )
  })

describe('checkpoints', () => {
  it('come after a minute when there are new records, and lie in the database and outside of it', async () => {
    await change('ünï\u2028"\\')
    await turn(0)
    expect(await status()).toMatchObject({ lastCheckpoint: { number: 1 }, uncovered: 0, problem: '' })
    await change('soon')
    await turn(minute - 1)
    expect((await status()).lastCheckpoint?.number).toBe(1)
    await turn(1)
    expect(await status()).toMatchObject({
      lastCheckpoint: { number: 2, time: new Date(t.clock.now()).toISOString() },
      uncovered: 0,
      secondSink: { upTo: 2, isCurrent: true },
    })
    await turn(10 * minute)
    expect((await status()).lastCheckpoint?.number, 'nothing new').toBe(2)
    expect((await get('checkpoints')).toString()).toBe(sinkText())
    expect(await verify()).toMatchObject({ ok: true, checkpoints: 2, uncovered: 0 })
  })

  it('come with every 1,000 records, whatever the time', async () => {
    const { newestAuditTrailID } = await status()
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
    const before = (await status()).lastCheckpoint
    await turn(0)
    const lines = sinkText().trimEnd().split('\n')
    expect(lines.slice(2).map((line) => parseCheckpoint(line)?.auditTrailID)).toEqual([
      (before?.auditTrailID ?? 0) + 1000,
      (before?.auditTrailID ?? 0) + 2000,
    ])
    await turn(minute)
    expect(await verify()).toMatchObject({ ok: true, checkpoints: 5, uncovered: 0 })
  })

  it('can not be changed or removed by the server', async () => {
    for (const statement of [
      sql`update audit_checkpoints set line = '' where number = 1`,
      sql`delete from audit_checkpoints where number = 1`,
      sql`truncate audit_checkpoints`,
    ])
      await expect(t.server.db.execute(statement)).rejects.toThrow(/append-only/)
  })

  it('are read by Managers and above', async () => {
    for (const path of ['', '/trail', '/checkpoints']) {
      const url = `/prime/webui/admin/audit${path}`
      expect((await manager.api.get(url)).statusCode).toBe(200)
      expect((await user.api.get(url)).statusCode).toBe(403)
      expect((await t.as(undefined).get(url)).statusCode).toBe(401)
    }
  })

  it('are signed by a key of the key file that nothing else uses, and whose public half lies beside them', async () => {
    const keys = loadKeys(join(t.keyDir, 'key'))
    const { keyId, publicKey, lastCheckpoint } = await status()
    expect(checkpointKeyId(keys.audit.publicKey)).toBe(keyId)
    expect(lastCheckpoint?.keyId).toBe(keyId)
    expect(readFileSync(join(dir(), `${keyId}.pem`), 'utf8')).toBe(publicKey)
    expect(keys.audit.publicKey.export({ type: 'spki', format: 'der' })).not.toEqual(keys.command.publicKeyDer)
  })
})

describe('the second sink', () => {
  it('that can not be written is a warning, and gets all it missed', async () => {
    const before = (await status()).lastCheckpoint?.number ?? 0
    const away = `${dir()}.away`
    renameSync(dir(), away)
    writeFileSync(dir(), 'no folder')
    await change('while it is away')
    await turn(minute)
    await change('and more')
    await turn(minute)
    expect(await t.server.checkpoints.health()).toMatchObject({
      status: 'Warning',
      description: expect.stringMatching(/^The second sink can not be used \(E/),
    })
    expect(await status()).toMatchObject({
      secondSink: { upTo: before, isCurrent: false },
      lastCheckpoint: { number: before + 2 },
    })
    rmSync(dir())
    renameSync(away, dir())
    await turn(0)
    expect(await status()).toMatchObject({ secondSink: { isCurrent: true }, problem: '' })
    expect(await t.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    expect((await get('checkpoints')).toString()).toBe(sinkText())
  })

  it('ends what a crash broke off, without taking anything back', async () => {
    await change('before the crash')
    const name = join(dir(), files(dir()).at(-1) as string)
    const before = readFileSync(name)
    await turn(minute)
    const after = readFileSync(name)
    for (const cut of [before.length + 1, after.length - 1]) {
      writeFileSync(name, after.subarray(0, cut))
      await turn(0)
      expect(readFileSync(name).equals(after), `cut at ${cut}`).toBe(true)
    }
  })

  it('begins a file with each month, and none before the one it has', async () => {
    const other = await startTestApp()
    try {
      await change('in May', other)
      await turn(0, other)
      await change('in June', other)
      await turn(30 * 24 * 60 * minute, other)
      await change('with a clock put back', other)
      await turn(-29 * 24 * 60 * minute, other)
      expect(files(dir(other))).toEqual(['2031-05.jsonl', '2031-06.jsonl'])
      const numbers = sinkText(dir(other))
        .trimEnd()
        .split('\n')
        .map((line) => parseCheckpoint(line)?.number)
      expect(numbers).toEqual([1, 2, 3])
      expect(await other.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    } finally {
      await other.close()
    }
  })

  it('of each replica has all, with one that signs', async () => {
    const own = join(t.keyDir, 'other-sink')
    mkdirSync(own)
    const [beside, apart] = await Promise.all([
      startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock }),
      startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, auditDir: own }),
    ])
    try {
      const before = (await status()).lastCheckpoint?.number ?? 0
      await change('for all')
      t.clock.advance(minute)
      await Promise.all([t, beside, apart].map((app) => app.server.checkpoints.run()))
      // Who came too late for the lock has its turn two seconds later.
      for (const app of [t, beside, apart]) await app.server.checkpoints.run()
      expect((await status()).lastCheckpoint?.number).toBe(before + 1)
      expect(sinkText(own)).toBe(sinkText())
      for (const app of [t, beside, apart])
        expect(await status(app)).toMatchObject({ secondSink: { upTo: before + 1, isCurrent: true }, problem: '' })
    } finally {
      await Promise.all([beside.close(), apart.close()])
    }
  })
})

describe('a server whose trail was changed', () => {
  const fresh = async (): Promise<TestApp> => {
    const app = await startTestApp()
    for (const name of ['a', 'b', 'c']) {
      await change(name, app)
      await turn(minute, app)
    }
    await change('d', app)
    return app
  }
  const cases: [string, string, RegExp][] = [
    [
      'a new record',
      `update audit_records set record = replace(record, '"d"', '"x"') where audit_id = N`,
      /^Record N of/,
    ],
    ['a column', `update audit_records set severity = 7 where audit_id = N`, /^Record N of the trail/],
    ['a record that is gone', 'delete from audit_records where audit_id = N', /^Record N of the trail/],
    ['the last checkpoint', 'delete from audit_checkpoints where number = 3', /has checkpoint 3, the database has not/],
    [
      'all of them',
      'truncate audit_checkpoints; truncate audit_records',
      /has checkpoint 3, the database has not: it was cut off/,
    ],
    [
      'a checkpoint',
      `update audit_checkpoints set line = replace(line, '"number":3', '"number":3 ') where number = 3`,
      /is not the one of the second sink/,
    ],
    [
      'one that was added',
      `insert into audit_checkpoints select 4, audit_id + 1, replace(line, '"number":3', '"number":4') from audit_checkpoints where number = 3`,
      /^Checkpoint 4 of the database does not follow/,
    ],
  ]
  it.each(cases)('signs nothing more: %s', async (_, statement, expected) => {
    const app = await fresh()
    try {
      const newest = (await status(app)).newestAuditTrailID
      // A record more, so that the one that is gone leaves a gap.
      await change('e', app)
      const before = sinkText(dir(app))
      await tamper(statement.replaceAll('N', String(newest)), app)
      await turn(minute, app)
      const { status: worst, description } = await app.server.checkpoints.health()
      expect(worst).toBe('Error')
      expect(description).toMatch(new RegExp(expected.source.replace('N', String(newest))))
      expect(sinkText(dir(app))).toBe(before)
    } finally {
      await app.close()
    }
  })

  it('goes on with a new folder and anchor, when the database was restored on purpose', async () => {
    const app = await fresh()
    try {
      await tamper('delete from audit_checkpoints where number = 3', app)
      await turn(minute, app)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'Error' })
      renameSync(dir(app), `${dir(app)}.before`)
      await turn(0, app)
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: expect.stringContaining('The anchor knows checkpoint 3, the database has it not'),
      })
      expect(await app.server.checkpoints.reanchor()).toMatchObject({ number: 2 })
      await turn(0, app)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
      expect(sinkText(dir(app)).trimEnd().split('\n')).toHaveLength(3)
      expect(await actions(app)).toContain('audit_anchor.set')
    } finally {
      await app.close()
    }
  })

  it('takes the checkpoints of another key file when its public key lies beside its own, and says that the key changed', async () => {
    const first = await fresh()
    const keyDir = `${first.keyDir}-new`
    mkdirSync(keyDir)
    const second = await startTestApp({ database: first.database, keyDir, clock: first.clock })
    try {
      await turn(minute, second)
      expect(await second.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: 'Checkpoint 1 of the database was not signed by a key of this server.',
      })
      writeFileSync(join(dir(second), 'former.pem'), (await status(first)).publicKey)
      await turn(0, second)
      expect(await second.server.checkpoints.health(), 'by what lies in the sink').toMatchObject({ status: 'Error' })
      writeFileSync(join(keyDir, 'key.former.pem'), (await status(first)).publicKey)
      await turn(0, second)
      expect(await second.server.checkpoints.health()).toMatchObject({ status: 'OK' })
      const { lastCheckpoint, keyId } = await status(second)
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

const actions = async (app: TestApp): Promise<string[]> =>
  (await (await app.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=50'))
    .json()
    .data.map(({ action }: { action: string }) => action)

const withApp = async (work: (app: TestApp) => Promise<void>): Promise<void> => {
  const app = await startTestApp()
  try {
    await work(app)
  } finally {
    await app.close()
  }
}

describe('a server whose checkpoints are late', () => {
  /** Holds the lock of signing, as anybody with a session of the database can. */
  const whileLocked = (app: TestApp, work: () => Promise<void>): Promise<void> =>
    app.db.withClient(async (client) => {
      await client.query('select pg_advisory_lock(7205774)')
      await work().finally(() => client.query('select pg_advisory_unlock(7205774)'))
    })

  it('says so by its own clock, and that another has the lock', () =>
    withApp(async (app) => {
      await change('covered', app)
      await turn(0, app)
      await change('waits', app)
      await whileLocked(app, async () => {
        for (let i = 0; i < 7; i++) await turn(minute, app)
        expect(await app.server.checkpoints.health()).toMatchObject({
          status: 'Warning',
          description: expect.stringMatching(
            /records? wait for a checkpoint, for \d minutes; another process has the lock of signing\.$/,
          ),
        })
      })
      await turn(0, app)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    }))

  it('sees what was changed while another has the lock', () =>
    withApp(async (app) => {
      await change('a', app)
      await turn(0, app)
      await change('b', app)
      const { newestAuditTrailID } = await status(app)
      await whileLocked(app, async () => {
        await tamper(
          `update audit_records set record = replace(record, '"b"', '"x"') where audit_id = ${newestAuditTrailID}`,
          app,
        )
        await turn(minute, app)
        expect(await app.server.checkpoints.health()).toMatchObject({
          status: 'Error',
          description: `Record ${newestAuditTrailID} of the trail is not as it was written.`,
        })
      })
    }))

  it('does not take a checkpoint for made that the database swallowed', () =>
    withApp(async (app) => {
      await change('a', app)
      await tamper(
        `create function swallow() returns trigger language plpgsql as 'begin return null; end';
         create trigger swallow before insert on audit_checkpoints for each row execute function swallow()`,
        app,
      )
      await turn(0, app)
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: 'The database did not take checkpoint 1.',
      })
    }))
})

describe('a server whose second sink is away', () => {
  const takeAway = (app: TestApp): void => {
    rmSync(dir(app), { recursive: true, force: true })
    writeFileSync(dir(app), 'no folder')
  }

  it('signs behind no checkpoint that it did not sign', () =>
    withApp(async (app) => {
      await change('a', app)
      await turn(0, app)
      takeAway(app)
      const { privateKey } = generateKeyPairSync('ed25519')
      const { lastCheckpoint } = await status(app)
      const { number, auditTrailID, hash, time } = lastCheckpoint ?? expect.fail('no checkpoint')
      const previous = '0'.repeat(64)
      const forged = signCheckpoint(
        { number: number + 1, auditTrailID: auditTrailID + 1, hash, time, previous },
        privateKey,
      )
      await tamper(`insert into audit_checkpoints values (${number + 1}, ${auditTrailID + 1}, '${forged}')`, app)
      await change('b', app)
      await turn(minute, app)
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Error',
        description: 'Checkpoint 2 of the database was not signed by a key of this server.',
      })
    }))

  it('signs no first checkpoint until it can be read', () =>
    withApp(async (app) => {
      await change('a', app)
      takeAway(app)
      await turn(0, app)
      expect(await status(app)).toMatchObject({ lastCheckpoint: null })
      rmSync(dir(app))
      await turn(0, app)
      expect(await status(app)).toMatchObject({ lastCheckpoint: { number: 1 } })
    }))

  it('does not make a folder that was named', async () => {
    const auditDir = join(t.keyDir, 'not-mounted')
    const app = await startTestApp({ auditDir })
    try {
      await change('a', app)
      await turn(0, app)
      expect(existsSync(auditDir)).toBe(false)
      expect(await app.server.checkpoints.health()).toEqual({
        status: 'Warning',
        description: 'The second sink can not be used (ENOENT).',
      })
    } finally {
      await app.close()
    }
  })
})

describe('the anchor beside the key file', () => {
  const makeAnew = `do $$ declare r record; h bytea := decode(repeat('00', 32), 'hex'); begin
    for r in select audit_id, replace(record, '"a"', '"x"') as text from audit_records order by 1 loop
      h := sha256(h || convert_to(r.audit_id::text || chr(10) || r.text, 'UTF8'));
      update audit_records set record = r.text, hash = h where audit_id = r.audit_id;
    end loop;
    update ordered_head set hash = h where stream = 'audit';
  end $$; truncate audit_checkpoints`

  it('keeps the server from signing a trail that was made anew as a whole, with its checkpoints and their folder', () =>
    withApp(async (app) => {
      await change('a', app)
      await turn(0, app)
      await change('b', app)
      await turn(minute, app)
      const keys = { keyDir: app.keyDir, database: app.database, clock: app.clock }
      await tamper(makeAnew, app)
      rmSync(dir(app), { recursive: true })
      await turn(minute, app)
      const again = await startTestApp(keys)
      await turn(minute, again)
      for (const one of [app, again]) {
        expect(await one.server.checkpoints.health()).toMatchObject({
          status: 'Error',
          description: expect.stringContaining('The anchor knows checkpoint 2, the database has it not'),
        })
        expect(await status(one)).toMatchObject({ lastCheckpoint: null })
      }
      await again.close()
      expect(existsSync(dir(app)) ? sinkText(dir(app)) : '').toBe('')
    }))

  it('is missed by a server that finds old records without a checkpoint, but for one that was upgraded just now', () =>
    withApp(async (app) => {
      await change('a', app)
      app.clock.advance(11 * minute)
      const keyDir = `${app.keyDir}-other`
      mkdirSync(keyDir)
      const applied = (when: string) =>
        tamper(`update schema_migrations set applied_at = now() - interval '${when}' where version = 92`, app)
      await applied('11 minutes')
      const other = await startTestApp({ keyDir, database: app.database, clock: app.clock })
      try {
        await turn(0, other)
        expect(await other.server.checkpoints.health()).toMatchObject({
          status: 'Error',
          description: expect.stringMatching(/^\d+ records have no checkpoint, and this server no anchor/),
        })
        await applied('9 minutes')
        await turn(0, other)
        expect(await other.server.checkpoints.health()).toMatchObject({ status: 'OK' })
        expect(await actions(other)).toContain('audit_checkpoints.begun')
      } finally {
        await other.close()
        rmSync(keyDir, { recursive: true })
      }
    }))

  it('counts only as this key file wrote it', () =>
    withApp(async (app) => {
      await change('a', app)
      await turn(0, app)
      const file = join(app.keyDir, 'key.audit-anchor')
      const text = readFileSync(file, 'utf8')
      writeFileSync(file, text.replace('"number":1', '"number":0'))
      await turn(0, app)
      expect(await app.server.checkpoints.health()).toEqual({
        status: 'Error',
        description: `The anchor ${file} was not written with this key file.`,
      })
      writeFileSync(file, text)
      await turn(0, app)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    }))

  it('that can not be written is a warning, and the server signs on', () =>
    withApp(async (app) => {
      await change('a', app)
      await turn(0, app)
      // A folder in the place of the draft: the tests may run as root, whom no mode keeps out.
      const draft = join(app.keyDir, `key.audit-anchor.${process.pid}.new`)
      mkdirSync(draft)
      await change('b', app)
      await turn(minute, app)
      expect(await status(app)).toMatchObject({ lastCheckpoint: { number: 2 } })
      expect(await app.server.checkpoints.health()).toMatchObject({
        status: 'Warning',
        description: expect.stringMatching(/^The anchor .* can not be written \(EISDIR\)\.$/),
      })
      rmSync(draft, { recursive: true })
      await turn(0, app)
      expect(await app.server.checkpoints.health()).toMatchObject({ status: 'OK' })
    }))
})
