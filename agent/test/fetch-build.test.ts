import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentLimits, agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { releaseKeyFileOf, releaseKeyPair, rotationOf } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { Unusable } from '../src/server-calls.ts'
import { checkBuild, ForeignBuild, fetchBuild } from '../src/update/fetch-build.ts'
import { builtInReleaseKey, createReleaseKey, ReleaseKeyMissing } from '../src/update/release-key.ts'
import { script, signedBuild } from './release-keys.ts'
import { temporaryDir } from './temporary-dir.ts'

const [k1, k2, k3, foreign] = [releaseKeyPair(), releaseKeyPair(), releaseKeyPair(), releaseKeyPair()]
const toK2 = rotationOf(k1, k2, 1)
const toK3 = rotationOf(k2, k3, 2)
const signal = new AbortController().signal
type Build = Parameters<typeof checkBuild>[0]
const buildOf = (version = '1.1.0', change: Record<string, unknown> = {}, key = k1): Build => ({
  ...signedBuild(key, script(version), version, change),
  rotations: [],
})

describe('a build', () => {
  const running = { version: '1.0.0', architecture: process.arch, releaseKey: k1.text }

  it('is accepted if the release key of the host signed it and it is newer', () => {
    expect(checkBuild(buildOf(), running)).toBeUndefined()
    expect(checkBuild(buildOf('1.1.0', { size: agentLimits.packageBytes }), running)).toBeUndefined()
  })

  it('of another release key is a foreign build', () => {
    expect(() => checkBuild(buildOf('1.1.0', {}, foreign), running)).toThrow(ForeignBuild)
    expect(() => checkBuild(buildOf('1.1.0', {}, foreign), running)).toThrow(
      `The release key of the build (${foreign.fingerprint}) is not the one that this host trusts (${k1.fingerprint}).`,
    )
  })

  it('whose signature does not verify is a foreign build', () => {
    const forged = { ...buildOf(), releaseSignature: buildOf('1.1.0', {}, foreign).releaseSignature }
    expect(() => checkBuild(forged, running)).toThrow(ForeignBuild)
    expect(() => checkBuild({ ...buildOf(), version: '1.1.1' }, running)).toThrow(
      'The release signature of the build does not verify.',
    )
  })

  it.each<[string, Build, string]>([
    [
      'for another architecture',
      buildOf('1.1.0', { architecture: 'vax' }),
      `The build is for vax, but this host is ${process.arch}.`,
    ],
    ['of the same version', buildOf('1.0.0'), 'Version 1.0.0 is not newer than the running version 1.0.0.'],
    ['without bytes', buildOf('1.1.0', { size: 0 }), `The build has 0 bytes. The limit is 268435456 bytes.`],
    [
      'that is too large',
      buildOf('1.1.0', { size: 268_435_457 }),
      `The build has 268435457 bytes. The limit is 268435456 bytes.`,
    ],
  ])('%s is refused', (_, build, reason) => {
    expect(() => checkBuild(build, running)).toThrow(new Error(reason))
  })
})

describe('a download', () => {
  const setUp = () => {
    const dir = temporaryDir()
    const like = join(dir, 'current')
    writeFileSync(like, '', { mode: 0o750 })
    return { target: join(dir, 'next'), like }
  }
  const serve = (...chunks: Buffer[]) => {
    const asked: unknown[] = []
    return {
      asked,
      download: async (path: string, token: string, take: (chunk: Buffer) => void) => {
        asked.push([path, token])
        for (const chunk of chunks) take(chunk)
      },
    }
  }

  it('becomes a program with the mode of the current one', async () => {
    const { target, like } = setUp()
    writeFileSync(target, 'left over')
    const bytes = script('1.1.0')
    const transport = serve(bytes.subarray(0, 5), bytes.subarray(5))
    const build = buildOf()
    await fetchBuild(transport, build, { target, like }, 'token', signal)
    expect(transport.asked).toEqual([[`${agentPaths.packages}/${build.sha256}`, 'token']])
    expect(readFileSync(target)).toEqual(bytes)
    expect(statSync(target).mode & 0o777).toBe(0o750)
  })

  it('is run by an interpreter if it is a script', async () => {
    const { target, like } = setUp()
    writeFileSync(like, '', { mode: 0o640 })
    const bytes = Buffer.from('console.log("1.1.0")')
    const build = { ...signedBuild(k1, bytes, '1.1.0'), rotations: [] }
    await fetchBuild(serve(bytes), build, { target, like, interpreter: process.execPath }, 'token', signal)
    expect(existsSync(target)).toBe(true)
  })

  it.each<[string, Buffer[], Build, string]>([
    [
      'that is longer',
      [script('1.1.0'), Buffer.from('x')],
      buildOf(),
      `The download is longer than the expected ${script('1.1.0').length} bytes.`,
    ],
    [
      'that is shorter',
      [script('1.1.0').subarray(1)],
      buildOf(),
      'The size or digest of the download does not match the update command.',
    ],
    [
      'with other bytes',
      [script('1.1.1')],
      buildOf(),
      'The size or digest of the download does not match the update command.',
    ],
    [
      'of the right digest and another size',
      [script('1.1.0')],
      { ...buildOf(), size: 100 },
      'The size or digest of the download does not match the update command.',
    ],
    [
      'that reports another version',
      [script('1.1.0')],
      { ...buildOf(), version: '2.0.0' },
      'The build reports version 1.1.0 instead of 2.0.0.',
    ],
  ])('%s is removed', async (_, chunks, build, reason) => {
    const { target, like } = setUp()
    writeFileSync(like, '')
    const files = { target, like }
    await expect(fetchBuild(serve(...chunks), build, files, 'token', signal)).rejects.toThrow(new Unusable(reason))
    expect(existsSync(target)).toBe(false)
  })

  it.each([
    ['prints why', '#!/bin/sh\necho "  no luck  " >&2\nexit 3\n', 'no luck'],
    ['prints nothing', '#!/bin/sh\nexit 3\n', 'exit 3'],
    ['is killed', '#!/bin/sh\nkill -9 $$\n', 'exit SIGKILL'],
  ])('of a build that does not run and %s is removed', async (_, text, reason) => {
    const { target, like } = setUp()
    const bytes = Buffer.from(text)
    const build = { ...signedBuild(k1, bytes, '1.1.0'), rotations: [] }
    const done = fetchBuild(serve(bytes), build, { target, like }, 'token', signal)
    await expect(done).rejects.toThrow(new Unusable(`The build does not run on this host: ${reason}.`))
    expect(existsSync(target)).toBe(false)
  })

  it('of something that cannot be run is removed', async () => {
    const { target, like } = setUp()
    chmodSync(like, 0o640)
    const done = fetchBuild(serve(script('1.1.0')), buildOf(), { target, like }, 'token', signal)
    await expect(done).rejects.toThrow(/does not run on this host: spawnSync .* EACCES/)
  })

  it('that breaks off is removed', async () => {
    const { target, like } = setUp()
    const transport = { download: () => Promise.reject(new Error('reset')) }
    await expect(fetchBuild(transport, buildOf(), { target, like }, 'token', signal)).rejects.toThrow('reset')
    expect(existsSync(target)).toBe(false)
  })
})

