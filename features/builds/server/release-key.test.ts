// Invariant: No request, token or database row can set a release key.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { type ReleaseKeyPair, releaseKeyFileOf, releaseKeyPair, rotationOf } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { configured, packageFile, publish } from '@portcullis/server/test/packages.ts'
import { ring, rolloutsOf, take } from '@portcullis/server/test/rollouts.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type AgentCommand, agentPaths } from '#features/contract.ts'
import { loadReleaseKey } from './release-key.ts'

const url = '/prime/webui/agents/packages'
const [ours, next, last, own] = [releaseKeyPair(), releaseKeyPair(), releaseKeyPair(), releaseKeyPair()]
let t: TestApp

const start = async (options: TestAppOptions = {}): Promise<TestApp> => {
  t = await startTestApp({ listen: true, ...options })
  return t
}
afterEach(() => t.close())

const list = async (app = t) => (await (await app.admin()).get(url)).json()
const apiToken = async (): Promise<string> => {
  const answer = await (await t.admin()).post('/prime/webui/admin/apiTokens', { name: 'stolen', userProfile: 10 })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().token
}
const update = async (agent: TestAgent) => (await t.admin()).post('/prime/webui/agents/updateAgents', [agent.agentId])
const commandsOf = async (agent: TestAgent): Promise<AgentCommand[]> =>
  ((await agent.checkIn()).commands ?? []).map(({ payload }) => JSON.parse(payload) as AgentCommand)

/** Inserts a published build as an attacker with database access or an earlier version would. */
const insert = async (key: ReleaseKeyPair, version: string) => {
  const line = JSON.parse(packageFile(key, { version }).toString('latin1').split('\n')[0] as string)
  await t.db.execute(sql`
    insert into agent_packages (package_id, version, architecture, sha256, size, signature, release_key, published_at, published_by)
    values (gen_random_uuid(), ${version}, 'x64', ${Buffer.from(line.sha256, 'hex')}, ${line.size}::bigint,
      ${Buffer.from(line.signature, 'base64')}, ${Buffer.from(key.text, 'base64')}, now(), 'admin')`)
  return line
}
const pin = (key: ReleaseKeyPair) =>
  t.db.execute(sql`
    insert into agent_release_key (public_key, pinned_at, pinned_by, seal)
    values (${Buffer.from(key.text, 'base64')}, now(), 'admin', '')`)

describe('a release key cannot be set over HTTP', () => {
  it.each<[string, ReleaseKeyPair | null, string]>([
    ['a server without a release key', null, 'package_key_unknown'],
    ['a server with one', ours, 'package_key_refused'],
  ])('%s refuses a self-made build, by session and by API token, trusted or not', async (_, key, code) => {
    await start({ releaseKey: key === null ? null : configured(key) })
    const file = packageFile(own, { version: '9.9.9' })
    for (const token of [undefined, await apiToken()]) {
      const plain = await publish(t, file, token)
      const trusting = await publish(t, file, token, `?trust=${own.fingerprint}`)
      expect([plain.statusCode, trusting.statusCode].every((status) => status >= 400)).toBe(true)
      if (token === undefined) {
        expect(plain.json().code).toBe(code)
        expect(plain.json().detail).toContain(own.fingerprint)
        expect(trusting.json().code).toBe('release_key_not_over_http')
      }
    }
    expect((await list()).data).toEqual([])
    const agent = await enrolAgent(t)
    expect(agent.releaseKey).toBeUndefined()
    expect((await update(agent)).statusCode).toBe(409)
    expect(await commandsOf(agent)).toEqual([])
    const bulk = { uuids: [agent.agentId], action: 'update' }
    expect((await (await t.admin()).post('/prime/webui/agents/bulk', bulk)).json().accepted ?? 0).toBe(0)
    expect(await commandsOf(agent)).toEqual([])
  })

  it('a build and a key that were written into the database reach no host', async () => {
    await start({ releaseKey: configured(ours) })
    await pin(own)
    const { sha256 } = await insert(own, '9.9.9')
    const agent = await enrolAgent(t)
    expect(agent.releaseKey).toBeUndefined()
    expect(await list()).toMatchObject({
      releaseKey: { fingerprint: ours.fingerprint },
      formerlyPinned: { fingerprint: own.fingerprint, pinnedBy: 'admin' },
      data: [{ version: '9.9.9', state: 'Untrusted', isNewest: false, releaseKey: own.fingerprint }],
    })
    expect((await update(agent)).statusCode).toBe(409)
    const got = await fetch(`${t.address}${agentPaths.packages}/${sha256}`, {
      headers: { authorization: `Bearer ${agent.state.session}` },
    })
    expect(got.status).toBe(404)
    // It does not occupy a version: our version may be the same or lower.
    expect((await publish(t, packageFile(ours, { version: '1.5.0' }))).statusCode).toBe(200)
    expect((await publish(t, packageFile(ours, { version: '9.9.9' }))).json()).toMatchObject({
      state: 'Published',
      isNewest: true,
      releaseKey: ours.fingerprint,
    })
  })

  it('a rollout that was changed in the database halts before it sends a foreign build', async () => {
    await start({ releaseKey: configured(ours) })
    const rollouts = rolloutsOf(t)
    await publish(t, packageFile(ours, { version: '1.2.0' }))
    const [agent] = await rollouts.hosts(1, 'x', { agentVersion: '1.0.0' })
    const { id } = await rollouts.start({ kind: 'update', rings: [{ name: 'all', sharePercent: 100 }] })
    const build = await insert(own, '9.9.9')
    const foreign = { x64: { ...build, releaseKey: own.text, releaseSignature: build.signature } }
    await t.db.execute(
      sql`update rollouts set builds = ${JSON.stringify(foreign)}::jsonb where rollout_id = ${id}::uuid`,
    )
    const halted = await rollouts.advance(id)
    expect(halted.state).toBe('halted')
    expect(halted.reason).toContain('not signed by the release key of this server')
    expect((await take(agent as TestAgent)).filter((c) => c.kind === 'update' && c.version === '9.9.9')).toEqual([])
    expect(ring(halted, 0).done ?? 0).toBe(0)
  })
})

