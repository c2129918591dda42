import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mustExist } from '@portcullis/domain'
import { releaseKeyPair } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type LauncherDeps, launchNewest, updatedScript } from '../src/platform/windows/launcher.ts'
import { keepSigned } from '../src/update/installed.ts'
import { createUpdateRecord, MAX_STARTS, swapIn } from '../src/update/record.ts'
import { temporaryDir } from './harness.ts'
import { signedBuild } from './release-keys.ts'

const release = releaseKeyPair()
const ARCHITECTURE = 'windows-x64'
/** A version that reports that it ran, and whether it would start another one. */
const WORKS = `globalThis.launchedVersions = [...(globalThis.launchedVersions ?? []), __filename]`
const BROKEN = 'this is not JavaScript'

const ran = (): string[] => (globalThis as { launchedVersions?: string[] }).launchedVersions ?? []

const setUp = (change: Partial<LauncherDeps> = {}) => {
  const stateDir = temporaryDir()
  const script = updatedScript(stateDir)
  const record = createUpdateRecord(stateDir)
  const failures: string[] = []
  const [, before = ''] = process.argv
  onTestFinished(() => {
    process.argv[1] = before
    const globals = globalThis as Record<string | symbol, unknown>
    delete globals.launchedVersions
    delete globals[Symbol.for('portcullis.agent.launched')]
  })
  const deps: LauncherDeps = {
    ...{ stateDir, packaged: join(stateDir, 'agent.cjs'), version: '1.0.0', architecture: ARCHITECTURE },
    trusted: [release.text],
    prepareStateDir: () => undefined,
    onFailure: (message) => failures.push(message),
    ...change,
  }
  /** Installs a version as the updater does. */
  const install = (version: string, source: string, isProven = false, architecture = ARCHITECTURE) => {
    mkdirSync(dirname(script), { recursive: true })
    const bytes = Buffer.from(source)
    writeFileSync(`${script}.new`, bytes)
    keepSigned(script, signedBuild(release, bytes, version, { architecture }))
    const hasPrevious = existsSync(script)
    if (!isProven)
      record.save({
        ...{ commandId: 'c', from: '1.0.0', to: version, executable: script, state: 'swapped', hasPrevious },
        ...{ starts: 0, ends: 0, failure: '' },
      })
    swapIn(script, `${script}.new`, hasPrevious)
  }
  return { stateDir, script, record, failures, install, launch: () => launchNewest(deps) }
}

describe('the launcher of Windows', () => {
  it('runs the version of the package without an update', () => {
    const { launch, failures } = setUp()
    expect([launch(), failures, ran()]).toEqual([false, [], []])
  })

  it('loads a verified update once, and not again from the update', () => {
    const { launch, install, script } = setUp()
    install('1.1.0', WORKS)
    expect(launch()).toBe(true)
    expect([ran(), process.argv[1]]).toEqual([[script], script])
    expect(launch()).toBe(false)
  })

  it('loads an update whatever other users write into the parent folder', () => {
    const { launch, install, stateDir, failures } = setUp()
    install('1.1.0', WORKS)
    writeFileSync(join(stateDir, 'package.json'), 'this is not JSON')
    expect([launch(), failures]).toEqual([true, []])
  })

  it('does not load a changed script', () => {
    const { launch, install, script } = setUp()
    install('1.1.0', WORKS)
    writeFileSync(script, `${WORKS}\n`)
    expect([launch(), ran()]).toEqual([false, []])
  })

  it('does not load a build that was signed for Linux', () => {
    const { launch, install } = setUp()
    install('1.1.0', WORKS, true, 'x64')
    expect([launch(), ran()]).toEqual([false, []])
  })

  it('neither loads an update from a directory that other users can change, nor rolls it back', () => {
    const { launch, install, failures, record, stateDir } = setUp({
      prepareStateDir: () => {
        throw new Error('another user created it')
      },
    })
    install('1.1.0', WORKS)
    const victim = join(stateDir, 'victim')
    writeFileSync(victim, '')
    record.save({ ...mustExist(record.load(), 'a record'), executable: victim, hasPrevious: false })
    expect([launch(), ran()]).toEqual([false, []])
    expect(failures).toEqual([expect.stringContaining('another user created it')])
    expect(existsSync(victim)).toBe(true)
  })

  it('rolls back an update that cannot be loaded, to the version of the package', () => {
    const { launch, install, record, script } = setUp()
    const [, before] = process.argv
    install('1.1.0', BROKEN)
    expect(launch()).toBe(false)
    expect([existsSync(script), process.argv[1]]).toEqual([false, before])
    expect(record.load()).toMatchObject({
      state: 'rolled-back',
      failure: expect.stringContaining('1.1.0 cannot be loaded'),
    })
    expect(launch()).toBe(false)
  })

  it('rolls back an update that cannot be loaded to the previous update, and loads that', () => {
    const { launch, install, record, script } = setUp()
    install('1.1.0', WORKS, true)
    install('1.2.0', BROKEN)
    expect(launch()).toBe(true)
    expect([ran(), readFileSync(script, 'utf8')]).toEqual([[script], WORKS])
    expect(record.load()).toMatchObject({ state: 'rolled-back' })
  })

  it('rolls back to the previous update at the fourth start without a check-in', () => {
    const { launch, install, record, script } = setUp()
    const starts: boolean[] = []
    const launchAgain = () => {
      delete (globalThis as Record<symbol, unknown>)[Symbol.for('portcullis.agent.launched')]
      starts.push(launch())
    }
    install('1.1.0', WORKS, true)
    install('1.2.0', `${WORKS}\n// 1.2.0`)
    for (let start = 0; start < MAX_STARTS; start++) launchAgain()
    expect(readFileSync(script, 'utf8')).toContain('1.2.0')
    launchAgain()
    expect(readFileSync(script, 'utf8')).toBe(WORKS)
    expect(starts).toEqual([true, true, true, true])
    expect(record.load()).toMatchObject({ state: 'rolled-back', failure: expect.stringContaining('started 3 times') })
  })
})
