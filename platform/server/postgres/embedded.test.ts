import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { unless } from '@portcullis/domain/testing'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { StartError } from '../start-error.ts'
import {
  type EmbeddedConnection,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded.ts'
import { postgresOn, startTimeOf } from './processes.ts'

const log = { info: () => undefined, warn: () => undefined }
const isRoot = process.getuid?.() === 0

let base: string
let dataDir: string
let running: EmbeddedPostgres[]

beforeAll(() => {
  // Not "portcullis-test-", which a parallel run would sweep away.
  base = mkdtempSync(join(tmpdir(), 'portcullis-embedded-'))
  chmodSync(base, 0o755)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))
beforeEach(() => {
  // One directory for all tests, in order: a start on an existing cluster takes a tenth of the first one.
  dataDir = join(base, 'data')
  running = []
})
afterEach(async () => {
  for (const one of running) await one.stop()
})

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log, ...options })
  running.push(postgres)
  return postgres
}

async function stop(postgres: EmbeddedPostgres): Promise<void> {
  running = running.filter((one) => one !== postgres)
  await postgres.stop()
}

async function query(connection: EmbeddedConnection, text: string): Promise<unknown[]> {
  const client = new pg.Client(connection)
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' })
    return rows.flat()
  } finally {
    await client.end()
  }
}

async function until(condition: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  for (const end = performance.now() + withinMs; !(await condition()); await sleep(20)) {
    if (performance.now() > end) throw new Error('the condition was not met in time')
  }
}

/** Starts a launcher in its own process, to be killed. Resolves once its database is up. */
async function startElsewhere(): Promise<{ kill(): Promise<void>; pid: number }> {
  const code = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)})
    const log = { info() {}, warn() {} }
    await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log })
    console.log('up')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((up, failed) => {
    child.stdout.once('data', () => up())
    child.once('exit', (exit) => failed(new Error(`the launcher ended with ${exit}`)))
  })
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      const gone = new Promise((done) => child.once('exit', done))
      child.kill('SIGKILL')
      await gone
    },
  }
}

const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => new Error('it started'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  return (error as StartError).message
}

describe('the embedded PostgreSQL', () => {
  it('is durable, closed to the network and other users, and used without superuser rights', async () => {
    const { connection, version, pid } = await start()
    const shown = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'listen_addresses',
      'data_checksums',
      'server_encoding',
    ]
    const values = await Promise.all(shown.map((name) => query(connection, `SHOW ${name}`)))
    expect(values.flat()).toEqual(['on', 'on', 'on', '', 'on', 'UTF8'])
    expect(version).toMatch(/^18\./)
    expect(await query(connection, "SELECT lower('ÄЖ'), 'ÄRGER' ILIKE 'ärger'")).toEqual(['äж', true])
    expect(await query(connection, 'SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user')).toEqual([
      false,
      false,
    ])

    const socketDir = statSync(connection.host)
    expect(socketDir.mode & 0o777).toBe(0o700)
    const status = readFileSync(`/proc/${pid()}/status`, 'utf8')
    expect(Number(/^Uid:\t(\d+)/m.exec(status)?.[1])).toBe(socketDir.uid)
    if (isRoot) expect(socketDir.uid).toBeGreaterThan(0)
  })

  it('keeps its data after a restart', async () => {
    const first = await start()
    await query(first.connection, 'CREATE TABLE t AS SELECT 42 AS n')
    await stop(first)
    expect(startTimeOf(first.pid())).toBe('')

    const second = await start()
    expect(await query(second.connection, 'SELECT n FROM t')).toEqual([42])
  })

  it('stops the database of a killed server, and recovers', async () => {
    const launcher = await startElsewhere()
    const [orphan = 0] = postgresOn(join(dataDir, 'postgres'))
    await query(
      { host: join(dataDir, 'run'), port: 5432, user: 'portcullis', database: 'portcullis' },
      'CREATE TABLE orphaned AS SELECT 7 AS n',
    )
    await launcher.kill()
    expect(startTimeOf(orphan)).not.toBe('')

    const next = await start()
    expect(startTimeOf(orphan)).toBe('')
    expect(await query(next.connection, 'SELECT n FROM orphaned')).toEqual([7])
  })

  it('restarts after it was killed, and reports the crash', async () => {
    const crashes: { reason: string; attempt: number }[] = []
    const postgres = await start({ onCrash: ({ reason, attempt }) => crashes.push({ reason, attempt }) })
    await query(postgres.connection, 'CREATE TABLE crashed AS SELECT 1 AS n')
    const [first] = [postgres.pid()]
    for (const pid of postgresOn(join(dataDir, 'postgres'))) process.kill(pid, 'SIGKILL')

    await until(() => postgres.pid() !== first)
    expect(await query(postgres.connection, 'SELECT n FROM crashed')).toEqual([1])
    expect(crashes).toEqual([{ reason: 'it was ended by SIGKILL', attempt: 1 }])
  })

  it('stops at once while it waits to restart', async () => {
    let crashed = 0
    const postgres = await start({ onCrash: () => crashed++ })
    process.kill(postgres.pid(), 'SIGKILL')
    await until(() => crashed > 0)
    await stop(postgres)
    expect(postgresOn(join(dataDir, 'postgres'))).toEqual([])
    expect(existsSync(join(dataDir, 'portcullis.lock'))).toBe(false)
  })

  it('moves its socket if the path of the data directory is too long', async () => {
    dataDir = join(base, 'd'.repeat(100))
    const postgres = await start()
    const { host } = postgres.connection
    expect(host.startsWith(dataDir)).toBe(false)
    expect(statSync(host).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(dataDir, 'socket-dir'), 'utf8')).toBe(host)
    expect(await query(postgres.connection, 'SELECT 1')).toEqual([1])
    await stop(postgres)
    expect(existsSync(host)).toBe(false)
  })

  it('replaces the programs of another version', async () => {
    mkdirSync(join(dataDir, 'postgres-bin-17.0.0', 'bin'), { recursive: true })
    await start()
    const programs = readdirSync(dataDir).filter((name) => name.startsWith('postgres-bin-'))
    expect(programs).toEqual([expect.stringMatching(/^postgres-bin-18\./)])
  })
})

