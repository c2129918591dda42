// Invariant: Every change in a trail that checkpoints cover is found and named: 1,000 of 1,000.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TrailVerdict, verifyTrail } from '@portcullis/domain'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { type AuditFiles, tryMutations } from '@portcullis/server/test/audit-mutations.ts'
import { codeCache } from '@portcullis/server/test/code-cache.ts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { auditWriter } from './audit.service.ts'

const entry = new URL('../../../server/src/entry/verify-audit.ts', import.meta.url).pathname
const dir = mkdtempSync(join(tmpdir(), 'portcullis-verify-'))
const at = (name: string): string => join(dir, name)
let t: TestApp
let files: AuditFiles

/** Hostile texts of devices, hosts and people. The export must return each one exactly as it was hashed. */
const hostileTexts = [
  'plain',
  'ä€𝄞',
  '"\\',
  'a\nb\r\tc',
  '\u0000\u001f\u007f',
  '\u2028\u202e',
  '=1+1',
  '<b>',
  '\ud800 half',
  ' ',
]

beforeAll(async () => {
  t = await startTestApp()
  const audit = auditWriter(t.clock)
  for (let i = 0; i < 260; i++) {
    const entity = `${hostileTexts[i % hostileTexts.length]} ${i}`
    const details = (hostileTexts[(i * 7) % hostileTexts.length] as string).repeat(i % 9)
    await t.db.transaction((tx) =>
      audit.write(tx, systemActor('system'), { action: 'config.tested', entity, details, severity: i % 8 }),
    )
    if (i % 20 !== 19) continue
    t.clock.advance(60_000)
    await t.server.checkpoints.run()
  }
  const admin = await t.admin()
  const get = async (what: string): Promise<Buffer> => (await admin.get(`/prime/webui/admin/audit${what}`)).rawPayload
  const status = JSON.parse((await get('')).toString())
  const sink = join(t.keyDir, 'audit-checkpoints')
  const months = readdirSync(sink).filter((name) => name.endsWith('.jsonl'))
  files = {
    trail: await get('/trail'),
    checkpoints: Buffer.concat(months.sort().map((name) => readFileSync(join(sink, name)))),
    keys: [createPublicKey(status.publicKey)],
  }
  writeFileSync(at('trail'), files.trail)
  writeFileSync(at('checkpoints'), files.checkpoints)
  writeFileSync(at('key'), status.publicKey)
})
afterAll(async () => {
  await t.close()
  rmSync(dir, { recursive: true })
})

describe('an exported trail', () => {
  it('detects 1,000 kinds of changes, with the first changed record', async () => {
    const report = await tryMutations(files, { count: 1_000, seed: 20_310_504 })
    expect(report.failures).toEqual([])
    expect([report.tried, report.detected, report.named]).toEqual([1_000, 1_000, 1_000])
    expect(Math.min(...Object.values(report.byKind))).toBeGreaterThan(35)
  })

  it.each([
    'edited',
    'hash',
    'columns',
    'missing',
    'inserted',
    'reordered',
    'renumbered',
    'unreadable',
    'cut-off',
    'rewritten',
  ])('fails the tests with a verifier that misses "%s"', async (fault) => {
    const verify: typeof verifyTrail = async (...given) => {
      const verdict = await verifyTrail(...given)
      return verdict.brokenRecord?.fault === fault ? { ...verdict, ok: true } : verdict
    }
    const report = await tryMutations(files, { count: 48, seed: 2, verify })
    expect(report.detected).toBeLessThan(48)
    expect(report.failures.join('\n')).toContain('not found')
  })

  it.each(['unreadable', 'edited', 'forged', 'missing', 'repeated'])(
    'fails the tests with a verifier that misses checkpoints that are "%s"',
    async (fault) => {
      const verify: typeof verifyTrail = async (...given) => {
        const verdict = await verifyTrail(...given)
        return verdict.brokenCheckpoint?.fault === fault ? { ...verdict, ok: true } : verdict
      }
      expect((await tryMutations(files, { count: 48, seed: 3, verify })).detected).toBeLessThan(48)
    },
  )

  it('fails the tests with a verifier that names the next record', async () => {
    const verify: typeof verifyTrail = async (...given) => {
      const verdict = await verifyTrail(...given)
      const { brokenRecord: broken } = verdict
      if (broken === null) return verdict
      return { ...verdict, brokenRecord: { ...broken, record: broken.record + 1, since: broken.since + 1 } }
    }
    const report = await tryMutations(files, { count: 100, verify })
    expect([report.detected, report.named < 80]).toEqual([100, true])
  })
})

