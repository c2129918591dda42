import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard, releaseKeyFileOf, releaseKeyPair } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { noteEnd } from '../src/update/record.ts'
import { isNewer } from '../src/update/version.ts'
import { type HostOptions, startHost } from './enforcing.ts'
import { createTree, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'
import { bundledAgent, FILE_BLOCK, main, spawnAgent } from './processes.ts'
import { script, signedBuild } from './release-keys.ts'

const release = releaseKeyPair()
const buildOf = (bytes: Buffer, version: string, change: Record<string, unknown> = {}, key = release) =>
  signedBuild(key, bytes, version, change)
const builtInKey = releaseKeyFileOf(release)

const installed = (version = '1.0.0') => {
  const executable = join(temporaryDir(), 'portcullis-agent')
  writeFileSync(executable, script(version), { mode: 0o755 })
  return executable
}

const setUp = async (options: HostOptions = {}) => {
  const executable = installed()
  const devices = [plainKeyboard({ portPath: '1-1' })]
  const args = ['--executable', executable]
  const host = await startHost({ version: '1.0.0', devices, builtInKey, args, ...options })
  const publish = (bytes: Buffer) => host.peer.packages.set(createHash('sha256').update(bytes).digest('hex'), bytes)
  const content = () => readFileSync(executable, 'utf8')
  /** Publishes and installs 1.1.0. Returns the ID of the command. */
  const swap = async () => {
    const bytes = script('1.1.0')
    publish(bytes)
    const id = host.peer.order('update', buildOf(bytes, '1.1.0'))
    expect(await host.ended()).toBeUndefined()
    expect(content()).toBe(script('1.1.0').toString())
    return id
  }
  const ackOf = (id: string) => host.peer.seen.acks.find((ack) => ack.commandId === id)
  return { host, executable, publish, content, swap, ackOf }
}

describe('an update', () => {
  it('is installed, confirmed by the new version after its first check-in, and leaves no files behind', async () => {
    const { host, executable, swap, ackOf } = await setUp()
    const id = await swap()
    expect(statSync(executable).mode & 0o777).toBe(0o755)
    expect(readFileSync(`${executable}.previous`, 'utf8')).toBe(script('1.0.0').toString())
    expect(ackOf(id)).toBeUndefined()
    host.begin('1.1.0')
    await until('confirmed', () => ackOf(id) !== undefined)
    expect(ackOf(id)).toMatchObject({ outcome: 'confirmed', message: '' })
    expect([`${executable}.previous`, `${executable}.new`, host.path('update.json')].filter(existsSync)).toEqual([])
  })

  it.each<[string, (good: Buffer) => { served?: Buffer; order: Record<string, unknown> }, RegExp]>([
    [
      'with one flipped bit',
      (good) => {
        const served = Buffer.from(good)
        served[15] = (served[15] ?? 0) ^ 1
        return { served, order: buildOf(good, '1.1.0') }
      },
      /does not match the update command/,
    ],
    [
      'that is longer than announced',
      (good) => ({ served: Buffer.concat([good, Buffer.from('#')]), order: buildOf(good, '1.1.0') }),
      /longer than/,
    ],
    [
      'that is shorter than announced',
      (good) => ({ served: good.subarray(0, 9), order: buildOf(good, '1.1.0') }),
      /does not match the update command/,
    ],
    ['that the server does not have', (good) => ({ order: buildOf(Buffer.concat([good, good]), '1.1.0') }), /404/],
    ['to an older version', (good) => ({ order: buildOf(good, '0.9.9') }), /not newer/],
    ['to the same version', (good) => ({ order: buildOf(good, '1.0.0') }), /not newer/],
    ['to a pre-release of the running version', (good) => ({ order: buildOf(good, '1.0.0-rc.1') }), /not newer/],
    ['for another processor', (good) => ({ order: buildOf(good, '1.1.0', { architecture: 'mips' }) }), /is for mips/],
    [
      'for Windows',
      (good) => ({ order: buildOf(good, '1.1.0', { architecture: 'windows-x64' }) }),
      /is for windows-x64/,
    ],
    [
      'signed by an unknown key',
      (good) => ({ order: { ...buildOf(good, '1.1.0', {}, releaseKeyPair()), releaseKey: release.text } }),
      /signature of the build does not verify/,
    ],
    [
      'whose version is not the signed one',
      (good) => ({ order: { ...buildOf(good, '1.0.1'), version: '1.1.0' } }),
      /signature of the build does not verify/,
    ],
    [
      'that does not run on this host',
      () => {
        const bad = Buffer.from('#!/bin/sh\nexit 1\n')
        return { served: bad, order: buildOf(bad, '1.1.0') }
      },
      /does not run/,
    ],
  ])('%s is refused, and the running version stays', async (_, make, reason) => {
    const { host, executable, publish, content } = await setUp()
    const good = script('1.1.0')
    const { served = good, order } = make(good)
    publish(good)
    host.peer.packages.set(String(order.sha256), served)
    if (reason.source === '404') host.peer.packages.clear()
    const ack = await host.order('update', order)
    expect(ack?.outcome).toBe('failed')
    expect(ack?.message).toMatch(reason)
    expect(content()).toBe(script('1.0.0').toString())
    expect([`${executable}.previous`, `${executable}.new`, host.path('update.json')].filter(existsSync)).toEqual([])
  })

  it('is refused by an agent that is not an installed executable', async () => {
    const { host } = await setUp({ args: [] })
    expect((await host.order('update', buildOf(script('1.1.0'), '1.1.0')))?.message).toContain(
      'not an installed executable',
    )
  })

  it.each<[string, (s: Awaited<ReturnType<typeof setUp>>) => Promise<void>]>([
    [
      'started three times without reaching the server',
      async ({ host }) => {
        for (let start = 0; start < 3; start++) {
          host.begin('1.1.0')
          await until('counted', () => readFileSync(host.path('update.json'), 'utf8').includes(`"starts":${start + 1}`))
          await host.stop()
        }
        host.begin('1.1.0')
        await host.ended()
      },
    ],
    [
      'ended three times before its first start was counted',
      async ({ host }) => {
        expect([noteEnd(host.stateDir), noteEnd(host.stateDir), noteEnd(host.stateDir)]).toEqual([false, false, true])
        expect(noteEnd(host.stateDir)).toBe(false)
      },
    ],
  ])('that was %s is rolled back, and the previous version reports it as failed', async (_, fail) => {
    const all = await setUp()
    const { host, executable, content, swap, ackOf } = all
    const id = await swap()
    host.peer.fail(agentPaths.session, ...Array.from({ length: 10_000 }, () => ({ kind: 'reset' as const })))
    await fail(all)
    expect(content()).toBe(script('1.0.0').toString())
    host.peer.clearFaults()
    host.begin('1.0.0')
    await until('failed', () => ackOf(id) !== undefined)
    expect(ackOf(id)).toMatchObject({ outcome: 'failed', message: expect.stringContaining('never reached the server') })
    expect([`${executable}.previous`, host.path('update.json')].filter(existsSync)).toEqual([])
  })

  it('is rolled back if the new version does not reach the server for two minutes', async () => {
    let skipped = 0
    const clock = { now: () => Date.now() + skipped, monotonic: () => performance.now() + skipped }
    const { host, content, swap } = await setUp({ clock })
    await swap()
    host.peer.fail(agentPaths.session, ...Array.from({ length: 10_000 }, () => ({ kind: 'reset' as const })))
    host.begin('1.1.0')
    await until('started', () => readFileSync(host.path('update.json'), 'utf8').includes('"starts":1'))
    skipped = 119_000
    expect(content()).toBe(script('1.1.0').toString())
    skipped = 121_000
    await host.ended()
    expect(content()).toBe(script('1.0.0').toString())
  })
})

describe('an update that did not begin', () => {
  it('does not begin after it expired', async () => {
    let skipped = 0
    const clock = { now: () => Date.now() + skipped, monotonic: () => performance.now() + skipped }
    const { host, publish, content, ackOf } = await setUp({ clock })
    const bytes = script('1.1.0')
    const build = buildOf(bytes, '1.1.0')
    publish(bytes)
    host.peer.fail(`${agentPaths.packages}/${build.sha256}`, { kind: 'hang' })
    const id = host.peer.order('update', build)
    await until('fetched', () => host.peer.faultsLeft(`${agentPaths.packages}/${build.sha256}`) === 0)
    await host.stop()
    skipped = 61_000
    host.begin()
    await until('answered', () => ackOf(id) !== undefined)
    expect(ackOf(id)).toMatchObject({ outcome: 'failed', message: expect.stringContaining('expired before') })
    expect(content()).toBe(script('1.0.0').toString())
  })
})

describe('real processes', { timeout: 90_000 }, () => {
  it('start the next version with the same arguments if no service manager does', async () => {
    const peer = await startPeer({ nextCheckInSeconds: 0.2 })
    onTestFinished(() => peer.stop())
    const executable = installed()
    const marker = join(temporaryDir(), 'started')
    const next = Buffer.from(`#!/bin/sh\nif [ "$1" = --version ]; then echo 99.0.0; else echo "$@" > ${marker}; fi\n`)
    const build = buildOf(next, '99.0.0')
    peer.packages.set(build.sha256, next)
    const args = [
      '--server',
      peer.url,
      '--token',
      peer.token,
      '--state-dir',
      temporaryDir(),
      '--sysfs-root',
      createTree().root,
      '--executable',
      executable,
    ]
    const agent = spawnAgent(args, {}, { program: bundledAgent(builtInKey) })
    await until('first check-in', () => peer.seen.checkIns.length > 0, 30_000)
    peer.order('update', build)
    expect(await agent.exit).toBe(0)
    await until('started', () => existsSync(marker) && readFileSync(marker, 'utf8') !== '')
    expect(readFileSync(marker, 'utf8')).toBe(`${args.join(' ')}\n`)
  })

  it('refuse a build whose last bytes could not be written', async () => {
    const peer = await startPeer({ nextCheckInSeconds: 0.2 })
    onTestFinished(() => peer.stop())
    const executable = installed()
    const blocks = 400
    const next = Buffer.concat([script('99.0.0'), Buffer.alloc(blocks * FILE_BLOCK, '#')])
    const build = buildOf(next, '99.0.0')
    peer.packages.set(build.sha256, next)
    const where = ['--state-dir', temporaryDir(), '--sysfs-root', createTree().root, '--executable', executable]
    spawnAgent(
      ['--server', peer.url, '--token', peer.token, ...where],
      {},
      { fileBlocks: blocks, program: bundledAgent(builtInKey) },
    )
    await until('first check-in', () => peer.seen.checkIns.length > 0, 30_000)
    peer.order('update', build)
    await until('answered', () => peer.seen.acks.length > 0, 30_000)
    expect(peer.seen.acks[0]).toMatchObject({ outcome: 'failed', message: expect.stringContaining('EFBIG') })
    expect(readFileSync(executable, 'utf8')).toBe(script('1.0.0').toString())
    expect(existsSync(`${executable}.new`)).toBe(false)
  })

  it('confirm an update after the first check-in of the new version', async () => {
    const { host, swapTo, ackOf } = await (async () => {
      const all = await setUp({ version: '0.0.1' })
      const program = bundledAgent(builtInKey)
      const real = Buffer.from(`#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
      all.publish(real)
      const version = JSON.parse(readFileSync(join(main, '../../../package.json'), 'utf8')).version as string
      return { ...all, swapTo: () => all.host.peer.order('update', buildOf(real, version)) }
    })()
    const id = swapTo()
    await host.ended()
    spawnAgent(host.args)
    await until('confirmed', () => ackOf(id) !== undefined, 30_000)
    expect(ackOf(id)).toMatchObject({ outcome: 'confirmed' })
  })
})

describe('versions', () => {
  it('are ordered as semver.org defines', () => {
    const rising = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.2.0',
      '1.10.0',
      '2.0.0',
    ]
    for (const [i, a] of rising.entries())
      for (const [j, b] of rising.entries()) expect([a, b, isNewer(a, b)]).toEqual([a, b, i > j])
    expect(isNewer('1.0.0+b', '1.0.0+a')).toBe(false)
    for (const odd of ['', '1', '1.2', 'v2.0.0', '2.0.0 ', '1e9.0.0', '99999999999.0.0'])
      expect(isNewer(odd, '0.0.1')).toBe(false)
  })
})
