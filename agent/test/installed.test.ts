import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard, releaseKeyFileOf, releaseKeyPair } from '@portcullis/domain/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { keepSigned, removeInstalled, type Selection, selectExecutable } from '../src/update/installed.ts'
import { createUpdateRecord } from '../src/update/record.ts'
import { startHost } from './enforcing.ts'
import { temporaryDir, until } from './harness.ts'
import { script, signedBuild } from './release-keys.ts'

const release = releaseKeyPair()
const builtInKey = releaseKeyFileOf(release)

/** Starts a host of a package with version 1.0.0, whose updates go to a folder that does not exist yet. */
const setUp = async (stale?: Buffer) => {
  const executable = join(temporaryDir(), 'versions', 'portcullis-agent')
  if (stale !== undefined) {
    mkdirSync(dirname(executable))
    writeFileSync(executable, stale)
  }
  const devices = [plainKeyboard({ portPath: '1-1' })]
  const args = ['--executable', executable, '--launcher', '/nowhere/launcher']
  const host = await startHost({ version: '1.0.0', devices, builtInKey, args })
  const bytes = script('1.1.0')
  host.peer.packages.set(createHash('sha256').update(bytes).digest('hex'), bytes)
  const swap = async () => {
    const id = host.peer.order('update', signedBuild(release, bytes, '1.1.0'))
    expect(await host.ended()).toBeUndefined()
    return id
  }
  const select = (change: Partial<Selection> = {}) =>
    selectExecutable({
      ...{ executable, packaged: '/usr/lib/agent', version: '1.0.0', architecture: process.arch },
      trusted: [release.text],
      unproven: undefined,
      ...change,
    })
  const ackOf = (id: string) => host.peer.seen.acks.find((ack) => ack.commandId === id)
  return { host, executable, bytes, swap, select, ackOf }
}

describe('an update of an agent from a package', () => {
  it('is stored beside the version of the package, and selected as soon as it is installed', async () => {
    const { host, executable, bytes, swap, select, ackOf } = await setUp()
    const id = await swap()
    expect(readFileSync(executable)).toEqual(bytes)
    expect(existsSync(`${executable}.previous`)).toBe(false)
    expect(select()).toBe(executable)
    // The new version did not reach the server yet, so the version of the package restores the defaults after it.
    const unproven = createUpdateRecord(host.stateDir).load()
    expect(unproven).toMatchObject({ state: 'swapped', hasPrevious: false })
    expect(select({ unproven })).toBe('/usr/lib/agent')
    host.begin('1.1.0')
    await until('confirmed', () => ackOf(id) !== undefined)
    expect(ackOf(id)).toMatchObject({ outcome: 'confirmed' })
    expect(select()).toBe(executable)
  })

  it('is rolled back to the version of the package, and leaves no files behind', async () => {
    const { host, executable, swap, select, ackOf } = await setUp()
    const id = await swap()
    host.peer.fail(agentPaths.session, ...Array.from({ length: 10_000 }, () => ({ kind: 'reset' as const })))
    for (let start = 0; start < 3; start++) {
      host.begin('1.1.0')
      await until('counted', () => readFileSync(host.path('update.json'), 'utf8').includes(`"starts":${start + 1}`))
      await host.stop()
    }
    host.begin('1.1.0')
    await host.ended()
    expect(select()).toBe('/usr/lib/agent')
    host.peer.clearFaults()
    host.begin('1.0.0')
    await until('failed', () => ackOf(id) !== undefined)
    expect(ackOf(id)).toMatchObject({ outcome: 'failed', message: expect.stringContaining('never reached the server') })
    const left = [executable, `${executable}.previous`, `${executable}.signed`, host.path('update.json')]
    expect(left.filter(existsSync)).toEqual([])
  })

  it('is removed when the version of the package runs, because it is older or damaged', async () => {
    const { executable } = await setUp(script('0.9.0'))
    expect(existsSync(executable)).toBe(false)
  })
})

describe('the selected version', () => {
  let executable = ''
  beforeEach(() => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-agent-'))
    executable = join(dir, 'portcullis-agent')
    return () => rmSync(dir, { recursive: true })
  })
  const signed = (version: string, change: Record<string, unknown> = {}, key = release) => {
    removeInstalled(executable)
    const bytes = script(version)
    writeFileSync(executable, bytes)
    keepSigned(executable, signedBuild(key, bytes, version, change))
  }
  const select = (change: Partial<Selection> = {}) =>
    selectExecutable({
      ...{ executable, packaged: 'packaged', version: '1.0.0', architecture: process.arch },
      trusted: [release.text],
      unproven: undefined,
      ...change,
    })

  it('is the newer one of a release key that this host trusts or trusted', () => {
    signed('1.1.0')
    expect(select()).toBe(executable)
    expect(select({ trusted: [release.text, releaseKeyPair().text] })).toBe(executable)
  })

  it.each<[string, () => void, Partial<Selection>?]>([
    ['missing', () => removeInstalled(executable)],
    ['not signed', () => writeFileSync(executable, script('1.2.0'))],
    ['of another key', () => signed('1.1.0', {}, releaseKeyPair())],
    ['of a host without a release key', () => signed('1.1.0'), { trusted: [] }],
    ['for another processor', () => signed('1.1.0', { architecture: 'mips' })],
    ['as old as the package', () => signed('1.0.0')],
    ['older than the package', () => signed('1.1.0'), { version: '1.2.0' }],
    [
      'damaged',
      () => {
        signed('1.1.0')
        writeFileSync(executable, Buffer.concat([readFileSync(executable), Buffer.from('#')]))
      },
    ],
    [
      'claimed to be newer than it was signed',
      () => {
        signed('0.9.0')
        const text = readFileSync(`${executable}.signed`, 'utf8')
        writeFileSync(`${executable}.signed`, text.replace('0.9.0', '1.9.0'))
      },
    ],
  ])('is the one of the package if the other is %s', (_, prepare, change) => {
    prepare()
    expect(select(change)).toBe('packaged')
  })
})
