import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { releaseKeyPair } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { configured, packageFile, publish } from '@portcullis/server/test/packages.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentPaths } from '#features/contract.ts'

const url = '/prime/webui/agents/packages'
const key = releaseKeyPair()
let t: TestApp
let agent: TestAgent

beforeAll(async () => {
  t = await startTestApp({ listen: true, releaseKey: configured(key) })
  agent = await enrolAgent(t)
})
afterAll(() => t.close())

const list = async () => (await (await t.admin()).get(url)).json()
const download = async (sha256: string, app: TestApp = t, session = agent.state.session) => {
  const answer = await fetch(`${app.address}${agentPaths.packages}/${sha256}`, {
    headers: { authorization: `Bearer ${session}` },
  })
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
}
const stored = () =>
  t.db.query<{ packages: number; chunks: number }>(
    sql`select (select count(*)::int from agent_packages) as packages, (select count(*)::int from agent_package_chunks) as chunks`,
  )
const refused = async (file: Buffer, status: number, code: string) => {
  const before = await stored()
  const answer = await publish(t, file)
  expect([answer.statusCode, answer.json().code], answer.body).toEqual([status, code])
  expect(await stored()).toEqual(before)
  return answer.json()
}

describe('agent packages', () => {
  it('a package is published if the configured key signed it', async () => {
    const answer = await publish(t, packageFile(key))
    expect(answer.statusCode, answer.body).toBe(200)
    const { fingerprint } = key
    const expected = {
      version: '1.0.0',
      architecture: 'x64',
      state: 'Published',
      isNewest: true,
      releaseKey: fingerprint,
    }
    expect(answer.json()).toMatchObject(expected)
    expect((await list()).releaseKey).toEqual({
      fingerprint,
      source: 'file',
      isInBuild: true,
      sequence: 0,
      rotatedAt: null,
      earlier: [],
    })
    const { data } = await pageOf<{ action: string; entity: string }>(t, 'events/GetAuditsIntegration?PageSize=1')
    expect(data.map(({ action, entity }) => [action, entity])).toEqual([['agent_package.published', '1.0.0 x64']])
  })

  it('an agent downloads the bytes of the executable, including several chunks', async () => {
    const executable = Buffer.concat([randomBytes(3 * 1024 * 1024 + 17), Buffer.alloc(5_000_000)])
    const answer = await publish(t, packageFile(key, { version: '1.1.0', executable }))
    expect(answer.statusCode, answer.body).toBe(200)
    const { sha256, size } = answer.json()
    expect(size).toBe(executable.length)
    for (let i = 0; i < 2; i++) {
      const got = await download(sha256)
      expect(got.status).toBe(200)
      expect(got.headers.get('content-length')).toBe(String(size))
      expect(got.headers.get('content-type')).toBe('application/octet-stream')
      expect(got.bytes.equals(executable)).toBe(true)
    }
    const many = await Promise.all(Array.from({ length: 20 }, () => download(sha256)))
    expect(many.every((got) => got.bytes.equals(executable))).toBe(true)
  })

  it('another replica serves the executable from the database', async () => {
    const executable = Buffer.concat([randomBytes(2 * 1024 * 1024), Buffer.from('second')])
    const { sha256 } = (await publish(t, packageFile(key, { version: '1.1.1', executable }))).json()
    const other = await startTestApp({
      database: t.database,
      keys: loadKeys(join(t.keyDir, 'key')),
      listen: true,
      releaseKey: configured(key),
    })
    try {
      expect((await download(sha256, other)).bytes.equals(executable)).toBe(true)
    } finally {
      await other.close()
    }
  })

  it('only agents can download: refuses no session, a foreign session and a removed agent', async () => {
    const { sha256 } = (await list()).data[0]
    const code = async (session: string) => {
      const { status, bytes } = await download(sha256, t, session)
      return [status, JSON.parse(bytes.toString()).code]
    }
    expect(await code('')).toEqual([401, 'agent_session_expired'])
    expect(await code('pas_x')).toEqual([401, 'agent_session_expired'])
    const gone = await enrolAgent(t)
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [gone.agentId])
    expect(await code(gone.state.session)).toEqual([403, 'agent_revoked'])
    expect((await download('0'.repeat(64))).status).toBe(404)
    expect((await download('..%2f..%2fkey')).status).toBe(404)
  })

  it('a lost cache file is written again', async () => {
    const { sha256 } = (await list()).data[0]
    const folder = join(t.keyDir, 'packages')
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    expect(
      createHash('sha256')
        .update((await download(sha256)).bytes)
        .digest('hex'),
    ).toBe(sha256)
  })

  it('the same build again changes nothing, and other content with its version is refused', async () => {
    const executable = randomBytes(1000)
    const file = packageFile(key, { version: '1.2.0', executable })
    const first = (await publish(t, file)).json()
    const before = await stored()
    expect((await publish(t, file)).json()).toEqual(first)
    expect(await stored()).toEqual(before)
    await refused(packageFile(key, { version: '1.2.0', executable: randomBytes(1000) }), 409, 'package_version_taken')
  })

  it('versions are compared by number, separately for each architecture', async () => {
    await publish(t, packageFile(key, { version: '1.10.0' }))
    const problem = await refused(packageFile(key, { version: '1.9.0' }), 409, 'package_not_newer')
    expect(problem.detail).toBe('Version 1.9.0 for x64 is older than the published version 1.10.0.')
    await refused(packageFile(key, { version: '1.10.0-rc.2' }), 409, 'package_not_newer')
    for (const architecture of ['arm64', 'windows-x64'])
      expect((await publish(t, packageFile(key, { version: '1.9.0', architecture }))).statusCode).toBe(200)
    const older = await refused(
      packageFile(key, { version: '1.8.9', architecture: 'windows-x64' }),
      409,
      'package_not_newer',
    )
    expect(older.detail).toContain('for windows-x64 is older than the published version 1.9.0')
    const newest = (await list()).data.filter((p: { isNewest: boolean }) => p.isNewest)
    expect(newest.map((p: { version: string; architecture: string }) => `${p.version} ${p.architecture}`)).toEqual([
      '1.10.0 x64',
      '1.9.0 arm64',
      '1.9.0 windows-x64',
    ])
  })

  it('another release key is refused with its fingerprint, and the attempt is in the audit trail', async () => {
    const other = releaseKeyPair()
    const problem = await refused(packageFile(other, { version: '2.0.0' }), 403, 'package_key_refused')
    expect(problem.detail).toContain(other.fingerprint)
    expect(problem.detail).toContain(key.fingerprint)
    expect(problem.detail).toContain('/etc/portcullis/release-key.pub')
    const { data } = await pageOf<{ action: string; outcome: string }>(t, 'events/GetAuditsIntegration?PageSize=1')
    expect(data[0]).toMatchObject({ action: 'agent_package.refused', entity: '2.0.0 x64', outcome: 'failure' })
  })

  it('a header that was changed after it was signed is refused', async () => {
    const other = releaseKeyPair()
    for (const header of [
      { version: '2.0.1' },
      { architecture: 'arm64' },
      { architecture: 'windows-x64' },
      { sha256: '0'.repeat(64) },
      { size: 8 },
      { signature: `${'A'.repeat(86)}==` },
      { releaseKey: other.text },
    ])
      await refused(packageFile(key, { version: '2.0.0', header }), 422, 'package_signature_wrong')
  })

  it('a package with one flipped bit is refused', async () => {
    const executable = Buffer.concat([randomBytes(2_000), Buffer.alloc(2_000)])
    const file = packageFile(key, { version: '2.0.0', executable })
    const before = await stored()
    const codes = new Set<string>()
    for (let at = 0; at < file.length; at += 37) {
      const flipped = Buffer.from(file)
      flipped.writeUInt8((file[at] as number) ^ (1 << (at % 8)), at)
      const answer = await publish(t, flipped)
      expect([400, 409, 422, 403], `byte ${at}: ${answer.body}`).toContain(answer.statusCode)
      codes.add(answer.json().code)
    }
    expect(codes).toContain('package_damaged')
    // This bit is in the signed part; those above may all fail earlier checks.
    const signed = Buffer.from(file)
    const version = signed.indexOf('2.0.0')
    signed.writeUInt8((file[version] as number) ^ 1, version)
    expect((await publish(t, signed)).json().code).toBe('package_signature_wrong')
    expect(await stored()).toEqual(before)
  })

  it('more, fewer or different bytes than signed are refused', async () => {
    const executable = randomBytes(5_000)
    const bodies = [
      zstdCompressSync(executable.subarray(1)),
      zstdCompressSync(Buffer.concat([executable, Buffer.alloc(1)])),
      zstdCompressSync(executable).subarray(0, 3_000),
      zstdCompressSync(randomBytes(5_000)),
      // 64 MiB of zeros in about 2 kB: stops at the first byte beyond the signed size.
      zstdCompressSync(Buffer.alloc(64 * 1024 * 1024)),
      Buffer.alloc(0),
      randomBytes(100),
    ]
    for (const body of bodies)
      await refused(packageFile(key, { version: '2.0.0', executable, body }), 422, 'package_damaged')
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['no line', randomBytes(10_000)],
    ['a line without an end', Buffer.alloc(100_000, 32)],
    ['no JSON', Buffer.from('agent\n')],
    ['another format', packageFile(key, { header: { format: 'zip' } })],
    ['an invalid version', packageFile(key, { version: '1.0' })],
    ['a version with build metadata', packageFile(key, { version: '1.0.0+5' })],
    ['an unknown architecture', packageFile(key, { architecture: 'mips' })],
    ['the architecture of macOS', packageFile(key, { architecture: 'macos-arm64' })],
    ['a size over the limit', packageFile(key, { header: { size: 300_000_000 } })],
    ['an unknown member', packageFile(key, { header: { postInstall: 'rm -rf /' } })],
  ])('a file with %s is refused', async (_, file) => {
    await refused(file, 400, 'validation_failed')
  })

  it('a withdrawn build is no longer served, and its version stays taken', async () => {
    const executable = randomBytes(2_000)
    const file = packageFile(key, { version: '3.0.0', executable })
    const made = (await publish(t, file)).json()
    expect((await download(made.sha256)).status).toBe(200)
    const answer = await (await t.admin()).delete(`${url}/${made.id}`)
    expect(answer.json()).toMatchObject({ state: 'Withdrawn', isNewest: false })
    expect((await download(made.sha256)).status).toBe(404)
    expect(readdirSync(join(t.keyDir, 'packages'))).not.toContain(made.sha256)
    expect((await list()).data.find((p: { isNewest: boolean }) => p.isNewest).version).toBe('1.10.0')
    expect((await (await t.admin()).delete(`${url}/${made.id}`)).statusCode).toBe(404)
    expect((await (await t.admin()).delete(`${url}/nonsense`)).statusCode).toBe(404)
    await refused(packageFile(key, { version: '3.0.0', executable: randomBytes(10) }), 409, 'package_version_taken')
    expect((await publish(t, file)).json()).toMatchObject({ id: made.id, state: 'Published' })
    expect((await download(made.sha256)).bytes.equals(executable)).toBe(true)
  })

  it('publishing requires an Administrator, and every account can read the list', async () => {
    const manager = await person(t, { profile: 20 })
    const user = await person(t)
    expect((await publish(t, packageFile(key), manager.token)).statusCode).toBe(403)
    expect((await manager.api.delete(`${url}/x`)).statusCode).toBe(403)
    expect((await user.api.get(url)).statusCode).toBe(200)
    expect((await t.as(undefined).get(url)).statusCode).toBe(401)
  })

  it('an incomplete upload leaves nothing', async () => {
    const before = await stored()
    const answer = await t.request({
      method: 'POST',
      url,
      headers: {
        'content-type': 'multipart/form-data; boundary=b',
        authorization: `Bearer ${await t.signIn()}`,
      },
      payload: Buffer.concat([
        Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'),
        packageFile(key, { version: '4.0.0', executable: randomBytes(3_000) }).subarray(0, 1_500),
      ]),
    })
    expect(answer.statusCode, answer.body).toBe(400)
    expect(await stored()).toEqual(before)
    expect((await agentPost(t, agentPaths.checkIn, {}, 'x')).status).toBe(401)
  })
})
