import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilds } from '../bootstrap/builds.mjs'
import { buildAgents } from './agents.ts'
import { DEBIAN_MIRROR } from './debian.ts'
import { DEBIAN } from './debian-pins.ts'
import { buildImage } from './image.ts'
import { stageServer } from './server.ts'
import { TARGETS, type Target } from './targets.ts'

const target = TARGETS.find(({ arch }) => process.platform === 'linux' && arch === process.arch)

const whyNot =
  target === undefined
    ? `releases are for Linux on x64 and arm64, not ${process.platform} ${process.arch}`
    : existsSync('/usr/bin/apt-get')
      ? null
      : 'the image contains Debian packages, but apt-get is missing'

const whyNotRun = existsSync('/usr/bin/crun')
  ? process.getuid?.() === 0
    ? null
    : 'only root unpacks an image with its owners'
  : 'crun is missing (apt-get install crun)'

const QEMU = '/usr/bin/qemu-aarch64-static'
const NAMESPACES = ['--user', '--map-root-user', '--mount', '--net', '--pid', '--fork']

/** Returns why this machine cannot emulate a server for arm64, or null. */
const whyNoEmulation = (): string | null => {
  if (process.arch !== 'x64') return 'only x64 emulates the other architecture'
  if (!existsSync(QEMU)) return 'qemu-aarch64-static is missing (apt-get install qemu-user-static)'
  const mounted = spawnSync('/usr/bin/unshare', [...NAMESPACES, 'mount', '-t', 'binfmt_misc', 'none', BINFMT])
  return mounted.status === 0 ? null : 'a user namespace cannot register an emulator (needs Linux 6.7)'
}
const BINFMT = '/proc/sys/fs/binfmt_misc'

const container = fileURLToPath(new URL('container.mjs', import.meta.url))
const emulated = fileURLToPath(new URL('emulated.mjs', import.meta.url))

const run = (program: string, ...args: string[]): string => {
  const done = spawnSync(program, args, { encoding: 'utf8', timeout: 580_000, maxBuffer: 2 ** 26 })
  if (done.status !== 0) throw new Error(`${program}: ${done.stderr}${done.error ?? ''}`)
  return done.stdout
}

describe('the image of a release', unless(whyNot), () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-image-'))
  chmodSync(dir, 0o755)
  const build = async (name: string, of: Target, version = '9.9.9'): Promise<string> => {
    const draft = join(dir, name)
    mkdirSync(draft)
    const server = await stageServer({ target: of, version, agents: join(dir, 'agents'), draft })
    const options = { target: of, version, seconds: 1_700_000_000, draft, server, mirror: DEBIAN_MIRROR, level: 1 }
    const file = await buildImage(options)
    rmSync(server, { recursive: true })
    return file
  }
  let file = ''
  const others = new Map<Target, Promise<string>>()
  const imageOf = (of: Target): string | Promise<string> => {
    if (of === target) return file
    if (!others.has(of)) others.set(of, build(of.name, of))
    return others.get(of) as Promise<string>
  }

  beforeAll(async () => {
    await ensureBuilds(process.execPath, ['console'])
    await buildAgents(join(dir, 'agents'))
    file = await build('first', target as Target)
  }, 400_000)
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('has the same bytes when it is built again', async () => {
    const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
    const again = await build('second', target as Target)
    expect(digestOf(again)).toBe(digestOf(file))
    rmSync(again)
  }, 300_000)

  it('is read by an independent program, with every digest', (context) => {
    if (!existsSync('/usr/bin/skopeo')) return context.skip('skopeo is missing (apt-get install skopeo)')
    const seen = JSON.parse(run('skopeo', 'inspect', '--config', `oci-archive:${file}`))
    expect(seen).toMatchObject({ architecture: target?.debian, os: 'linux', config: { User: '10001:10001' } })
    // Both forms of the archive, and all layers with their digests.
    const policy = ['--insecure-policy', 'copy', '--quiet']
    run('skopeo', ...policy, `oci-archive:${file}:portcullis:9.9.9`, `dir:${join(dir, 'oci')}`)
    run('skopeo', ...policy, `docker-archive:${file}:portcullis:9.9.9`, `dir:${join(dir, 'docker')}`)
  }, 200_000)

  it('runs as an ordinary user with a read-only root, and becomes healthy', {
    ...unless(whyNotRun),
    timeout: 250_000,
  }, () => {
    const answers = JSON.parse(run('/usr/bin/unshare', '--mount', process.execPath, container, file, join(dir, 'run')))
    expect(answers).toMatchObject({
      health: 0,
      readyz: '200',
      user: '10001',
      capabilities: '0000000000000000',
      rootIsReadOnly: true,
      exitCode: 0,
      cli: expect.stringContaining('Command line of Portcullis'),
    })
    expect(answers.doctor).toMatch(/, 0 errors$/m)
  })

  it.each(TARGETS)(
    'contains for $name only pinned packages of Debian',
    async (of) => {
      const image = await imageOf(of)
      const layout = join(dir, `layout-${of.name}`)
      mkdirSync(layout)
      run('tar', '-xf', image, '-C', layout)
      const json = (name: string) => JSON.parse(readFileSync(join(layout, name), 'utf8'))
      const [{ Config, Layers }] = json('manifest.json')
      expect(json(Config)).toMatchObject({ architecture: of.debian })
      const names = run('tar', '-tzf', join(layout, Layers[0])).split('\n')
      const packages = names.flatMap((name) => /^var\/lib\/dpkg\/status\.d\/(.+)$/.exec(name)?.[1] ?? [])
      expect(packages.toSorted()).toEqual(DEBIAN.packages.map(({ name }) => name).toSorted())
      expect(names).toEqual(expect.arrayContaining([`usr/lib/${of.triplet}/libc.so.6`, 'usr/bin/sh', 'etc/os-release']))
      expect(run('tar', '-tvzf', join(layout, Layers.at(-1)), '--numeric-owner')).toMatch(
        /^drwx------ 10001\/10001 .* var\/lib\/portcullis\/$/m,
      )
      rmSync(layout, { recursive: true })
    },
    400_000,
  )

  it('for arm64 starts under QEMU with its own database, and serves agents', {
    ...unless(whyNot ?? whyNoEmulation()),
    timeout: 600_000,
  }, async () => {
    const [layout, root] = ['layout', 'arm64'].map((name) => join(dir, name)) as [string, string]
    for (const path of [layout, root]) mkdirSync(path)
    run('tar', '-xf', await imageOf(TARGETS.find(({ arch }) => arch === 'arm64') as Target), '-C', layout)
    const [{ Layers }] = JSON.parse(readFileSync(join(layout, 'manifest.json'), 'utf8'))
    for (const layer of Layers) run('tar', '-xzf', join(layout, layer), '-C', root, '--no-same-owner')
    const answers = run('/usr/bin/unshare', ...NAMESPACES, process.execPath, emulated, root, QEMU)
    expect(JSON.parse(answers)).toMatchObject({ ready: 200, agent: 200, exitCode: 0 })
  })
})
