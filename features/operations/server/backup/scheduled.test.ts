// Invariant: A scheduled backup gets its name only after it was verified, and retention deletes only such files.

import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { unless } from '@portcullis/domain/testing'
import { leftOut, makeDrillFolder, readArchive } from '@portcullis/platform/server/backup/index.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createEnvelope } from '@portcullis/platform/server/envelope.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { postgresOn } from '@portcullis/platform/server/postgres/index.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BackupStatus } from '#features/contract.ts'
import { nextBackup } from './backup-times.ts'

const root = mkdtempSync(join(tmpdir(), 'portcullis-scheduled-'))
const passphrase = 'correct horse battery staple'
const hour = 3_600_000
const whyNoMount =
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'mounting a disk needs root on Linux' : null
const whyNoProc = process.platform === 'linux' ? null : 'finding a process needs /proc'
let t: TestApp
let folder: string

beforeAll(async () => {
  t = await startTestApp()
})
beforeEach(async () => {
  folder = join(root, randomBytes(4).toString('hex'))
  mkdirSync(folder, { mode: 0o700 })
  await t.db.execute(sql`delete from backup_runs`)
  await t.db.execute(sql`update backup_plan set schedule = '', next_at = null`)
})
afterAll(async () => {
  await t.close()
  rmSync(root, { recursive: true })
})

/** Changes the settings in a fresh session, as a person does. */
const save = async (settings: Record<string, string | null>) => {
  t.clock.advance(1)
  return t.as(await t.signIn()).post('/prime/webui/generalconfig/AddOrUpdateBackup', settings)
}
const enable = async (more: Record<string, string | null> = {}): Promise<void> => {
  const answer = await save({
    BACKUP_ENABLED: 'true',
    BACKUP_FOLDER: folder,
    BACKUP_INTERVAL: 'daily',
    BACKUP_TIME: '02:15',
    BACKUP_KEEP: '2',
    BACKUP_PASSPHRASE: null,
    BACKUP_VERIFY: 'read',
    ...more,
  })
  expect(answer.statusCode, answer.body).toBe(200)
}
const status = async (): Promise<BackupStatus> => (await (await t.admin()).get('/prime/webui/admin/backups')).json()
const health = async () => t.server.backup.health()
const start = async () => {
  t.clock.advance(1_000)
  return (await t.admin()).post('/prime/webui/admin/backups/run', undefined)
}
/** Starts a backup, waits until it has ended, and returns its run. */
const make = async () => {
  const answer = await start()
  expect(answer.statusCode, answer.body).toBe(200)
  await t.server.jobs.drain()
  return (await status()).runs[0]
}
/** Does work while no backup can start: each one first reads the locked table. */
const beforeAnyStarts = async (work: (tx: Tx) => Promise<void>): Promise<void> =>
  t.db.transaction(async (tx) => {
    await tx.execute(sql`lock table backup_installation in access exclusive mode`)
    await work(tx)
  })
const backups = (): string[] => readdirSync(folder).sort()

