// Invariant: A host installs only builds signed with its built-in release key or a signed successor of it, whoever
//   sends the command.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReleaseKeyRotation } from '@portcullis/contract/agent-protocol.ts'
import { formatReleaseKeyFile, parseReleaseKeyFile } from '@portcullis/domain'
import { type ReleaseKeyPair, releaseKeyFileOf, releaseKeyPair, rotationOf } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createReleaseKey } from '../src/update/release-key.ts'
import { startHost } from './enforcing.ts'
import { createTree, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'
import { bundledAgent, runAgentCommand, spawnAgent } from './processes.ts'
import { script, signedBuild } from './release-keys.ts'

const [k1, k2, k3, foreign] = [releaseKeyPair(), releaseKeyPair(), releaseKeyPair(), releaseKeyPair()]
const toK2 = rotationOf(k1, k2, 1)
const toK3 = rotationOf(k2, k3, 2)

const setUp = async (options: Parameters<typeof startHost>[0] = {}) => {
  const executable = join(temporaryDir(), 'portcullis-agent')
  writeFileSync(executable, script('1.0.0'), { mode: 0o755 })
  const host = await startHost({
    version: '1.0.0',
    builtInKey: releaseKeyFileOf(k1),
    args: ['--executable', executable],
    ...options,
  })
  /** Sends an update command signed by the server's command key. Returns true if the build was installed. */
  const update = async (key: ReleaseKeyPair, version: string, rotations?: ReleaseKeyRotation[]) => {
    const bytes = script(version)
    host.peer.packages.set(createHash('sha256').update(bytes).digest('hex'), bytes)
    const body = { ...signedBuild(key, bytes, version), ...(rotations === undefined ? {} : { rotations }) }
    const id = host.peer.order('update', body)
    const ackOf = () => host.peer.seen.acks.find((ack) => ack.commandId === id)
    let isOver = false
    void host.ended().then(() => {
      isOver = true
    })
    await until('answered or replaced', () => isOver || ackOf() !== undefined)
    const isInstalled = readFileSync(executable, 'utf8') === bytes.toString()
    if (isInstalled) {
      host.begin(version)
      await until('confirmed', () => ackOf() !== undefined)
    }
    return { isInstalled, message: ackOf()?.message ?? '' }
  }
  const factsKey = () =>
    host.peer.seen.checkIns.findLast(({ body }) => body.facts !== undefined)?.body.facts?.releaseKey
  return { host, update, executable, factsKey }
}

describe('the release key of a host', () => {
  it('a stolen command key with a foreign release key installs nothing, and is reported', async () => {
    const { host, update, executable } = await setUp()
    const { isInstalled, message } = await update(foreign, '9.9.9')
    expect(isInstalled).toBe(false)
    expect(message).toContain('is not the one that this host trusts')
    await until('reported', () => host.errors().includes('update_refused'))
    const [report] = host.peer.seen.errors.filter(({ code }) => code === 'update_refused')
    expect(report?.message).toContain(foreign.fingerprint)
    expect(existsSync(`${executable}.new`)).toBe(false)
    expect((await update(k1, '1.1.0')).isInstalled).toBe(true)
  })

  it('an agent that was built without a release key refuses every update and reports why', async () => {
    const { host, update, factsKey } = await setUp({ builtInKey: undefined, releaseKey: k1.text })
    const { isInstalled, message } = await update(k1, '9.9.9')
    expect(isInstalled).toBe(false)
    expect(message).toContain('built without a release key')
    await until('reported', () => host.errors().includes('update_without_key'))
    expect(factsKey()).toBe('')
  })

  it('a release key in the enrolment answer is ignored', async () => {
    const { host, update, factsKey } = await setUp({ releaseKey: foreign.text })
    expect((await update(foreign, '9.9.9')).isInstalled).toBe(false)
    expect(factsKey()).toBe(k1.fingerprint)
    expect(readFileSync(host.path('identity.json'), 'utf8')).not.toContain(foreign.text)
  })

  it('a release key that an earlier version pinned over HTTP is ignored', async () => {
    const { host, update } = await setUp()
    await host.stop()
    const identity = JSON.parse(readFileSync(host.path('identity.json'), 'utf8'))
    writeFileSync(host.path('identity.json'), JSON.stringify({ ...identity, releaseKey: foreign.text }))
    host.begin()
    expect((await update(foreign, '9.9.9')).isInstalled).toBe(false)
  })

  it('several rotations apply at once after a month offline, and the newest key stays after a restart', async () => {
    const { host, update, factsKey } = await setUp()
    expect((await update(k3, '1.1.0', [toK2, toK3])).isInstalled).toBe(true)
    await until('reported', () => factsKey() === k3.fingerprint)
    await host.restart()
    expect((await update(k3, '1.2.0')).isInstalled).toBe(true)
  })

  it('a former key never becomes current again, even if an old key signs a rotation to it', async () => {
    const { update } = await setUp()
    expect((await update(k3, '1.1.0', [toK2, toK3])).isInstalled).toBe(true)
    expect((await update(k1, '1.2.0')).message).toContain('is not the one that this host trusts')
    expect((await update(foreign, '1.2.0', [rotationOf(k1, foreign, 3)])).isInstalled).toBe(false)
    expect((await update(foreign, '1.2.0', [rotationOf(k3, foreign, 2)])).isInstalled).toBe(false)
    expect((await update(k3, '1.2.0', [toK2, toK3])).isInstalled).toBe(true)
  })

  it.each<[string, ReleaseKeyRotation]>([
    ['that the new key signed itself', rotationOf(k1, foreign, 1, foreign)],
    ['of another chain', rotationOf(foreign, k2, 1)],
    ['whose sequence was changed', { ...rotationOf(k1, foreign, 1), sequence: 2 }],
    ['whose key was changed', { ...toK2, releaseKey: foreign.text }],
    ['whose date was changed', { ...rotationOf(k1, foreign, 1), rotatedAt: '2041-05-04T10:11:12.000Z' }],
  ])('a rotation %s is refused', async (_, statement) => {
    const { host, update } = await setUp()
    expect((await update(foreign, '9.9.9', [statement])).isInstalled).toBe(false)
    expect(existsSync(host.path('release-key.json'))).toBe(false)
  })

  it('a rotation is accepted durably even when its build is refused', async () => {
    const { host, update } = await setUp()
    expect((await update(k2, '0.9.0', [toK2])).message).toContain('not newer')
    await host.restart()
    expect((await update(k1, '1.1.0')).isInstalled).toBe(false)
    expect((await update(k2, '1.1.0')).isInstalled).toBe(true)
  })
})

describe('what was built in and what was stored', () => {
  const known = (builtIn: ReleaseKeyPair, rotations: ReleaseKeyRotation[], stored: ReleaseKeyRotation[]) => {
    const stateDir = temporaryDir()
    writeFileSync(join(stateDir, 'release-key.json'), JSON.stringify(stored))
    return createReleaseKey({ builtIn: releaseKeyFileOf(builtIn, rotations), stateDir }).known()
  }

  it.each<[string, ReleaseKeyPair, ReleaseKeyRotation[], ReleaseKeyRotation[], ReleaseKeyPair]>([
    ['the stored key is newer', k1, [], [toK2, toK3], k3],
    ['the built-in key is newer', k1, [toK2, toK3], [toK2], k3],
    ['the build names only the newest key', k3, [], [toK2], k3],
    ['the build names a key in the middle', k2, [], [toK2, toK3], k3],
    ['the build has a key of another chain', foreign, [], [toK2, toK3], foreign],
  ])('%s', (_, builtIn, rotations, stored, expected) => {
    expect(known(builtIn, rotations, stored)).toBe(expected.text)
  })

  it('rotations of a build stay: an older build continues with the newest key', () => {
    const stateDir = temporaryDir()
    createReleaseKey({ builtIn: releaseKeyFileOf(k1, [toK2, toK3]), stateDir }).keepBuiltIn()
    expect(createReleaseKey({ builtIn: releaseKeyFileOf(k1), stateDir }).known()).toBe(k3.text)
  })

  it('a damaged file does not count as empty', () => {
    const stateDir = temporaryDir()
    for (const text of ['', '{}', '[1]', JSON.stringify([{ ...toK2, sequence: 0 }])]) {
      writeFileSync(join(stateDir, 'release-key.json'), text)
      expect(createReleaseKey({ builtIn: releaseKeyFileOf(k1), stateDir }).known()).toBeUndefined()
    }
  })
})

describe('a public release key file', () => {
  it('is parsed as it was written', () => {
    const file = releaseKeyFileOf(k1, [toK2, toK3])
    expect(parseReleaseKeyFile(formatReleaseKeyFile(file))).toEqual(file)
  })

  it.each<[string, string, RegExp]>([
    ['an empty file', '', /not a public release key file/],
    ['another JSON file', '{}', /not a public release key file/],
    ['a private key', k1.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), /private key/],
    ['a key of another kind', formatReleaseKeyFile({ releaseKey: 'AAAA', rotations: [] }), /not an Ed25519/],
    ['a broken chain', formatReleaseKeyFile(releaseKeyFileOf(k1, [toK3])), /not signed by the previous key/],
    [
      'a forged rotation',
      formatReleaseKeyFile(releaseKeyFileOf(k1, [rotationOf(k1, foreign, 1, foreign)])),
      /not signed by the previous key/,
    ],
    [
      'a sequence that repeats',
      formatReleaseKeyFile(releaseKeyFileOf(k1, [toK2, rotationOf(k2, k3, 1)])),
      /does not increase/,
    ],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parseReleaseKeyFile(text)).toThrow(reason)
  })
})

