import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { followCommandKeys, isSignedBy, isSignedRevocation, publicKeyHash } from '@portcullis/domain'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { compareKeyFiles, loadKeys } from '@portcullis/platform/server/keys.ts'
import { createFakeClock, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken } from '@portcullis/server/test/builders.ts'
import { codeCache } from '@portcullis/server/test/code-cache.ts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  type AgentRevocation,
  agentPaths,
  type CommandKeyOverview,
  type CommandKeyRotation,
  commandKeyHeader,
  type Problem,
  type SessionResponse,
  type SignedText,
} from '#features/contract.ts'

let t: TestApp
beforeAll(async () => {
  // The command uses the clock of the machine for a rotation.
  t = await startTestApp({ listen: true, clock: createFakeClock(Date.now()) })
})
afterAll(() => t.close())

const entry = new URL('../../../server/src/entry/command-key.ts', import.meta.url).pathname
/** Runs the command on the server's machine beside the running server. */
const commandKey = async (...args: string[]) => {
  const { host, port, user } = inject('postgres')
  const url = new URL(`postgres://${user}@localhost:${port}/${t.database}`)
  url.searchParams.set('host', String(host))
  const { stdout } = await promisify(execFile)(process.execPath, [entry, ...args, '--json'], {
    env: {
      ...codeCache,
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '/',
      DATABASE_URL: url.href,
      PORTCULLIS_KEY_FILE: join(t.keyDir, 'key'),
    },
  })
  return JSON.parse(stdout) as { keys: { number: number; fingerprint: string; isRetired: boolean }[] }
}