describe('a scheduled backup', () => {
  it('is written at its time, once, on any of two servers, and can be restored', async () => {
    await enable({ BACKUP_PASSPHRASE: passphrase })
    await t.server.backup.tick()
    const { nextRunAt, runs } = await status()
    const due = Date.parse(nextRunAt as string)
    expect([runs, new Date(due).toISOString().slice(11, 16)]).toEqual([[], '02:15'])
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    try {
      t.clock.advance(due - t.clock.now() + 1)
      await Promise.all([t.server.backup.tick(), other.server.backup.tick()])
      await Promise.all([t.server.jobs.drain(), other.server.jobs.drain()])
    } finally {
      await other.close()
    }
    const after = await status()
    expect(after.runs).toMatchObject([
      {
        reason: 'schedule',
        createdBy: 'system',
        state: 'completed',
        isStored: true,
        isEncrypted: true,
        verification: 'read',
        error: '',
      },
    ])
    expect(Date.parse(after.nextRunAt as string) - due).toBe(24 * hour)
    const [name, ...others] = backups()
    expect(others).toEqual([])
    const path = join(folder, name as string)
    expect([after.runs[0]?.file, statSync(path).mode & 0o777, statSync(path).size]).toEqual([
      path,
      0o600,
      after.runs[0]?.bytes,
    ])
    const bytes = readFileSync(path)
    async function* once() {
      yield bytes
    }
    const archive = await readArchive(once(), new Secret(passphrase))
    let tables = 0
    for await (const part of archive.parts) if (part.kind === 'table') tables++
    expect([archive.head.hasKeys, tables]).toEqual([false, after.runs[0]?.tables])
    expect(await health()).toMatchObject({ status: 'OK', description: expect.stringContaining('next backup is due') })
  })

  it('keeps the newest ones, and deletes no file that it did not write', async () => {
    await enable()
    const [strange, similar] = [
      join(folder, 'notes.backup'),
      join(folder, 'portcullis-20300101-000000Z-00000000.backup'),
    ]
    writeFileSync(strange, 'not ours')
    writeFileSync(similar, 'not ours')
    const first = await make()
    const second = await make()
    await make()
    expect((await status()).runs.map(({ isStored }) => isStored)).toEqual([true, true, false])
    expect(backups()).not.toContain(first?.file.split('/').at(-1))
    // A file that was changed since is not the one that was verified.
    truncateSync(second?.file as string, 10)
    await make()
    expect(readFileSync(second?.file as string).length).toBe(10)
    expect([readFileSync(strange, 'utf8'), readFileSync(similar, 'utf8')]).toEqual(['not ours', 'not ours'])
    expect(backups()).toHaveLength(5)
  })

  it('is neither deleted nor kept waiting by manual ones', async () => {
    await enable({ BACKUP_KEEP: '1' })
    await t.server.backup.tick()
    const makeDue = async (): Promise<void> => {
      t.clock.advance(Date.parse((await status()).nextRunAt as string) - t.clock.now() + 1)
    }
    await makeDue()
    await t.server.backup.tick()
    await t.server.jobs.drain()
    const scheduled = (await status()).runs[0]
    expect(scheduled).toMatchObject({ reason: 'schedule', state: 'completed' })
    const [first, second] = [await make(), await make()]
    expect([existsSync(first?.file as string), existsSync(second?.file as string)]).toEqual([false, true])
    expect(existsSync(scheduled?.file as string)).toBe(true)

    await beforeAnyStarts(async () => {
      expect((await start()).statusCode).toBe(200)
      await makeDue()
      await t.server.backup.tick()
      expect((await status()).runs[0]).toMatchObject({ reason: 'manual', state: 'waiting' })
    })
    await t.server.jobs.drain()
    expect((await start()).json()).toMatchObject({ code: 'conflict', detail: expect.stringContaining('is about to') })
    await t.server.backup.tick()
    await t.server.jobs.drain()
    expect((await status()).runs[0]).toMatchObject({ reason: 'schedule', state: 'completed' })
    expect(existsSync(scheduled?.file as string)).toBe(false)
  })

  it('keeps the files of the server that its database was restored from', async () => {
    await enable({ BACKUP_KEEP: '1' })
    const original = await make()
    // A backup contains itself as running, together with its job.
    await beforeAnyStarts(async (tx) => {
      const { jobId } = (await start()).json()
      await tx.execute(
        sql`update backup_runs r set state = 'running', installation = (select i.id from backup_installation i) where r.job_id = ${jobId}`,
      )
      expect(leftOut).toContain('backup_installation')
      await tx.execute(sql`update backup_installation i set id = gen_random_uuid()`)
    })
    await t.server.jobs.drain()
    expect((await status()).runs[0]).toMatchObject({ state: 'failed', error: expect.stringContaining('was restored') })
    expect(await health()).toMatchObject({ status: 'OK' })
    await make()
    const own = await make()
    expect(backups()).toEqual([original, own].map((run) => run?.file.split('/').at(-1)))
  })

  it('is restored into a temporary database before it gets its name', async () => {
    await enable({ BACKUP_VERIFY: 'restore', BACKUP_PASSPHRASE: passphrase })
    expect(await make()).toMatchObject({ state: 'completed', verification: 'restored', note: '', error: '' })
    expect(backups()).toHaveLength(1)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('portcullis-drill-'))).toEqual([])
  }, 180_000)

  it('leaves no temporary database behind if its process is killed', {
    ...unless(whyNoProc),
    timeout: 180_000,
  }, async () => {
    await enable({ BACKUP_VERIFY: 'restore', BACKUP_PASSPHRASE: passphrase })
    /** Names of drill folders and the process of each, if this process started it. */
    const drills = (): [string, number][] =>
      readdirSync(tmpdir()).flatMap((name) => {
        const pid = Number(/^portcullis-drill-(\d+)-/.exec(name)?.[1])
        const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : ''
        return status.includes(`PPid:\t${process.pid}\n`) ? [[name, pid] as [string, number]] : []
      })
    const making = make()
    await expect.poll(() => drills().length, { timeout: 60_000, interval: 20 }).toBe(1)
    const [name, child] = drills()[0] as [string, number]
    const left = join(tmpdir(), name)
    const cluster = join(left, 'data', 'postgres')
    await expect
      .poll(() => (existsSync(cluster) ? postgresOn(cluster).length : 0), { timeout: 60_000, interval: 20 })
      .toBeGreaterThan(0)
    const [database] = postgresOn(cluster)
    process.kill(child, 'SIGKILL')
    expect(await making).toMatchObject({ state: 'failed' })
    expect([existsSync(left), existsSync(`/proc/${database}/cwd`)]).toEqual([false, false])
  })

  it('removes the temporary databases of killed processes at the start, and only those', async () => {
    const dead = spawnSync(process.execPath, ['--version']).pid
    const names = [`portcullis-drill-${dead}-00000000-Abc123`, 'portcullis-drill-Abc124']
    const others = ['portcullis-drill-x', 'portcullis-drill-1-00000000-Abc125-']
    const own = makeDrillFolder(tmpdir())
    const link = join(tmpdir(), 'portcullis-drill-Abc126')
    symlinkSync(folder, link)
    for (const name of [...names, ...others]) mkdirSync(join(tmpdir(), name, 'data'), { recursive: true })
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    try {
      await other.server.backup.tick()
      expect(names.map((name) => existsSync(join(tmpdir(), name)))).toEqual([false, false])
      expect([...others, own, link].map((path) => existsSync(resolve(tmpdir(), path)))).toEqual([
        true,
        true,
        true,
        true,
      ])
    } finally {
      await other.close()
      for (const name of [...names, ...others, own, link])
        rmSync(resolve(tmpdir(), name), { recursive: true, force: true })
    }
  })

  it('fails with cause and cure, leaves nothing, and shows in health, until one works', async () => {
    await enable()
    rmSync(folder, { recursive: true })
    expect((await start()).json()).toMatchObject({
      code: 'unprocessable',
      detail: expect.stringContaining('does not exist. Create it'),
    })
    expect(await health()).toMatchObject({ status: 'Error', description: expect.stringContaining('does not exist') })
    mkdirSync(folder)
    expect((await start()).statusCode).toBe(200)
    rmSync(folder, { recursive: true })
    await t.server.jobs.drain()
    mkdirSync(folder)
    expect((await status()).runs[0]).toMatchObject({
      state: 'failed',
      isStored: false,
      error: expect.stringContaining('does not exist'),
    })
    expect(await health()).toMatchObject({
      status: 'Error',
      description: expect.stringContaining('The last backup failed: '),
    })
    expect(await make()).toMatchObject({ state: 'completed' })
    expect((await health())?.status).toBe('OK')
    // Due for a while, and no server started it.
    await t.server.backup.tick()
    t.clock.advance(25 * hour)
    expect(await health()).toMatchObject({
      status: 'Error',
      description: expect.stringContaining('no server started it'),
    })
    // A server that has just started will start it.
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    try {
      expect((await other.server.backup.health())?.status).toBe('OK')
      t.clock.advance(16 * 60_000)
      expect((await other.server.backup.health())?.status).toBe('Error')
    } finally {
      await other.close()
    }
  })

  it('fails when its disk is full, and keeps the earlier ones', unless(whyNoMount), async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'portcullis-test', folder])
    try {
      await enable()
      const first = await make()
      expect(first).toMatchObject({ state: 'completed' })
      // About 3 MB that do not compress, for 2 MB of free space.
      await t.db.withClient((client) =>
        client.query(`
          insert into jobs (job_id, kind, title, state, data, created_by, created_at, can_cancel, is_due)
          select gen_random_uuid(), 'x', 'x', 'completed', to_jsonb(long.text), 'x', now(), false, false
          from generate_series(1, 100) n,
            lateral (select string_agg(md5(random()::text), '') || n as text from generate_series(1, 2000) m) long`),
      )
      writeFileSync(join(folder, 'ballast'), randomBytes(2_000_000))
      expect(await make()).toMatchObject({ state: 'failed', error: expect.stringContaining('has no space left. Free') })
      expect(backups()).toEqual(['ballast', first?.file.split('/').at(-1)])
      expect(await health()).toMatchObject({ status: 'Error', description: expect.stringContaining('no space left') })
      // Without any space, the request says so at once.
      writeFileSync(join(folder, 'more'), randomBytes(1_500_000))
      expect((await start()).json()).toMatchObject({ detail: expect.stringContaining('has no space left') })
      expect((await status()).problem).toContain('has no space left')
    } finally {
      await t.db.execute(sql`delete from jobs j where j.kind = 'x'`)
      execFileSync('umount', ['-l', folder])
    }
  })

  it('is made again by another server if the first one stops', async () => {
    await enable({ BACKUP_VERIFY: 'restore' })
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    expect((await start()).statusCode).toBe(200)
    const working = other.server.jobs.drain()
    await expect.poll(async () => (await status()).runs[0]?.state).toBe('running')
    await other.close()
    await working.catch(() => {})
    expect((await status()).runs[0]?.state).toBe('running')
    await t.server.jobs.drain()
    expect((await status()).runs).toMatchObject([{ state: 'completed', verification: 'restored' }])
    expect(backups()).toHaveLength(1)
  }, 180_000)

  it('runs once at a time, and is cancelled without a trace', async () => {
    await enable()
    const [first, second] = await Promise.all([start(), start()])
    expect([first.statusCode, second.statusCode].sort()).toEqual([200, 409])
    const started = first.statusCode === 200 ? first : second
    const { jobId } = started.json()
    expect((await (await t.admin()).post(`/prime/webui/jobs/${jobId}/cancel`, undefined)).statusCode).toBe(200)
    await t.server.jobs.drain()
    expect((await status()).runs).toMatchObject([{ state: 'failed', error: 'Cancelled.' }])
    expect(backups()).toEqual([])
    expect(await make()).toMatchObject({ state: 'completed' })
  })
})