interface Outcome {
  code: number
  out: string
  error: string
}
const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const base = { ...codeCache, PATH: process.env.PATH ?? '', HOME: dir, PORTCULLIS_DATA_DIR: at('unused') }
    execFile(process.execPath, [entry, ...args], { env: { ...base, ...env } }, (error, out, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, error: stderr }),
    )
  })
/** Kills the child of a process as soon as it has one. */
const killChildOf = ({ pid }: ChildProcess): void => {
  const timer = setInterval(() => {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    if (!child) return
    clearInterval(timer)
    process.kill(Number(child), 'SIGKILL')
  }, 20)
}
const given = ['--checkpoints', at('checkpoints'), '--key', at('key')]

describe('verify-audit', () => {
  it('verifies files without a server or database, and reports what is not covered', async () => {
    const { code, out } = await run(['--file', at('trail'), ...given])
    const n = files.trail.toString().split('\n').length - 1
    expect([code, out.split('\n')[0]]).toEqual([0, `Records 1 to ${n} are chained.`])
    expect(out).toMatch(
      /13 genuine checkpoints agree; the newest is 13 of 2031-05-04T10:24:12\.000Z by key [0-9a-f]{16}/,
    )
    expect(out).toMatch(
      /Not covered: record \d+; these records could be rebuilt or removed without detection\.\nThe trail is intact\.\n$/,
    )
    const alone = await run(['--file', at('trail')])
    expect([alone.code, alone.out]).toEqual([2, expect.stringContaining('No checkpoints were given')])
    expect(alone.out).toMatch(/Not proven: no checkpoint covers a record\.\n$/)
  })

  it('names the first broken record and exits with 1', async () => {
    const lines = files.trail.toString().split('\n')
    writeFileSync(at('edited'), lines.with(99, (lines[99] as string).replace('config.tested', 'test.mode')).join('\n'))
    const { code, out } = await run(['--file', at('edited'), ...given, '--json'])
    expect([code, JSON.parse(out)]).toEqual([
      1,
      expect.objectContaining({ ok: false, brokenRecord: expect.objectContaining({ record: 100, fault: 'columns' }) }),
    ])
    writeFileSync(at('short'), `${lines.slice(0, 50).join('\n')}\n`)
    const short = await run(['--file', at('short'), ...given])
    expect([short.code, short.out]).toEqual([
      1,
      expect.stringContaining('BROKEN at record 51 (line 51): the trail ends'),
    ])
  })

  it('compares copies of the checkpoints', async () => {
    const lines = files.checkpoints.toString().split('\n')
    writeFileSync(at('other'), lines.with(4, lines[3] as string).join('\n'))
    const { code, out } = await run(['--file', at('trail'), ...given, '--checkpoints', at('other')])
    expect([code, out]).toEqual([1, expect.stringContaining('BROKEN checkpoint 5 (line 5): the copies differ.')])
    writeFileSync(at('fewer'), `${lines.slice(0, 3).join('\n')}\n`)
    const fewer = await run(['--file', at('trail'), '--checkpoints', at('fewer'), ...given])
    expect([fewer.code, fewer.out]).toEqual([0, expect.stringContaining('/fewer has 3 checkpoints of 13.')])
  })

  it('rejects input that proves nothing', async () => {
    mkdirSync(at('empty-folder'))
    writeFileSync(at('nothing'), '')
    const cases: [string[], string][] = [
      [
        ['--file', at('trail'), '--key', at('key'), '--checkpoints', at('empty-folder')],
        'empty-folder has no checkpoint',
      ],
      [['--file', at('trail'), '--key', at('key'), '--checkpoints', at('nothing')], 'nothing has no checkpoint'],
      [['--file', at('nothing')], 'the trail has no records, and nothing proves that it never had any'],
    ]
    for (const [args, why] of cases) {
      const { code, out } = await run(args)
      expect([code, out]).toEqual([2, expect.stringContaining(`${why}.`)])
      expect(out).not.toContain('The trail is intact')
    }
    const cut = await run(['--file', at('nothing'), ...given])
    expect([cut.code, cut.out]).toEqual([1, expect.stringContaining('BROKEN at record 1')])
  })

  it('exits with 2 for an unknown option and for a signal, also through the CLI', async () => {
    expect(await run(['--nope'])).toMatchObject({ code: 2, out: '' })
    const cli = new URL('../../../cli/src/main.ts', import.meta.url).pathname
    const env = { ...codeCache, PATH: process.env.PATH ?? '', HOME: dir, PORTCULLIS_DATA_DIR: at('unused') }
    const command = (args: readonly string[], stop: boolean): Promise<unknown> =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [cli, 'verify-audit', ...args], { env, stdio: 'ignore' })
        child.once('exit', resolve)
        if (stop) killChildOf(child)
      })
    expect(await command(['--nope'], false)).toBe(2)
    // A file without end keeps it reading until it is killed.
    expect(await command(['--file', '/dev/zero'], true)).toBe(2)
  })

  it.each([
    [[], 'Give --file with an exported trail, or --database.'],
    [['--file', '/nowhere'], 'The file /nowhere does not exist.'],
    [['--file', at('trail'), '--checkpoints', at('checkpoints')], 'Add --key.'],
    [['--file', at('trail'), '--key', at('trail')], 'contains no public key in PEM format'],
    [['--database'], 'does not exist. Use --key'],
  ])('exits with 2 if it cannot decide: %j', async (args, message) => {
    const { code, out, error } = await run(args)
    expect([code, out, error]).toEqual([2, '', expect.stringContaining(message)])
  })

  describe('from the database itself', () => {
    const ofDatabase = async (): Promise<{ code: number; verdict: TrailVerdict }> => {
      const { host, port, user } = inject('postgres')
      const url = new URL(`postgres://${user}@localhost:${port}/${t.database}`)
      url.searchParams.set('host', String(host))
      const { code, out, error } = await run(['--database', '--json'], {
        DATABASE_URL: url.href,
        PORTCULLIS_KEY_FILE: join(t.keyDir, 'key'),
        PORTCULLIS_AUDIT_DIR: join(t.keyDir, 'audit-checkpoints'),
      })
      if (out === '') throw new Error(error)
      return { code, verdict: JSON.parse(out) }
    }
    const tamper = (statement: string): Promise<unknown> =>
      t.db.withClient((client) =>
        client.query(
          `alter table audit_records disable trigger user; alter table audit_checkpoints disable trigger user; ${statement}`,
        ),
      )

    it('verifies the trail, and names changes of the database owner', async () => {
      expect(await ofDatabase()).toMatchObject({ code: 0, verdict: { ok: true, checkpoints: 13 } })
      const sink = join(t.keyDir, 'audit-checkpoints')
      renameSync(sink, `${sink}.away`)
      expect(await ofDatabase()).toMatchObject({
        code: 2,
        verdict: { ok: false, notProven: [`the checkpoint folder ${sink} does not exist`] },
      })
      renameSync(`${sink}.away`, sink)
      await tamper(`update audit_records set severity = 7 - severity where audit_id = 60`)
      expect(await ofDatabase()).toMatchObject({ code: 1, verdict: { brokenRecord: { record: 60, fault: 'columns' } } })
      await tamper(`update audit_records set created_at = created_at + interval '1 us' where audit_id = 59`)
      expect(await ofDatabase()).toMatchObject({ code: 1, verdict: { brokenRecord: { record: 59, fault: 'columns' } } })
      await tamper(`update audit_records set record = record || ' ' where audit_id = 50`)
      expect(await ofDatabase()).toMatchObject({ code: 1, verdict: { brokenRecord: { record: 50, fault: 'edited' } } })
      await tamper('delete from audit_records where audit_id between 40 and 45')
      expect(await ofDatabase()).toMatchObject({
        code: 1,
        verdict: { brokenRecord: { record: 40, to: 45, fault: 'missing' } },
      })
      await tamper('delete from audit_checkpoints where number > 11')
      expect(await ofDatabase()).toMatchObject({ verdict: { brokenCheckpoint: { checkpoint: 12, fault: 'missing' } } })
    })
  })
})
