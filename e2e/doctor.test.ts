import { execFile, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { releaseKeyFileOf, releaseKeyPair } from '@portcullis/domain/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { codeCache } from '../server/test/code-cache.ts'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir } from './harness.ts'

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

    server.child.kill('SIGTERM')
    await server.ended
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