describe('the built agent', { timeout: 90_000 }, () => {
  const start = async (key: ReturnType<typeof releaseKeyFileOf> | null) => {
    const peer = await startPeer({ nextCheckInSeconds: 0.2 })
    onTestFinished(() => peer.stop())
    const executable = join(temporaryDir(), 'portcullis-agent')
    writeFileSync(executable, script('0.0.1'), { mode: 0o755 })
    const where = ['--state-dir', temporaryDir(), '--sysfs-root', createTree().root, '--executable', executable]
    const program = bundledAgent(key)
    spawnAgent(['--server', peer.url, '--token', peer.token, ...where], {}, { program })
    await until('first check-in', () => peer.seen.checkIns.length > 0, 30_000)
    return { peer, executable, where, program }
  }

  it('refuses a build of a foreign key, and shows its own key', async () => {
    const { peer, executable, where, program } = await start(releaseKeyFileOf(k1))
    expect(peer.seen.checkIns[0]?.body.facts?.releaseKey).toBe(k1.fingerprint)
    expect(runAgentCommand(['status', ...where], program).output).toContain(k1.fingerprint)
    const bytes = script('99.0.0')
    const build = signedBuild(foreign, bytes, '99.0.0')
    peer.packages.set(build.sha256, bytes)
    peer.order('update', build)
    await until('answered', () => peer.seen.acks.length > 0, 30_000)
    expect(peer.seen.acks[0]).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('is not the one that this host trusts'),
    })
    expect(readFileSync(executable, 'utf8')).toBe(script('0.0.1').toString())
  })

  it('refuses every build if it was built without a key', async () => {
    const { peer, executable } = await start(null)
    const bytes = script('99.0.0')
    const build = signedBuild(k1, bytes, '99.0.0')
    peer.packages.set(build.sha256, bytes)
    peer.order('update', build)
    await until('answered', () => peer.seen.acks.length > 0, 30_000)
    expect(peer.seen.acks[0]?.message).toContain('built without a release key')
    expect(readFileSync(executable, 'utf8')).toBe(script('0.0.1').toString())
  })
})
