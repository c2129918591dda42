import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { releaseKeyFileOf, releaseKeyPair } from '@portcullis/domain/testing'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { createAuthority } from '#test/certificates.ts'
import { codeCache } from '#test/code-cache.ts'
import { cloneDatabase } from '#test/database.ts'
import type { Finding } from './finding.ts'
import { serverAddress } from './server-environment.ts'

const cli = fileURLToPath(new URL('../../../../cli/src/main.ts', import.meta.url))
const connection = inject('postgres')
const urlOf = (database: string): string =>
  `postgres://${connection.user}@/${database}?host=${encodeURIComponent(connection.host)}&port=${connection.port}`

let dir: string
let dataDir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portcullis-doctor-'))
  dataDir = join(dir, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  loadKeys(join(dataDir, 'portcullis.key'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const ofTests = [
  ...['database durability', 'free space', 'memory', 'open files', 'builds', 'database answers'],
  // Depends on the agent build of this checkout.
  'release key',
]

/** Runs `portcullis doctor` in a separate process. */
const doctor = async (env: Record<string, string>, args: readonly string[] = ['--json']) => {
  const child = spawn(process.execPath, [cli, ...args, 'doctor'], {
    env: {
      ...codeCache,
      PATH: process.env.PATH ?? '',
      HOME: dir,
      PORTCULLIS_DATA_DIR: dataDir,
      PORTCULLIS_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      text += part.toString()
    })
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const findings = args.includes('--json') ? (JSON.parse(text) as { ok: boolean; findings: Finding[] }).findings : []
  return {
    status,
    text,
    findings,
    of: (name: string): Finding[] => findings.filter((one) => one.name === name),
    /** All findings that are not ok, except those about this machine or about settings that test databases turn off. */
    bad: findings.filter((one) => one.status !== 'ok' && !ofTests.includes(one.name)),
  }
}

describe('portcullis doctor on files', () => {
  it('finds no errors before the first start, and changes nothing', async () => {
    rmSync(dataDir, { recursive: true })
    const { status, bad } = await doctor({})
    expect(bad.map(({ name, status }) => [name, status])).toEqual([
      ['data directory', 'warning'],
      ['key file', 'warning'],
    ])
    expect(status).toBe(0)
    expect(() => chmodSync(dataDir, 0o700)).toThrow('ENOENT')
  })

  it('has the environment of the service, with its drop-ins and credentials', async () => {
    const unit = join(dir, 'portcullis.service')
    mkdirSync(`${unit}.d`)
    writeFileSync(join(dir, 'database-url'), urlOf('missing'), { mode: 0o600 })
    writeFileSync(unit, '[Service]\nExecStart=/bin/true\n')
    writeFileSync(
      join(`${unit}.d`, 'override.conf'),
      `[Service]\nLoadCredential=database-url:${dir}/database-url\nEnvironment=DATABASE_URL_FILE=%d/database-url\n`,
    )
    const { of } = await doctor({ PORTCULLIS_UNIT: unit })
    expect(of('database')).toMatchObject([{ status: 'error', seen: expect.stringContaining('"missing"') }])
    expect(of('environment')).toEqual((await doctor({})).of('environment'))
  })

  it('detects a key file that others may read, and says what to do', async () => {
    chmodSync(join(dataDir, 'portcullis.key'), 0o644)
    const { status, of, bad } = await doctor({})
    expect(of('key file')).toMatchObject([{ status: 'error', seen: expect.stringContaining('0644') }])
    expect(of('key file')[0]?.whatToDo).toContain('chmod 600')
    expect([bad.length, status]).toEqual([1, 1])
  })

  it('detects a missing key file with an existing database, and a damaged key file', async () => {
    writeFileSync(join(dataDir, 'portcullis.key'), '{"version":1}')
    expect((await doctor({})).of('key file')).toMatchObject([{ status: 'error' }])
    rmSync(join(dataDir, 'portcullis.key'))
    const { of } = await doctor({ DATABASE_URL: urlOf(connection.database) })
    expect(of('key file')).toMatchObject([{ status: 'error', seen: expect.stringContaining('but a database exists') }])
  })

  it('detects a data directory that others may write', async () => {
    chmodSync(dataDir, 0o777)
    expect((await doctor({})).of('data directory')).toMatchObject([
      { status: 'error', whatToDo: `chmod go-w ${dataDir}` },
    ])
  })

  it.each([
    ['expired', 'expired', 'p.example', 'error', 'it expired on'],
    ['is valid', 'valid', 'p.example', 'ok', 'expires in'],
  ] as const)('reports a certificate that %s', async (_what, state, host, expected, seen) => {
    const { cert, key } = await (await createAuthority()).issue([host], state)
    writeFileSync(join(dir, 'cert.pem'), cert)
    writeFileSync(join(dir, 'key.pem'), key, { mode: 0o600 })
    const env = { PORTCULLIS_TLS_CERT: join(dir, 'cert.pem'), PORTCULLIS_TLS_KEY: join(dir, 'key.pem') }
    const { of, status } = await doctor(env)
    expect(of('TLS certificate')).toMatchObject([{ status: expected, seen: expect.stringContaining(seen) }])
    expect(status).toBe(expected === 'ok' ? 0 : 1)
  })

  it('detects a folder of audit checkpoints that others may write, and a configured folder that is missing', async () => {
    const auditDir = join(dataDir, 'audit-checkpoints')
    mkdirSync(auditDir)
    chmodSync(auditDir, 0o750)
    expect((await doctor({})).of('audit checkpoints')).toMatchObject([{ status: 'ok' }])
    chmodSync(auditDir, 0o770)
    expect((await doctor({})).of('audit checkpoints')).toMatchObject([
      { status: 'error', seen: expect.stringContaining('others may write to it') },
    ])
    expect((await doctor({ PORTCULLIS_AUDIT_DIR: join(dir, 'nowhere') })).of('audit checkpoints')).toMatchObject([
      { status: 'error', seen: expect.stringContaining('does not exist') },
    ])
  })

  it('reports the release key, a key file that others can write, and one that cannot be used', async () => {
    const key = releaseKeyPair()
    const file = join(dir, 'release-key.pub')
    writeFileSync(file, formatReleaseKeyFile(releaseKeyFileOf(key)), { mode: 0o644 })
    const env = { PORTCULLIS_RELEASE_KEY_FILE: file }
    const seen = expect.stringContaining(key.fingerprint)
    // The agent build of this checkout does not contain it.
    expect((await doctor(env)).of('release key')).toMatchObject([{ status: 'warning', seen }])
    chmodSync(file, 0o666)
    expect((await doctor(env)).of('release key')).toMatchObject([{ status: 'error', seen }])
    writeFileSync(file, key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
    expect((await doctor(env)).of('release key')).toMatchObject([
      { status: 'error', seen: expect.stringContaining('private key') },
    ])
  })

  it('detects a certificate with the key of another, and a key that everybody may read', async () => {
    writeFileSync(join(dir, 'cert.pem'), (await (await createAuthority()).issue(['a.example'])).cert)
    writeFileSync(join(dir, 'key.pem'), (await (await createAuthority()).issue(['a.example'])).key, { mode: 0o644 })
    const env = { PORTCULLIS_TLS_CERT: join(dir, 'cert.pem'), PORTCULLIS_TLS_KEY: join(dir, 'key.pem') }
    const { of } = await doctor(env)
    expect(of('TLS certificate')).toMatchObject([
      { status: 'error', seen: expect.stringContaining('does not match its key') },
    ])
    expect(of('other secrets')).toMatchObject([{ status: 'error', seen: expect.stringContaining('key.pem') }])
  })

  it('names unknown variables, and continues', async () => {
    const { of, status } = await doctor({ PORTCULLIS_PROT: '8080' })
    expect(of('environment')).toMatchObject([{ status: 'error', seen: 'unknown: PORTCULLIS_PROT' }])
    expect(of('port')).toHaveLength(1)
    expect(status).toBe(1)
  })

  it('names the invalid variable', async () => {
    expect((await doctor({ PORTCULLIS_PORT: 'http' })).of('configuration')).toMatchObject([{ status: 'error' }])
  })

  it('detects a port that another program uses', async () => {
    const other: Server = createServer((socket) => socket.end('SSH-2.0-other\r\n'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { of } = await doctor({ PORTCULLIS_PORT: String(port) })
    other.close()
    expect(of('port')).toMatchObject([
      { status: 'error', seen: expect.stringContaining(`127.0.0.1:${port} is in use`) },
    ])
  })

  it('does not vouch for the server of another installation', async () => {
    const other = createHttpServer((_, answer) => answer.end('{"status":"OK"}'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { of } = await doctor({ PORTCULLIS_PORT: String(port) })
    other.close()
    expect(of('port')).toMatchObject([
      { status: 'warning', seen: expect.stringContaining('another Portcullis server uses this port') },
    ])
    expect(of('TLS certificate')).not.toMatchObject([{ seen: expect.stringContaining('served') }])
  })

  it('reads where a running server listens', async () => {
    const env = { PORTCULLIS_HOST: '0.0.0.0', PORTCULLIS_PORT: '18437' }
    const server = spawn('sleep', ['60'], { env: { ...process.env, ...env } })
    await new Promise((resolve) => server.once('spawn', resolve))
    await expect.poll(() => serverAddress(server.pid ?? 0)).toEqual({ host: '0.0.0.0', port: 18_437 })
    server.kill()
    const moved = spawn('sleep', ['60'], { env: { ...process.env, PORTCULLIS_PORT: '0' } })
    expect(serverAddress(moved.pid ?? 0)).toBeNull()
    moved.kill()
    expect(serverAddress(2 ** 22 + 1)).toBeNull()
  })

  it('prints the same findings as text, with totals', async () => {
    chmodSync(join(dataDir, 'portcullis.key'), 0o640)
    const { text, status } = await doctor({}, [])
    expect(text).toMatch(/^error +key file +.*mode 0640/m)
    expect(text).toMatch(/^ +→ chmod 600/m)
    expect(text).toMatch(/\d+ ok, \d+ warnings?, 1 error\n$/)
    expect(status).toBe(1)
  })
})

describe('portcullis doctor on a database', () => {
  const made: string[] = []
  const admin = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client(connection)
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  const create = async (name: string, options: string): Promise<string> => {
    made.push(name)
    await admin(`CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
    return urlOf(name)
  }
  let fleet: Awaited<ReturnType<typeof cloneDatabase>>
  let fleetUrl: string
  beforeAll(async () => {
    fleet = await cloneDatabase()
    const [row] = (
      await fleet.db.withClient((client) => client.query<{ name: string }>('select current_database() as name'))
    ).rows
    fleetUrl = urlOf(row?.name ?? '')
  })
  afterAll(async () => {
    await fleet.close()
    for (const name of made) await admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  })

  it('accepts the schema of this release, and detects that the test database may lose acknowledged data', async () => {
    const { of, bad, status } = await doctor({ DATABASE_URL: fleetUrl })
    expect(bad).toEqual([])
    expect(of('schema')).toMatchObject([{ status: 'ok', seen: expect.stringContaining('of this release') }])
    expect(of('database durability')).toMatchObject([
      { status: 'error', seen: 'off: fsync, synchronous_commit, full_page_writes' },
    ])
    expect(status).toBe(1)
  })

  it('detects a collation without case folding, and another encoding', async () => {
    const c = await create('doctor_c', "ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'")
    const plainC = await doctor({ DATABASE_URL: c })
    expect(plainC.of('database collation')).toMatchObject([
      { status: 'error', seen: expect.stringContaining('is not ignored') },
    ])
    expect(plainC.of('schema')).toMatchObject([{ status: 'ok', seen: expect.stringContaining('none yet') }])
    const latin = await create('doctor_latin', "ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'")
    expect((await doctor({ DATABASE_URL: latin })).of('database encoding')).toMatchObject([
      { status: 'error', seen: 'SQL_ASCII' },
    ])
  })

  it('detects that no database answers, without printing the password', async () => {
    const { of, status, text } = await doctor({
      DATABASE_URL: 'postgres://portcullis:hunter2-hunter2@127.0.0.1:1/portcullis',
    })
    expect(of('database')).toMatchObject([{ status: 'error', seen: expect.stringContaining('ECONNREFUSED') }])
    expect(text).not.toContain('hunter2')
    expect(status).toBe(1)
  })

  it('detects the schema of a newer, a different and an older release', async () => {
    const schemaFindings = async () => (await doctor({ DATABASE_URL: fleetUrl })).of('schema')
    const query = (text: string) => fleet.db.withClient((client) => client.query(text))
    await query("insert into schema_migrations (version, name, checksum) values (9999, 'next', 'x')")
    expect(await schemaFindings()).toMatchObject([{ status: 'warning', seen: expect.stringContaining('version 9999') }])
    await query("comment on table schema_migrations is 'runs-with 9998'")
    expect(await schemaFindings()).toMatchObject([{ status: 'error', seen: expect.stringContaining('version 9998') }])
    await query('comment on table schema_migrations is null')
    await query("update schema_migrations set checksum = 'x' where version = 1")
    await query('delete from schema_migrations where version = 9999')
    expect(await schemaFindings()).toMatchObject([{ status: 'error', seen: expect.stringContaining('differs from') }])
    await query('delete from schema_migrations')
    expect(await schemaFindings()).toMatchObject([{ status: 'warning', seen: expect.stringContaining('are pending') }])
  })

  it('reports a backup that is old, failed or late', async () => {
    const finding = async () => (await doctor({ DATABASE_URL: fleetUrl })).of('backups')
    const query = (text: string) => fleet.db.withClient((client) => client.query(text))
    expect(await finding()).toMatchObject([{ status: 'ok', seen: 'none yet; no schedule' }])
    await query(
      "insert into backups_made (made_at, made_by, bytes, has_keys, is_encrypted) values (now() - interval '9 days', 'x', 1, false, false)",
    )
    expect(await finding()).toMatchObject([{ status: 'warning', seen: 'the newest is 9 days old; no schedule' }])
    await query("insert into config_items (name, value) values ('BACKUP_ENABLED', 'true')")
    await query(
      "insert into backup_runs (run_id, reason, created_by, created_at, ended_at, state, job_id, error) values (gen_random_uuid(), 'schedule', 'system', now(), now(), 'failed', gen_random_uuid(), 'The folder is full.')",
    )
    expect(await finding()).toMatchObject([{ status: 'error', seen: 'the last one failed: The folder is full.' }])
  })

  it('checks the outbound destinations by the rules of the server, and sends nothing', async () => {
    const received: string[] = []
    let connections = 0
    const mail = createServer((socket) => {
      connections++
      socket.on('data', (part) => received.push(part.toString()))
    })
    await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve))
    const { port } = mail.address() as AddressInfo
    await fleet.db.withClient((client) =>
      client.query(
        `insert into config_items (name, value) values ('SMTP_HOST', '127.0.0.1'), ('SMTP_PORT', '${port}'),
          ('SERVER_DOMAIN_NAME', 'p.example:8443'), ('ISE_URL', 'https://169.254.169.254'), ('CACT_URL', 'https://nobody.invalid'), ('LDAP_URL', 'ldap://127.0.0.1:1')`,
      ),
    )
    const { cert, key } = await (await createAuthority()).issue(['other.example'])
    writeFileSync(join(dir, 'cert.pem'), cert)
    writeFileSync(join(dir, 'key.pem'), key, { mode: 0o600 })
    const { of, text } = await doctor({
      DATABASE_URL: fleetUrl,
      PORTCULLIS_TLS_CERT: join(dir, 'cert.pem'),
      PORTCULLIS_TLS_KEY: join(dir, 'key.pem'),
      NATS_URL: 'nats://user:n4ts-s3cret@127.0.0.1:1',
      PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8',
    })
    // Without it, destinations on this machine are refused and named.
    const closed = await doctor({ DATABASE_URL: fleetUrl })
    mail.close()
    for (const target of ['to mail', 'to directory'])
      expect(closed.of(target)).toMatchObject([
        { status: 'error', whatToDo: expect.stringContaining('PORTCULLIS_OUTBOUND_ALLOW') },
      ])
    expect(of('to mail')).toMatchObject([{ status: 'ok', seen: `127.0.0.1:${port} can be reached` }])
    expect([connections, received]).toEqual([1, []])
    expect(of('to Cisco ISE')).toMatchObject([
      { status: 'error', seen: expect.stringContaining('does not connect to') },
    ])
    expect(of('to CounterACT')).toMatchObject([
      { status: 'warning', seen: expect.stringContaining('cannot be resolved') },
    ])
    expect(of('to directory')).toMatchObject([{ status: 'warning', seen: expect.stringContaining('ECONNREFUSED') }])
    expect(of('to NATS')).toMatchObject([{ status: 'warning' }])
    expect(of('TLS certificate')).toMatchObject([
      { status: 'warning', seen: expect.stringContaining('not valid for p.example') },
    ])
    expect(text).not.toContain('n4ts-s3cret')
  })
})