describe('the cancellation of a backup', () => {
  it.each(['manual', 'schedule'])(
    'needs the permission to change settings, and no API token can do it (%s)',
    async (reason) => {
      await enable()
      const manager = await person(t, { profile: 20 })
      const scopes = ['fleet:read', 'fleet:write', 'config:read', 'config:write']
      await t.server.backup.tick()
      t.clock.advance(Date.parse((await status()).nextRunAt as string) - t.clock.now() - 60_000)
      await beforeAnyStarts(async () => {
        if (reason === 'manual') await start()
        else {
          t.clock.advance(120_000)
          await t.server.backup.tick()
        }
        const run = (await status()).runs[0]
        expect(run).toMatchObject({ reason, state: 'waiting' })
        const job = `/prime/webui/jobs/${run?.jobId}`
        const api = t.as(await t.signIn(manager.userName, manager.password))
        const refused = await api.post(`${job}/cancel`)
        expect([refused.statusCode, refused.json().code]).toEqual([403, 'forbidden'])
        expect((await api.get(job)).json()).toMatchObject({ state: 'running', canCancel: false })
        expect((await api.get('/prime/webui/jobs')).json().data[0]).toMatchObject({ canCancel: false })
        expect((await (await t.admin()).get(job)).json()).toMatchObject({ canCancel: true })
        const made = await t.as(await t.signIn()).post('/prime/webui/admin/apiTokens', { name: reason, scopes })
        const token = t.as(made.json().token)
        expect((await token.post(`${job}/cancel`)).json().code).toBe('session_required')
        expect((await token.get(job)).json()).toMatchObject({ state: 'running', canCancel: false })
      })
      await t.server.jobs.drain()
      expect((await status()).runs[0]).toMatchObject({ reason, state: 'completed' })
    },
  )
})