describe('the data directory', () => {
  it('is locked while another process runs on it, and free once that is dead', async () => {
    const launcher = await startElsewhere()
    const message = await refusal(start())
    expect(message).toContain(`already running on ${dataDir} (process ${launcher.pid})`)
    expect(postgresOn(join(dataDir, 'postgres'))).not.toEqual([])
    await launcher.kill()
    await start()
  })

  it('is locked while this process runs on it', async () => {
    const postgres = await start()
    expect(await refusal(start())).toContain('already running')
    expect(await query(postgres.connection, 'SELECT 1')).toEqual([1])
  })

  it.each([
    ['a dead process', { pid: 2 ** 22 - 1, startedAt: 'x' }],
    ['a reused pid', { pid: process.ppid, startedAt: 'an earlier boot/1' }],
    ['an incomplete write', 'garbage'],
  ])('is not held by a lock of %s', async (_name, holder) => {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'portcullis.lock'), JSON.stringify(holder))
    await start()
  })

  it(
    'is rejected if the database user cannot reach it',
    unless(isRoot ? null : 'only root runs the database as another user'),
    async () => {
      mkdirSync(join(base, 'closed'), { mode: 0o700 })
      const message = await refusal(start({ dataDir: join(base, 'closed', 'data') }))
      expect(message).toContain(`cannot enter ${join(base, 'closed')}`)
      expect(message).toContain('PORTCULLIS_DATA_DIR')
    },
  )

  it('is rejected if it cannot be created or written', async () => {
    writeFileSync(join(base, 'file'), '')
    expect(await refusal(start({ dataDir: join(base, 'file', 'data') }))).toContain(`${join(base, 'file')} is not`)
    expect(await refusal(start({ dataDir: join(base, 'file') }))).toContain('is not a directory')
    expect(await refusal(start({ dataDir: '/proc/portcullis' }))).toContain('is not writable')
  })

  it('is rejected with the data of another PostgreSQL version, which stay unchanged', async () => {
    await stop(await start())
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n')
    expect(await refusal(start())).toContain('contains a database of PostgreSQL 17')
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '18\n')
    await start()
  })

  it('reports the reason given by PostgreSQL when it does not start', async () => {
    await stop(await start())
    const control = join(dataDir, 'postgres', 'global', 'pg_control')
    renameSync(control, `${control}.aside`)
    expect(await refusal(start())).toMatch(/did not start: .*pg_control.*postgres\.log/)
    renameSync(`${control}.aside`, control)
    await start()
  })
})
