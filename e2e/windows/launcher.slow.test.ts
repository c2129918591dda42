import { releaseKeyPair, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signedBuild } from '../../agent/test/release-keys.ts'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

const release = releaseKeyPair()

describe('the launcher under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  let packaged = ''
  beforeAll(async () => {
    root = await createWineRoot()
    packaged = await bundleForWine('e2e/windows/guest/launcher.ts')
    root.add('agent.cjs', packaged)
    root.add('release-key.txt', release.text)
  }, 600_000)
  afterAll(() => root?.remove())

  /** Installs an update, starts the agent and returns what ran. */
  function start(source: string, version = '1.1.0', key = release) {
    const bytes = Buffer.from(source)
    root.add('launched.txt', '')
    root.add('state/versions/agent.cjs', bytes)
    root.add(
      'state/versions/agent.cjs.signed',
      JSON.stringify([signedBuild(key, bytes, version, { architecture: 'windows-x64' })]),
    )
    const { status, all } = root.node('agent.cjs')
    expect({ status, all }).toEqual({ status: 0, all: '' })
    return root.read('launched.txt').trim().split('\n')
  }
  const update = (version: string): string => packaged.replaceAll('"1.0.0"', JSON.stringify(version))

  it('runs the update in the same process', () => {
    expect(start(update('1.1.0'))).toEqual([
      '1.0.0 starts in its process: true',
      '1.1.0 starts in its process: true',
      '1.1.0 runs from Z:\\agent\\state\\versions\\agent.cjs and prints 1.1.0',
    ])
  })

  it('runs the version of the package if the update has another key or cannot be loaded', () => {
    const own = '1.0.0 runs from Z:\\agent\\agent.cjs and prints 1.0.0'
    expect(start(update('1.1.0'), '1.1.0', releaseKeyPair())).toEqual(['1.0.0 starts in its process: true', own])
    const broken = start('this is not JavaScript')
    expect(broken.at(-1)).toBe(own)
    expect(broken[1]).toContain('The agent cannot start its update:')
  })
})
