import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts'

const idOf = (...args: string[]): number => {
  const { status, stdout } = spawnSync('id', args, { encoding: 'utf8' })
  return status === 0 ? Number(stdout) : -1
}
const rootOnly = unless(process.getuid?.() === 0 ? null : 'only root can connect and own files as another user')

let base: string
let dataDir: string
let postgres: EmbeddedPostgres | undefined

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'portcullis-access-'))
  chmodSync(base, 0o755)
  dataDir = join(base, 'data')
})
afterAll(() => rmSync(base, { recursive: true, force: true }))
afterEach(stop)

const start = async (): Promise<EmbeddedPostgres> => {
  const log = { info: () => undefined, warn: () => undefined }
  postgres = await startEmbeddedPostgres({ dataDir, log, durable: false })
  return postgres
}
async function stop(): Promise<void> {
  await postgres?.stop()
  postgres = undefined
}

/** Connects as a user of this machine. Returns the answer of the database or the code of its refusal. */
const connectAs = (osUser: string, role: string): string => {
  const { host = '', port } = postgres?.connection ?? {}
  // Loaded before the switch: the user may not be able to read this checkout.
  const code = `
    const { default: pg } = await import(${JSON.stringify(import.meta.resolve('pg'))})
    process.initgroups(${JSON.stringify(osUser)}, ${idOf('-g', osUser)})
    process.setgid(${idOf('-g', osUser)})
    process.setuid(${idOf('-u', osUser)})
    const client = new pg.Client(${JSON.stringify({ host, port, user: role, database: 'postgres' })})
    client.on('error', () => {})
    try {
      await client.connect()
      console.log((await client.query('select current_user as role')).rows[0].role)
      await client.end()
    } catch (error) {
      console.log(error.code)
    }`
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stdout.trim()
}

const others = ['nobody', 'postgres'].filter((name) => idOf('-u', name) > 0)

describe('the embedded database', rootOnly, () => {
  it('accepts no connection of other users of the machine', async () => {
    const { connection, pid } = await start()
    for (const role of ['postgres', 'portcullis']) expect(connectAs('root', role)).toBe(role)
    for (const user of others)
      for (const role of ['postgres', 'portcullis']) expect(connectAs(user, role)).toBe('EACCES')
    // Without the closed directory, the kernel still names the user.
    chmodSync(connection.host, 0o755)
    chmodSync(join(connection.host, '.s.PGSQL.5432'), 0o777)
    for (const user of others)
      for (const role of ['postgres', 'portcullis']) expect(connectAs(user, role)).toBe('28000')
    expect(connectAs('portcullis-db', 'postgres')).toBe('postgres')
    expect(statSync(`/proc/${pid()}`).uid).toBe(idOf('-u', 'portcullis-db'))
  })
})

describe('the rules of the embedded database', () => {
  it('recognise users by the kernel alone', async () => {
    const { connection } = await start()
    const client = new pg.Client({ ...connection, user: 'postgres' })
    await client.connect()
    const { rows } = await client.query('select type, auth_method, options from pg_hba_file_rules')
    await client.end()
    expect(rows).toEqual([{ type: 'local', auth_method: 'peer', options: ['map=portcullis'] }])
  })
})

/** Makes the cluster that of an earlier release: it belongs to a user that other programs run as. */
const giveToNobody = async (): Promise<string> => {
  await start()
  await stop()
  const cluster = join(dataDir, 'postgres')
  const nobody = idOf('-u', 'nobody')
  const give = (path: string): void => {
    lchownSync(path, nobody, nobody)
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name))
  }
  give(cluster)
  return cluster
}
const ownersOf = (dir: string): Set<number> =>
  new Set(
    [dir, ...readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))].map(
      (path) => lstatSync(path).uid,
    ),
  )

describe('the cluster of an earlier release', rootOnly, () => {
  const foreign = (name: string): string => {
    const path = join(base, name)
    writeFileSync(path, 'a file of another program')
    chownSync(path, idOf('-u', 'nobody'), idOf('-g', 'nobody'))
    return path
  }

  it('gets the user of the database', async () => {
    const cluster = await giveToNobody()
    await start()
    expect(ownersOf(cluster)).toEqual(new Set([idOf('-u', 'portcullis-db')]))
    expect(connectAs('root', 'portcullis')).toBe('portcullis')
  })

  it('gets it after an interrupted change of owner', async () => {
    const cluster = await giveToNobody()
    chownSync(cluster, 0, 0)
    chownSync(join(cluster, 'base'), idOf('-u', 'portcullis-db'), 0)
    await start()
    expect(ownersOf(cluster)).toEqual(new Set([idOf('-u', 'portcullis-db')]))
  })

  it.each([
    ['symbolic link', symlinkSync, /is a link to .*outside-symbolic link/],
    ['second name', linkSync, /has a second name/],
  ])('keeps its owner if it contains a %s of a file outside', async (kind, link, message) => {
    const cluster = await giveToNobody()
    const outside = foreign(`outside-${kind}`)
    const inside = join(cluster, 'base', 'planted')
    link(outside, inside)
    await expect(start()).rejects.toThrow(message)
    expect(statSync(outside).uid).toBe(idOf('-u', 'nobody'))
    expect(statSync(cluster).uid).toBe(idOf('-u', 'nobody'))
    rmSync(inside)
    await start()
  })

  it('keeps its owner if others can change the data directory', async () => {
    const cluster = await giveToNobody()
    chmodSync(dataDir, 0o777)
    await expect(start()).rejects.toThrow(/root is not the only user.*chown root:/)
    chmodSync(dataDir, 0o711)
    expect(statSync(cluster).uid).toBe(idOf('-u', 'nobody'))
    await start()
  })

  it('is not taken from an ordinary user', async () => {
    const cluster = await giveToNobody()
    const daemon = idOf('-u', 'daemon')
    spawnSync('chown', ['-R', `${daemon}:${idOf('-g', 'daemon')}`, cluster])
    await start()
    expect(ownersOf(cluster)).toEqual(new Set([daemon]))
  })
})