describe('the release key of a host', () => {
  const path = (stateDir: string) => join(stateDir, 'release-key.json')
  const stored = (stateDir: string) => JSON.parse(readFileSync(path(stateDir), 'utf8'))

  it('follows rotations from the built-in key and stores them', () => {
    const stateDir = temporaryDir()
    const create = () => createReleaseKey({ builtIn: releaseKeyFileOf(k1), stateDir })
    expect(create().follow([])).toEqual({ releaseKey: k1.text, sequence: 0, isNew: false })
    expect(existsSync(path(stateDir))).toBe(false)
    expect(create().follow([toK2])).toEqual({ releaseKey: k2.text, sequence: 1, isNew: true })
    expect(create().follow([toK2])).toEqual({ releaseKey: k2.text, sequence: 1, isNew: false })
    expect(create().follow([rotationOf(k1, foreign, 5)])).toMatchObject({ releaseKey: k2.text, isNew: false })
    expect(create().follow([toK3])).toEqual({ releaseKey: k3.text, sequence: 2, isNew: true })
    expect(stored(stateDir)).toEqual([toK2, toK3])
    expect(create().known()).toBe(k3.text)
    expect(create().trusted()).toEqual([k1.text, k2.text, k3.text])
  })

  it('continues after the rotations of the build', () => {
    const stateDir = temporaryDir()
    const release = createReleaseKey({ builtIn: releaseKeyFileOf(k1, [toK2]), stateDir })
    expect(release.known()).toBe(k2.text)
    release.keepBuiltIn()
    release.keepBuiltIn()
    expect(stored(stateDir)).toEqual([toK2])
    expect(release.follow([toK3]).releaseKey).toBe(k3.text)
    release.keepBuiltIn()
    expect(stored(stateDir)).toEqual([toK2, toK3])
    expect(release.trusted()).toEqual([k1.text, k2.text, k3.text])
  })

  it('is missing if the build has none', () => {
    const stateDir = temporaryDir()
    const release = createReleaseKey({ builtIn: undefined, stateDir })
    release.keepBuiltIn()
    expect(existsSync(path(stateDir))).toBe(false)
    expect([release.known(), release.trusted(), builtInReleaseKey()]).toEqual([undefined, [], undefined])
    expect(() => release.follow([])).toThrow(ReleaseKeyMissing)
    expect(() => release.follow([])).toThrow(
      'This agent was built without a release key, so it installs no updates. Install an agent that was built with one.',
    )
  })

  it.each<[string, string]>([
    ['an empty file', ''],
    ['an object', '{"length":0}'],
    ['a list of something else', '[1]'],
    ['a list with something else', JSON.stringify([toK2, {}])],
    ['too many', JSON.stringify(Array(1_001).fill(toK2))],
  ])('is unknown if %s is stored', (_, text) => {
    const stateDir = temporaryDir()
    writeFileSync(path(stateDir), text)
    const release = createReleaseKey({ builtIn: releaseKeyFileOf(k1), stateDir })
    expect([release.known(), release.trusted()]).toEqual([undefined, []])
    expect(() => release.follow([])).toThrow(
      new ReleaseKeyMissing(
        `The file ${path(stateDir)} is damaged, so the release key of this host is unknown. Install the agent again.`,
      ),
    )
  })

  it('is known with a thousand stored rotations', () => {
    const stateDir = temporaryDir()
    writeFileSync(path(stateDir), JSON.stringify(Array(1_000).fill(toK2)))
    expect(createReleaseKey({ builtIn: releaseKeyFileOf(k1), stateDir }).known()).toBe(k2.text)
  })
})
