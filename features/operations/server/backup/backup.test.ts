import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { storageStick } from '@portcullis/domain/testing'
import { assertNotHalfRestored, readArchive, restore } from '@portcullis/platform/server/backup/index.ts'
import { createDb } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { codeCache } from '@portcullis/server/test/code-cache.ts'
import { dropDatabase } from '@portcullis/server/test/database.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { makeLocalBackup } from './local-backup.ts'

const path = '/prime/webui/admin/backup'
const migrations = new URL('../../../../server/migrations', import.meta.url).pathname
const dir = mkdtempSync(join(tmpdir(), 'portcullis-backup-'))
const entry = new URL('../../../../server/src/entry/restore.ts', import.meta.url).pathname
const localEntry = new URL('../../../../server/src/entry/backup.ts', import.meta.url).pathname
let t: TestApp
const databases: string[] = []

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  const agent = await enrolAgent(t, {
    facts: { hostname: 'tab\there' },
    devices: [storageStick({ portPath: '1-1', product: 'back\\slash \\. and "quotes"' })],
  })
  expect(agent.agentId).toBeDefined()
  const admin = await t.admin()
  await admin.post('/prime/webui/generalconfig/AddOrUpdateSMPTConfig', {
    SMTP_HOST: 'mail.example.org',
    SMTP_FROM: 'p@example.org',
    SMTP_PASSWORD: 'the secret',
  })
  await admin.post('/prime/webui/generalconfig/addhashtags', {
    hashtags: ['lab'],
    elementIds: [agent.agentId],
    entityType: 'Agent',
  })
})
afterAll(async () => {
  const admin = createDb({
    connection: inject('postgres'),
    max: 1,
    name: 'drop',
    log: createLog('silent'),
    statementTimeoutMs: 0,
  })
  for (const name of databases) await dropDatabase(admin, name)
  await admin.close()
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

const make = async (body: unknown): Promise<Buffer> => {
  const answer = await (await t.admin()).post(path, body)
  expect(answer.statusCode, answer.body.slice(0, 200)).toBe(200)
  return answer.rawPayload
}
/** Makes a backup with the key file, as the server's command line does. */
const makeWithKeys = async (passphrase: string): Promise<Buffer> => {
  const [out, passphraseFile] = [join(dir, `${randomUUID()}.backup`), join(dir, 'passphrase')]
  writeFileSync(passphraseFile, passphrase)
  const { host, port, user } = inject('postgres')
  const url = new URL(`postgres://${user}@localhost:${port}/${t.database}`)
  url.searchParams.set('host', String(host))
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [localEntry, '--out', out, '--passphrase-file', passphraseFile, '--json'],
    {
      env: {
        ...codeCache,
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? dir,
        DATABASE_URL: url.href,
        PORTCULLIS_KEY_FILE: join(t.keyDir, 'key'),
      },
    },
  )
  const bytes = readFileSync(out)
  expect(JSON.parse(stdout)).toEqual({ file: out, bytes: bytes.length, hasKeys: true })
  expect(statSync(out).mode & 0o777).toBe(0o600)
  return bytes
}
async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
/** Restores a backup into an empty database. Tries another backup first, if given. */
const restored = async (bytes: Buffer, passphrase: Secret | null, before: Buffer | null = null) => {
  const name = `t_restored_${databases.length}_${process.pid}`
  databases.push(name)
  const connection = inject('postgres')
  const log = createLog('silent')
  const admin = createDb({ connection, max: 1, name: 'make', log, statementTimeoutMs: 0 })
  await admin.withClient((client) => client.query(`CREATE DATABASE ${name} TEMPLATE template0`))
  await admin.close()
  const db = createDb({
    connection: { ...connection, database: name },
    max: 2,
    name: 'restore',
    log,
    statementTimeoutMs: 0,
  })
  await db.withClient((client) => client.query('CREATE EXTENSION IF NOT EXISTS pg_trgm'))
  try {
    if (before !== null) {
      const isRestored = await restore(db, migrations, await readArchive(once(before), null)).catch(() => null)
      // A server refuses a database with an interrupted restore.
      if (isRestored === null) await expect(assertNotHalfRestored(db)).rejects.toThrow('was interrupted')
      else await assertNotHalfRestored(db)
    }
    return { name, loaded: await restore(db, migrations, await readArchive(once(bytes), passphrase)) }
  } finally {
    await db.close()
  }
}

describe('a backup', () => {
  it('restores an identical server, with its secrets, counters, events and trail', async () => {
    const bytes = await makeWithKeys('correct horse battery')
    expect(bytes.includes('mail.example.org')).toBe(false)
    await expect(restored(bytes, new Secret('wrong passphrase'))).rejects.toThrow(/passphrase is incorrect/)
    const { name, loaded } = await restored(bytes, new Secret('correct horse battery'))
    expect(loaded).toMatchObject({ keyFile: readFileSync(join(t.keyDir, 'key'), 'utf8') })
    writeFileSync(join(dir, 'key'), loaded.keyFile as string)
    const other = await startTestApp({ database: name, keyDir: dir, clock: t.clock, listen: true })
    try {
      const pages = async (app: TestApp) =>
        Promise.all(
          ['agents', 'peripherals', 'events/getevents', 'generalconfig/history'].map((list) =>
            pageOf<{ agentID?: string }>(app, list),
          ),
        )
      expect(await pages(other)).toEqual(await pages(t))
      const values = await other.server.settings.values(other.db, 'smtp')
      expect(values.secret('SMTP_PASSWORD')?.reveal()).toBe('the secret')
      const tags = async (app: TestApp) =>
        (await (await app.admin()).get('/prime/webui/generalconfig/gethashtags')).json()
      expect(await tags(other)).toEqual(await tags(t))
      // The restored server continues: ids, the trail and counters go on from their last values.
      await enrolAgent(other, {
        facts: { hostname: 'after' },
        devices: [storageStick({ portPath: '1-2', serial: 'new' })],
      })
      expect((await pageOf(other, 'agents')).recordsTotal).toBe(2)
      const [sums] = await other.db.query<{ agents: number; counted: number }>(
        sql`select (select count(*)::int from agents) as agents, (select t.agents::int from fleet_totals t) as counted`,
      )
      expect(sums).toEqual({ agents: 2, counted: 2 })
    } finally {
      await other.close()
    }
  }, 60_000)

  it('is consistent while the server works', async () => {
    const writing = (async () => {
      for (let i = 0; i < 20; i++)
        await (await t.admin()).post('/prime/webui/generalconfig/addhashtags', { hashtags: [`during-${i}`] })
    })()
    const [bytes] = await Promise.all([make(null), writing])
    const { loaded } = await restored(bytes, null)
    expect([loaded.tables > 40, loaded.keyFile]).toEqual([true, null])
  }, 60_000)

  it('is for Administrators, one at a time', async () => {
    const manager = await person(t, { profile: 20 })
    expect((await manager.api.post(path, {})).statusCode).toBe(403)
    const admin = await t.admin()
    expect((await admin.post(path, { passphrase: 'short' })).statusCode).toBe(400)
    const spaced = await admin.post(path, { passphrase: 'correct horse battery ' })
    expect([spaced.statusCode, spaced.json().errors?.[0]?.field]).toEqual([400, 'body.passphrase'])
    const both = await Promise.all([admin.post(path, {}), admin.post(path, {})])
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409])
    expect((await admin.post(path, {})).statusCode).toBe(200)
  })

  it('blocks nothing when its client disconnects or stops reading', async () => {
    const token = await t.signIn()
    const post = (): Promise<{ socket: Socket; first: Promise<Buffer> }> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(t.address)
        const socket = connect(Number(port), hostname, () => {
          const body = '{}'
          const head = [
            `POST ${path} HTTP/1.1`,
            `host: ${hostname}`,
            `authorization: Bearer ${token}`,
            'content-type: application/json',
            `content-length: ${body.length}`,
          ]
          socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
          resolve({ socket, first: new Promise((got) => socket.once('data', got)) })
        })
        socket.on('error', reject)
      })
    const again = async (): Promise<number> => {
      for (let i = 0; ; i++) {
        const { statusCode } = await (await t.admin()).post(path, {})
        if (statusCode !== 409 || i === 100) return statusCode
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    // About 20 MB, more than all buffers between server and client hold.
    await t.db.withClient((client) =>
      client.query(`
        insert into jobs (job_id, kind, title, state, data, created_by, created_at, can_cancel, is_due)
        select gen_random_uuid(), 'x', 'x', 'completed', to_jsonb(long.text), 'x', now(), false, false
        from generate_series(1, 300) n,
          lateral (select string_agg(md5(random()::text), '') || n as text from generate_series(1, 2000) m) long`),
    )
    const at = await post()
    at.socket.destroy()
    expect(await again()).toBe(200)
    const slow = await post()
    await slow.first
    slow.socket.pause()
    slow.socket.destroy()
    expect(await again()).toBe(200)
  }, 60_000)

  it('is reported as damaged if a table does not accept one of its rows', async () => {
    const bytes = await make({})
    const from = bytes.indexOf(10) + 1
    const text = gunzipSync(bytes.subarray(from)).toString('latin1')
    const changed = text.replace(/\t[0-9a-f]{8}-[0-9a-f]{4}-/, (uuid) => `${uuid.slice(0, 3)}x${uuid.slice(4)}`)
    expect(changed).not.toBe(text)
    const damaged = Buffer.concat([bytes.subarray(0, from), gzipSync(Buffer.from(changed, 'latin1'))])
    await expect(restored(damaged, null)).rejects.toThrow(/^The file was changed, or is damaged: invalid input syntax/)
    // The correct backup can be restored afterwards. A restored database is never restored over.
    expect((await restored(bytes, null, damaged)).loaded.rows).toBeGreaterThan(0)
    await expect(restored(bytes, null, bytes)).rejects.toThrow('The database is not empty')
  }, 60_000)

  it('is refused if it lacks tables or contains an impossible event', async () => {
    const bytes = await make({})
    const head = bytes.subarray(0, bytes.indexOf(10) + 1)
    const with_ = (lines: readonly string[]) => Buffer.concat([head, gzipSync(lines.join(''))])
    await expect(restored(with_(['@{"kind":"end"}\n']), null)).rejects.toThrow(/^The backup lacks \d\d+ tables/)
    const far = '@{"kind":"sequences","values":{},"lastEvent":9e15}\n'
    await expect(restored(with_([far, '@{"kind":"end"}\n']), null)).rejects.toThrow('impossible event number')
  }, 60_000)

  it('is verified by a drill in a temporary database, which fails for a changed backup', async () => {
    const file = join(dir, 'a.backup')
    writeFileSync(file, await make({}))
    const run = promisify(execFile)
    const env = {
      ...codeCache,
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? dir,
      PORTCULLIS_DATA_DIR: join(dir, 'unused'),
    }
    const { stdout } = await run(process.execPath, [entry, '--file', file, '--verify', '--json'], { env })
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, hasKeys: false })
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(0, bytes.length - 100))
    await expect(run(process.execPath, [entry, '--file', file, '--verify'], { env })).rejects.toMatchObject({
      stderr: expect.stringMatching(/cannot be read|ends too early/),
    })
  }, 90_000)

  it('opens with a passphrase that an earlier release stored with spaces at its ends', async () => {
    const [file, passphraseFile] = [join(dir, 'spaced.backup'), join(dir, 'spaced')]
    const passphrase = ' correct horse battery '
    const about = { db: t.db, clock: t.clock, version: '1.0.0', keyFile: null, by: 'test' }
    await makeLocalBackup({ ...about, out: file, passphrase: new Secret(passphrase) })
    const verify = () =>
      promisify(execFile)(process.execPath, [entry, '--file', file, '--verify', '--passphrase-file', passphraseFile], {
        env: { ...codeCache, PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? dir },
      })
    writeFileSync(passphraseFile, `${passphrase}\n`)
    expect((await verify()).stdout).toContain('The backup can be restored')
    writeFileSync(passphraseFile, `${passphrase.trim()}\n`)
    await expect(verify()).rejects.toMatchObject({ stderr: expect.stringContaining('The passphrase is incorrect') })
  }, 90_000)

  it('is not restored without its keys, but is once they can be written', async () => {
    const passphrase = 'correct horse battery'
    const [file, passphraseFile] = [join(dir, 'keys.backup'), join(dir, 'passphrase')]
    writeFileSync(file, await makeWithKeys(passphrase))
    writeFileSync(passphraseFile, passphrase)
    chmodSync(dir, 0o711)
    const run = (keyFile: string) =>
      promisify(execFile)(process.execPath, [entry, '--file', file, '--passphrase-file', passphraseFile, '--json'], {
        env: {
          ...codeCache,
          PATH: process.env.PATH ?? '',
          HOME: process.env.HOME ?? dir,
          PORTCULLIS_DATA_DIR: join(dir, 'again'),
          PORTCULLIS_KEY_FILE: keyFile,
        },
      })
    await expect(run(join(passphraseFile, 'key'))).rejects.toMatchObject({
      stderr: expect.stringMatching(/^Nothing was restored: cannot write the key file/),
    })
    writeFileSync(join(dir, 'other.key'), '{"version":1,"root":"AA==","commandPrivateKey":"AA=="}')
    await expect(run(join(dir, 'other.key'))).rejects.toMatchObject({
      stderr: expect.stringMatching(/^Nothing was restored: .* is the key file of another server/),
    })
    const { stdout } = await run(join(dir, 'again.key'))
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, hasKeys: true })
    expect(statSync(join(dir, 'again.key')).mode & 0o777).toBe(0o600)
    await expect(run(join(dir, 'again.key'))).rejects.toMatchObject({ stderr: expect.stringMatching(/not empty/) })
  }, 90_000)

  it('says which key file the server will use if the backup contains none', async () => {
    const file = join(dir, 'keyless.backup')
    writeFileSync(file, await make({}))
    chmodSync(dir, 0o711)
    const run = async (keyFile: string): Promise<string> => {
      const { stdout } = await promisify(execFile)(process.execPath, [entry, '--file', file], {
        env: {
          ...codeCache,
          PATH: process.env.PATH ?? '',
          HOME: process.env.HOME ?? dir,
          PORTCULLIS_DATA_DIR: join(dir, `of-${keyFile}`),
          PORTCULLIS_KEY_FILE: join(dir, keyFile),
        },
      })
      return stdout
    }
    const absent = 'The backup does not contain the key file. Restore it to '
    expect(await run('absent.key')).toContain(`${absent}${join(dir, 'absent.key')} from its copy before you start`)
    writeFileSync(join(dir, 'present.key'), readFileSync(join(t.keyDir, 'key')))
    expect(await run('present.key')).toContain(`The server will use ${join(dir, 'present.key')}, which is there.`)
  }, 90_000)

  it('leaves nothing after an interrupted drill', async () => {
    const [file, temp] = [join(dir, 'off.backup'), join(dir, 'temp')]
    writeFileSync(file, await make({}))
    mkdirSync(temp, { mode: 0o711 })
    chmodSync(dir, 0o711)
    const child = spawn(process.execPath, [entry, '--file', file, '--verify'], {
      env: { ...codeCache, PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? dir, TMPDIR: temp },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const output = text(child.stderr)
    const runs = () => globSync(join(temp, '*/data/postgres/postmaster.pid')).length > 0
    for (let i = 0; i < 600 && !runs(); i++) await sleep(50)
    await sleep(300)
    child.kill('SIGTERM')
    expect(await output).toContain('Interrupted.')
    expect(readdirSync(temp)).toEqual([])
  }, 90_000)
})