describe('rotations', () => {
  const rotated = configured(ours, [rotationOf(ours, next, 1), rotationOf(next, last, 2)])

  it('trust only the newest key, and update commands contain all of them', async () => {
    await start({ releaseKey: rotated })
    expect((await list()).releaseKey).toMatchObject({
      fingerprint: last.fingerprint,
      sequence: 2,
      rotatedAt: '2031-05-04T10:11:02.000Z',
      earlier: [next.fingerprint, ours.fingerprint],
    })
    for (const old of [ours, next])
      expect((await publish(t, packageFile(old, { version: '1.5.0' }))).json().code).toBe('package_key_refused')
    await publish(t, packageFile(last, { version: '2.0.0' }))
    const agent = await enrolAgent(t)
    await update(agent)
    expect(await commandsOf(agent)).toMatchObject([
      { kind: 'update', releaseKey: last.text, rotations: rotated.file.rotations },
    ])
  })

  it('a build of an earlier key is kept but not offered, and can be signed again', async () => {
    await start({ releaseKey: rotated })
    await insert(ours, '1.4.0')
    expect((await list()).data).toMatchObject([{ version: '1.4.0', state: 'Untrusted' }])
    expect((await publish(t, packageFile(last, { version: '1.4.0' }))).json().state).toBe('Published')
  })
})

describe('the reported release key of hosts', () => {
  it('is counted by key and found in the list of hosts', async () => {
    await start({ releaseKey: configured(ours, [rotationOf(ours, next, 1)]) })
    const reported = [next.fingerprint, next.fingerprint, ours.fingerprint, own.fingerprint, '']
    for (const releaseKey of reported) await enrolAgent(t, { facts: { releaseKey } })
    const old = await enrolAgent(t)
    const short = ({ fingerprint }: ReleaseKeyPair) => fingerprint.slice(0, 16)
    expect((await list()).hosts).toEqual(
      expect.arrayContaining([
        { releaseKey: short(next), state: 'Current', hosts: 2 },
        { releaseKey: short(ours), state: 'Earlier', hosts: 1 },
        { releaseKey: short(own), state: 'Foreign', hosts: 1 },
        { releaseKey: 'none', state: 'None', hosts: 1 },
        { releaseKey: 'unreported', state: 'Unreported', hosts: 1 },
      ]),
    )
    const { data } = await pageOf<{ uuid: string }>(t, 'agents?ReleaseKey=unreported')
    expect(data.map(({ uuid }) => uuid)).toEqual([old.agentId])
    const detail = await (await t.admin()).get(`/prime/webui/agents/agent/${old.agentId}`)
    expect(detail.json().facts.releaseKey).toBeUndefined()
  })

  it('a refused foreign build is a critical event', async () => {
    await start()
    const agent = await enrolAgent(t)
    await agent.checkIn({ errors: [{ at: 1, code: 'update_refused', message: `signed by ${own.fingerprint}` }] })
    const { data } = await pageOf<{ severity: number; details: string }>(t, 'events/getevents?minimumSeverity=critical')
    expect(data).toMatchObject([{ severity: 2, details: `signed by ${own.fingerprint}` }])
  })

  it('enrolment answers contain no release key', async () => {
    await start({ releaseKey: configured(ours) })
    const { releaseKey } = await enrolAgent(t)
    expect(releaseKey).toBeUndefined()
    expect((await agentPost(t, agentPaths.enrol, { token: 'x' })).status).toBe(400)
  })
})

describe('the release key of a server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-release-key-'))
  const at = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const file = releaseKeyFileOf(ours, [rotationOf(ours, next, 1)])
  afterEach(() => void 0)

  it('is read from the named file, or else from its agent build', async () => {
    await start()
    const manifest = at('manifest.json', JSON.stringify({ version: '1.0.0', releaseKey: file, files: [] }))
    const named = at('release-key.pub', formatReleaseKeyFile(releaseKeyFileOf(own)))
    expect(loadReleaseKey(named, manifest)).toEqual({
      ...{ source: 'file', where: named, file: releaseKeyFileOf(own) },
      // An installed release keeps the key that it was built with, whatever the server is configured with.
      isInBuild: false,
    })
    const same = at('same.pub', formatReleaseKeyFile(file))
    expect(loadReleaseKey(same, manifest)).toMatchObject({ source: 'file', isInBuild: true })
    expect(loadReleaseKey(same, join(folder, 'nothing'))).toMatchObject({ isInBuild: false })
    expect(loadReleaseKey(null, manifest)).toMatchObject({ source: 'build', file })
    const keyless = at('keyless.json', JSON.stringify({ version: '1.0.0', releaseKey: null, files: [] }))
    expect(loadReleaseKey(null, keyless)).toBeNull()
    expect(loadReleaseKey(null, join(folder, 'nothing'))).toBeNull()
    expect(() => loadReleaseKey(join(folder, 'nothing'), manifest)).toThrow(/PORTCULLIS_RELEASE_KEY_FILE names/)
    expect(() => loadReleaseKey(at('odd', 'odd'), manifest)).toThrow(/cannot be used/)
    rmSync(folder, { recursive: true })
  })
})