describe('the settings of backups', () => {
  it.each([
    ['BACKUP_TIME', '25:00', 'time of day'],
    ['BACKUP_TIME_ZONE', 'Middle/Earth', 'time zone'],
    ['BACKUP_PASSPHRASE', 'short', 'at least 12'],
    ['BACKUP_PASSPHRASE', `${passphrase} `, 'begin or end with a space'],
    ['BACKUP_PASSPHRASE', `\u00a0${passphrase}`, 'begin or end with a space'],
    ['BACKUP_KEEP', '0', 'from 1'],
  ])('refuse %s = %s', async (name, value, reason) => {
    const answer = await save({ [name]: value })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().errors).toMatchObject([{ field: `body.${name}`, message: expect.stringContaining(reason) }])
  })

  it('encrypt with the passphrase as people enter it, even if an earlier release stored spaces around it', async () => {
    await enable({ BACKUP_PASSPHRASE: passphrase })
    const { sealing } = loadKeys(join(t.keyDir, 'key'))
    const sealed = createEnvelope(sealing).seal(new Secret(` ${passphrase}  `), 'config item BACKUP_PASSPHRASE')
    await t.db.execute(sql`update config_items c set sealed = ${sealed} where c.name = 'BACKUP_PASSPHRASE'`)
    const { file } = (await make()) as { file: string }
    const archive = await readArchive(Readable.from([readFileSync(file)]), new Secret(passphrase))
    await expect(archive.parts.next()).resolves.toMatchObject({ done: false })
  })

  it('refuse a folder that is relative, missing, a file, or a folder of the server', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const [programs, link, daily] = [
      join(t.keyDir, 'postgres-bin-1', 'share'),
      join(folder, 'link'),
      join(t.keyDir, 'backups', 'daily'),
    ]
    for (const path of [programs, daily]) mkdirSync(path, { recursive: true })
    symlinkSync(programs, link)
    for (const [path, reason] of [
      ['backups', 'is not an absolute path'],
      [join(folder, 'missing'), 'does not exist. Create it'],
      [file, 'is not a folder'],
      ...[t.keyDir, programs, link, `${t.keyDir}/backups/../postgres-bin-1`, `${t.keyDir}/`].map(
        (path) => [path, 'is inside the data directory. Choose '] as const,
      ),
    ] as const) {
      const answer = await save({ BACKUP_ENABLED: 'true', BACKUP_FOLDER: path })
      expect([answer.statusCode, answer.json().errors]).toMatchObject([
        400,
        [{ field: 'body.BACKUP_FOLDER', message: expect.stringContaining(reason) }],
      ])
    }
    await enable({ BACKUP_FOLDER: daily })
    rmSync(join(t.keyDir, 'backups'), { recursive: true })
  })

  it('create the default folder', async () => {
    await enable({ BACKUP_FOLDER: null })
    expect(statSync(join(t.keyDir, 'backups')).mode & 0o777).toBe(0o700)
    expect((await status()).folder).toBe(join(t.keyDir, 'backups'))
  })

  it('need an Administrator who has just signed in; Managers can read the state', async () => {
    const manager = await person(t, { profile: 20 })
    expect((await manager.api.get('/prime/webui/admin/backups')).statusCode).toBe(200)
    expect((await manager.api.post('/prime/webui/admin/backups/run', undefined)).statusCode).toBe(403)
    const user = await person(t, { profile: 30 })
    expect((await user.api.get('/prime/webui/admin/backups')).statusCode).toBe(403)
    const admin = t.as(await t.signIn())
    t.clock.advance(6 * 60_000)
    const answer = await admin.post('/prime/webui/generalconfig/AddOrUpdateBackup', { BACKUP_KEEP: '1' })
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'reauthentication_required'])
  })
})