/** Enrols with a new token, because some tests advance the clock by days. */
const enrol = async () => enrolAgent(t, { token: await enrolmentToken(t) })
type TestAgent = Awaited<ReturnType<typeof enrolAgent>>
const keys = () => loadKeys(join(t.keyDir, 'key')).command
const post = async <T>(path: string, body: unknown, headers: Record<string, string>) => {
  const response = await fetch(`${t.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as T }
}
/** Opens a session as an agent that supports rotations and holds a key. */
const follow = async (agent: TestAgent, key: string) => {
  const { body } = await post<SessionResponse>(agentPaths.session, agent.proven(agent.state.bootId), {
    [commandKeyHeader]: publicKeyHash(key),
  })
  agent.state.session = body.token
  agent.state.seq = body.nextSeq - 1
  return body
}
const policyOf = async (agent: TestAgent): Promise<SignedText> =>
  (
    await post<SignedText>(
      agentPaths.policy,
      { nonce: 'n'.repeat(24) },
      { authorization: `Bearer ${agent.state.session}` },
    )
  ).body
const collect = (agent: TestAgent) =>
  t.db.transaction((tx) =>
    t.server.commands.queue(tx, { userName: 'test' }, [
      { agentId: agent.agentId, kind: 'collect-logs', body: {}, title: 'Collect logs' },
    ]),
  )
const signerOf = ({ payload, signature }: SignedText): number | undefined =>
  keys()
    .list()
    .find(({ publicKey }) => isSignedBy(publicKey, payload, signature))?.number
const signers = async (agent: TestAgent) => ((await agent.checkIn()).commands ?? []).map(signerOf)
const revokedOf = async (agent: TestAgent) =>
  (await post<Problem>(agentPaths.session, agent.proven(agent.state.bootId), {})).body
const overview = async () =>
  (await (await t.admin()).get('/prime/webui/agents/commandkeys')).json() as CommandKeyOverview

describe('rotation of the command key', () => {
  it('works beside a running server, which signs for each host with the key that the host holds', async () => {
    const first = keys().newest()
    const [modern, old] = [await enrol(), await enrol()]
    await follow(modern, first.publicKey)
    for (const agent of [modern, old]) await collect(agent)
    expect([await signers(modern), await signers(old)]).toEqual([[0], [0]])
    const before = readFileSync(join(t.keyDir, 'key'), 'utf8')
    const made = await commandKey('rotate')
    expect(made.keys.map(({ number }) => number)).toEqual([0, 1])
    // During its session, a host gets answers signed by the key that it holds.
    expect([await signers(modern), signerOf(await policyOf(modern))]).toEqual([[0], 0])
    // The next session gives it the new key, which then signs the pending commands.
    const { commandKeys = [] } = await follow(modern, first.publicKey)
    const { after, isForged } = followCommandKeys(
      { key: first.publicKey, number: 0 },
      commandKeys as CommandKeyRotation[],
    )
    expect([after, isForged]).toEqual([[{ key: keys().newest().publicKey, number: 1 }], false])
    expect([await signers(modern), signerOf(await policyOf(modern))]).toEqual([[1], 1])
    expect((await follow(modern, keys().newest().publicKey)).commandKeys).toBeUndefined()
    // An agent without support for rotations keeps its pinned key and gets no unknown members.
    expect((await revokedOf(old)) as object).not.toHaveProperty('commandKeys')
    await old.session()
    expect([await signers(old), signerOf(await policyOf(old))]).toEqual([[0], 0])
    expect(await overview()).toMatchObject({
      keys: [
        { number: 0, state: 'Retiring', hosts: 1, hostsThatDoNotFollow: 1 },
        { number: 1, state: 'In force', hosts: 1, hostsThatDoNotFollow: 0, fingerprint: keys().newest().id },
      ],
      hostsWithUnknownKey: 0,
    })
    const trail = (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=20')).body
    expect(trail).toContain('command_key.rotated')
    const after_ = readFileSync(join(t.keyDir, 'key'), 'utf8')
    expect([compareKeyFiles(before, after_), compareKeyFiles(after_, before)]).toEqual(['older', 'same'])
  }, 60_000)

  it('a retired key signs nothing, and its private half is removed', async () => {
    const agent = await enrol()
    const held = keys().newest()
    await commandKey('rotate', '--keep-days', '1')
    await collect(agent)
    expect(await signers(agent)).toEqual([held.number])
    t.clock.advance(2 * 86_400_000)
    keys().forgetRetired(t.clock.now())
    await agent.session()
    await collect(agent)
    expect(await signers(agent)).toEqual([held.number + 1])
    const stored = JSON.parse(readFileSync(join(t.keyDir, 'key'), 'utf8')).commandKeys
    expect(stored.find(({ number }: { number: number }) => number === held.number).privateKey).toBeNull()
  }, 60_000)

  it('a stored command of a retired key is not signed again', async () => {
    const agent = await enrol()
    const held = keys().newest()
    await collect(agent)
    await commandKey('rotate', '--keep-days', '0')
    await follow(agent, held.publicKey)
    expect(await signers(agent)).toEqual([])
    await collect(agent)
    expect(await signers(agent)).toEqual([held.number + 1])
  }, 60_000)

  it('a host that missed three rotations gets all of them at once', async () => {
    const agent = await enrol()
    const held = keys().newest()
    for (let i = 0; i < 3; i++) await commandKey('rotate', '--keep-days', '0')
    const { commandKeys = [] } = await follow(agent, held.publicKey)
    const { after } = followCommandKeys({ key: held.publicKey, number: held.number }, commandKeys)
    expect(after.map(({ number }) => number)).toEqual([1, 2, 3].map((n) => held.number + n))
    await collect(agent)
    expect(await signers(agent)).toEqual([held.number + 3])
    const { commandKeys: none } = await follow(agent, 'AAAA')
    expect([none, (await overview()).hostsWithUnknownKey]).toEqual([undefined, 1])
  }, 60_000)

  it('a command that was forged or changed in the database is not signed with a later key', async () => {
    const agent = await enrol()
    const held = keys().newest()
    await follow(agent, held.publicKey)
    await collect(agent)
    await t.db.execute(
      sql`update commands c set payload = replace(c.payload, 'collect-logs', 'configure') where c.agent_id = ${agent.agentId}::uuid`,
    )
    await commandKey('rotate')
    await follow(agent, held.publicKey)
    expect((await agent.checkIn()).commands ?? []).toEqual([])
  }, 60_000)
})

describe('a deleted agent', () => {
  const remove = async (agent: TestAgent) =>
    expect((await (await t.admin()).post('/prime/webui/agents/deleteAgents', [agent.agentId])).statusCode).toBe(200)

  it('gets a statement that its server signed for this agent only', async () => {
    const [agent, other] = [await enrol(), await enrol()]
    await collect(agent)
    const { commands = [] } = await agent.checkIn()
    const { counter } = JSON.parse((commands[0] as SignedText).payload)
    for (const one of [agent, other]) await remove(one)
    const [of, ofOther] = [await revokedOf(agent), await revokedOf(other)]
    expect([of.code, ofOther.code]).toEqual(['agent_revoked', 'agent_revoked'])
    const revocation = of.revocation as AgentRevocation
    expect(isSignedRevocation(revocation, [keys().newest().publicKey])).toBe(true)
    expect(revocation.counter).toBeGreaterThan(counter)
    expect(revocation.agentId).toBe(agent.agentId)
    const publicKey = createPublicKey(agent.privateKey).export({ type: 'spki', format: 'der' })
    expect(revocation.publicKeyHash).toBe(publicKeyHash(publicKey.toString('base64')))
    expect(revocation.publicKeyHash).not.toBe((ofOther.revocation as AgentRevocation).publicKeyHash)
    // The fast path of check-ins returns the same.
    expect((JSON.parse((await agent.post(agent.body())).text) as Problem).revocation).toEqual(revocation)
    // If the signing key was rotated since, the response contains the rotations.
    await commandKey('rotate')
    expect((await revokedOf(agent)).commandKeys?.length).toBe(keys().newest().number)
    expect((await revokedOf(agent)).revocation).toEqual(revocation)
  }, 60_000)

  it('gets no statement for a forged row, or for a row older than signed revocations', async () => {
    const agent = await enrol()
    await t.db.transaction(async (tx) => {
      await tx.execute(sql`delete from agents a where a.agent_id = ${agent.agentId}::uuid`)
      await tx.execute(
        sql`insert into revoked_agents (agent_id, revoked_at, revoked_by) values (${agent.agentId}::uuid, now(), 'nobody')`,
      )
    })
    const problem = await revokedOf(agent)
    expect([problem.code, problem.revocation, problem.commandKeys]).toEqual(['agent_revoked', undefined, undefined])
    // The start of another server does not sign it either.
    const again = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    await again.close()
    expect((await revokedOf(agent)).revocation).toBeUndefined()
  }, 60_000)
})

it('a replica with the same key file uses the new key without a restart', async () => {
  const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
  try {
    const shown = async () =>
      ((await (await other.admin()).get('/prime/webui/agents/commandkeys')).json() as CommandKeyOverview).keys.at(-1)
        ?.fingerprint
    const before = keys().newest().id
    expect(await shown()).toBe(before)
    await commandKey('rotate')
    expect(await shown()).toBe(keys().newest().id)
    expect(keys().newest().id).not.toBe(before)
  } finally {
    await other.close()
  }
})
