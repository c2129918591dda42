import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { releaseKeyFileOf, releaseKeyPair } from '@portcullis/domain/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir } from '../proof/kit/harness.ts'
import { codeCache } from '../server/test/code-cache.ts'

const cli = fileURLToPath(new URL('../cli/src/main.ts', import.meta.url))

interface Finding {
  name: string
  status: string
  seen: string
}

/** A checkout without a release key builds agents that refuse updates, so the doctor warns. */
const withoutKey = existsSync(fileURLToPath(new URL('../release-key.pub', import.meta.url))) ? [] : ['release key']

/** Checks that depend on the machine that runs the tests. */
const ofMachine = ['free space', 'memory', 'open files', 'builds', 'database answers']

const doctor = async (dataDir: string, port: string) => {
  const child = spawn(process.execPath, [cli, '--json', 'doctor'], {
    env: {
      ...codeCache,
      PATH: process.env.PATH ?? '',
      HOME: dataDir,
      PORTCULLIS_DATA_DIR: dataDir,
      PORTCULLIS_HOST: '0.0.0.0',
      PORTCULLIS_PORT: port,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString()
  })
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const { findings } = JSON.parse(text) as { findings: Finding[] }
  return {
    status,
    bad: findings.filter((one) => one.status !== 'ok' && !ofMachine.includes(one.name)).map(({ name }) => name),
    seen: (name: string) => findings.find((one) => one.name === name)?.seen,
  }
}

/** Writes a support bundle and returns a function that reads its files. */
const bundle = async (dataDir: string, port: string) => {
  const path = join(dataDir, 'support.tar.gz')
  await promisify(execFile)(process.execPath, [cli, 'doctor', '--bundle', path], {
    env: {
      ...codeCache,
      PATH: process.env.PATH ?? '',
      HOME: dataDir,
      PORTCULLIS_DATA_DIR: dataDir,
      PORTCULLIS_HOST: '0.0.0.0',
      PORTCULLIS_PORT: port,
    },
  })
  const text = gunzipSync(readFileSync(path))
  rmSync(path)
  return (name: string): string => {
    const at = text.indexOf(`${name}\0`)
    if (at < 0) throw new Error(`the bundle has no ${name}`)
    return text.toString('utf8', at + 512, at + 512 + Number.parseInt(text.toString('latin1', at + 124, at + 135), 8))
  }
}

describe('portcullis doctor on a real installation', () => {
  const dataDir = temporaryDir()
  let server: RunningServer | undefined
  afterAll(async () => {
    server?.child.kill('SIGTERM')
    await server?.ended
    remove(dataDir)
  })

  it('reports no problem for a running server, nor for its database when it is stopped', async () => {
    server = await startServer(dataDir, { PORTCULLIS_HOST: '0.0.0.0' })
    const { port } = new URL(server.url)
    const running = await doctor(dataDir, port)
    expect(running.bad).toEqual(withoutKey)
    expect(running.seen('port')).toContain('running and ready')
    expect(running.seen('open files')).toContain('for the server')
    expect(running.seen('TLS certificate')).toContain('from its own CA')
    expect(running.seen('database version')).toMatch(/^PostgreSQL 18\./)
    expect(running.status).toBe(0)

    const whileRunning = await bundle(dataDir, port)
    expect(whileRunning('metrics.txt')).toMatch(/^portcullis_subsystem_status\{.*"database".*\} 1$/m)
    // PostgreSQL's own words stay.
    expect(whileRunning('postgres.log')).toMatch(/LOG: {2}database system is ready to accept connections$/m)

    server.child.kill('SIGTERM')
    await server.ended
    expect(JSON.parse((await bundle(dataDir, port))('database.json')).migrations.length).toBeGreaterThan(50)
    const stopped = await doctor(dataDir, port)
    expect(stopped.bad).toEqual(withoutKey)
    expect(stopped.seen('port')).toContain('the server is stopped')
    expect(stopped.seen('schema')).toContain('of this release')
    expect(stopped.status).toBe(0)
  })
})

describe('commands beside a running server', () => {
  const dataDir = temporaryDir()
  const key = releaseKeyPair()
  let server: RunningServer | undefined
  afterAll(async () => {
    await server?.stop()
    remove(dataDir)
  })

  it('check its release key and lift a suspension while it runs', async () => {
    const keyFile = join(dataDir, 'release-key.pub')
    writeFileSync(keyFile, formatReleaseKeyFile(releaseKeyFileOf(key)), { mode: 0o644 })
    const running = await startServer(dataDir, {
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      PORTCULLIS_RELEASE_KEY_FILE: keyFile,
    })
    server = running
    const { seen } = await doctor(dataDir, new URL(running.url).port)
    expect(seen('release key')).toContain(key.fingerprint)

    await running.post('admin/adduser', { userName: 'ada', password: adminPassword, userProfile: 20 })
    await running.post('admin/suspendaccount', { userName: 'ada' })
    await expect(running.signIn('ada')).rejects.toThrow('403')
    const env = { ...codeCache, PATH: process.env.PATH ?? '', HOME: dataDir, PORTCULLIS_DATA_DIR: dataDir }
    const { stdout } = await promisify(execFile)(process.execPath, [cli, '--user', 'ada', 'admin', 'lift-suspension'], {
      env,
    })
    expect(stdout).toBe('Account ada is no longer suspended.\n')
    await running.signIn('ada')
  })
})