describe('the next time of a backup', () => {
  const at = (text: string): number => Date.parse(text)
  const next = (interval: 'hourly' | '6h' | '12h' | 'daily' | 'weekly', after: string, timeZone = 'UTC') =>
    new Date(nextBackup({ interval, time: '02:15', timeZone }, at(after))).toISOString().slice(0, 16)
  it.each([
    ['daily', '2031-05-04T02:14:00Z', '2031-05-04T02:15'],
    ['daily', '2031-05-04T02:15:00Z', '2031-05-05T02:15'],
    ['hourly', '2031-05-04T23:20:00Z', '2031-05-05T00:15'],
    ['6h', '2031-05-04T15:00:00Z', '2031-05-04T20:15'],
    ['12h', '2031-05-04T15:00:00Z', '2031-05-05T02:15'],
    ['weekly', '2031-05-04T02:15:00Z', '2031-05-11T02:15'],
  ] as const)('%s after %s is %s', (interval, after, expected) => expect(next(interval, after)).toBe(expected))
  it('keeps the time of day when the clocks change', () => {
    expect(next('daily', '2031-03-29T02:00:00Z', 'Europe/Berlin')).toBe('2031-03-30T01:00')
    expect(next('daily', '2031-10-26T12:00:00Z', 'Europe/Berlin')).toBe('2031-10-27T01:15')
  })
})
