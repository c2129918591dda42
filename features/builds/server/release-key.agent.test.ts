import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { releaseKeyFileOf, releaseKeyPair, rotationOf } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolmentToken, pageOf } from '@portcullis/server/test/builders.ts'
import { configured, packageFile, publish } from '@portcullis/server/test/packages.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ReleaseKeyFile } from '#features/contract.ts'

const builder = fileURLToPath(new URL('../../../scripts/build-agent.mjs', import.meta.url))
const entry = fileURLToPath(new URL('../../../agent/src/main.ts', import.meta.url))
const [genuine, next, own] = [releaseKeyPair(), releaseKeyPair(), releaseKeyPair()]
const installed = '#!/bin/sh\necho 0.0.1\n'

let folder: string
let t: TestApp
let agent: ChildProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-takeover-'))
})
afterEach(async () => {
  agent?.kill('SIGKILL')
  await t.close()
  rmSync(folder, { recursive: true, force: true })
})

const build = (key: ReleaseKeyFile): string => {
  const file = join(folder, 'release-key.pub')
  writeFileSync(file, formatReleaseKeyFile(key))
  const env = { PATH: process.env.PATH ?? '', PORTCULLIS_RELEASE_KEY_FILE: file }
  const done = spawnSync(process.execPath, [builder, entry, join(folder, 'build'), '--script-only'], { env })
  if (done.status !== 0) throw new Error(String(done.stderr))
  return join(folder, 'build', 'agent.cjs')
}

const eventually = async <T>(what: string, probe: () => Promise<T | undefined>): Promise<T> => {
  const end = performance.now() + 60_000
  for (;;) {
    const found = await probe()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`not within a minute: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Enrols a real agent on an empty tree, and returns its id. */
const enrol = async (program: string): Promise<string> => {
  mkdirSync(join(folder, 'sys/bus/usb/devices'), { recursive: true })
  const executable = join(folder, 'portcullis-agent')
  writeFileSync(executable, installed, { mode: 0o755 })
  const where = ['--state-dir', join(folder, 'state'), '--sysfs-root', join(folder, 'sys'), '--executable', executable]
  const server = ['--server', t.address, '--token', await enrolmentToken(t)]
  agent = spawn(process.execPath, [program, ...server, ...where], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: 'ignore',
  })
  const host = await eventually('enrolled', async () => {
    const { data } = await pageOf<{ uuid: string; serviceVersion: string }>(t, 'agents')
    return data[0]
  })
  return host.uuid
}
const order = async (uuid: string): Promise<unknown> =>
  (await (await t.admin()).post('/prime/webui/agents/updateAgents', [uuid])).json()
const hosts = async () => (await (await t.admin()).get('/prime/webui/agents/packages')).json().hosts
const contentNow = () => readFileSync(join(folder, 'portcullis-agent'), 'utf8')

it('a compromised server with its own key cannot install a program on a host', async () => {
  t = await startTestApp({ listen: true, releaseKey: configured(own) })
  const uuid = await enrol(build(releaseKeyFileOf(genuine)))
  const executable = Buffer.from(`#!/bin/sh\ntouch ${join(folder, 'owned')}\necho 9.9.9\n`)
  const architecture = process.arch
  expect((await publish(t, packageFile(own, { version: '9.9.9', architecture, executable }))).statusCode).toBe(200)
  expect(await order(uuid)).toMatchObject({ accepted: [uuid], notFound: [] })
  const refused = await eventually('refused', async () => {
    const { data } = await pageOf<{ details: string }>(t, 'events/getevents?minimumSeverity=critical')
    return data[0]
  })
  expect(refused.details).toContain(own.fingerprint)
  expect(contentNow()).toBe(installed)
  expect(() => readFileSync(join(folder, 'owned'))).toThrow('ENOENT')
  expect(await hosts()).toEqual([{ releaseKey: genuine.fingerprint.slice(0, 16), state: 'Foreign', hosts: 1 }])
})

it('a host accepts a rotation configured on its server, and installs a build of the next key', async () => {
  t = await startTestApp({ listen: true, releaseKey: configured(genuine, [rotationOf(genuine, next, 1)]) })
  const uuid = await enrol(build(releaseKeyFileOf(genuine)))
  await eventually('reported', async () => (await hosts()).find((one: { state: string }) => one.state === 'Earlier'))
  const executable = Buffer.from('#!/bin/sh\necho 9.9.9\n')
  await publish(t, packageFile(next, { version: '9.9.9', architecture: process.arch, executable }))
  await order(uuid)
  await eventually('installed', async () => (contentNow() === executable.toString() ? true : undefined))
})
