import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilds } from '../bootstrap/builds.mjs'
import { ROOT } from '../bootstrap/say.mjs'
import { packagesOf } from '../shipped.mjs'
import { buildAgents } from './agents.ts'
import { writeArchive } from './archive.ts'
import { serverContents } from './bills.ts'
import { serverName, stageServer } from './server.ts'
import { TARGETS, type Target } from './targets.ts'

const target = TARGETS.find(({ arch }) => process.platform === 'linux' && arch === process.arch)

const whyNot =
  target === undefined
    ? `releases are for Linux on x64 and arm64, not ${process.platform} ${process.arch}`
    : process.getuid?.() !== 0
      ? 'only root creates a network namespace'
      : existsSync('/usr/bin/unshare') && existsSync('/usr/sbin/ip')
        ? null
        : 'unshare or ip is missing (apt-get install util-linux iproute2)'

const probe = fileURLToPath(new URL('probe.mjs', import.meta.url))

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Returns the architecture that a file is for, or null if it is not a program or library. */
const machineOf = (file: string): number | null => {
  const start = Buffer.alloc(20)
  const handle = openSync(file, 'r')
  readSync(handle, start)
  closeSync(handle)
  return start.readUInt32BE(0) === 0x7f454c46 ? start.readUInt16LE(18) : null
}

const lock = () => JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))

const tar = (...args: string[]): void => {
  const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

describe('the server archive', unless(whyNot), () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-release-'))
  // The database runs as another user, who must be able to reach its folder.
  chmodSync(dir, 0o755)
  const agents = join(dir, 'agents')
  const stage = (name: string, of: Target): Promise<string> => {
    const draft = join(dir, name)
    mkdirSync(draft)
    return stageServer({ target: of, version: '9.9.9', agents, draft })
  }
  const build = async (name: string): Promise<string> => {
    const staged = await stage(name, target as Target)
    // A low level of compression, because only the contents matter here.
    await writeArchive(staged, `${staged}.tar.xz`, 1_700_000_000, 0)
    return `${staged}.tar.xz`
  }
  let archive = ''

  beforeAll(async () => {
    await ensureBuilds(process.execPath, ['console'])
    await buildAgents(agents)
    archive = await build('first')
  }, 400_000)
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('has the same bytes when it is built again', async () => {
    expect(digestOf(await build('second'))).toBe(digestOf(archive))
  }, 300_000)

  it('starts without a network, and serves console, sign-in and agents', () => {
    tar('-xJf', archive, '-C', dir)
    const root = join(dir, serverName('9.9.9', target as Target))
    expect(readdirSync(join(root, 'bin')).sort()).toEqual(['portcullis', 'portcullis-server', 'portcullis-worker'])
    const done = spawnSync('/usr/bin/unshare', ['--net', join(root, 'node/bin/node'), probe, root, join(dir, 'data')], {
      encoding: 'utf8',
      timeout: 120_000,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: dir },
    })
    expect(JSON.parse(done.stdout || `"${done.stderr}"`)).toMatchObject({
      ready: 200,
      console: 200,
      signIn: 200,
      agent: 200,
      interfaces: ['lo'],
      exitCode: 0,
      cli: expect.stringContaining('Command line of Portcullis'),
    })
  }, 150_000)

  it.each(TARGETS)(
    'has only programs for $name, and a bill of materials of exactly its packages',
    async (of) => {
      const staged = await stage(of.name, of)
      const files = globSync('**', { cwd: staged, withFileTypes: true, exclude: ['build/agent'] }).filter((one) =>
        one.isFile(),
      )
      const machines = new Map<number, string>()
      for (const one of files) {
        const file = join(one.parentPath, one.name)
        const machine = machineOf(file)
        if (machine !== null) machines.set(machine, file)
      }
      expect([...machines.keys()], [...machines.values()].join(', ')).toEqual([of.machine])
      const { packages, others } = serverContents(staged)
      const bundled = new Set(packagesOf(lock(), ['console', 'agent']).map(({ key }) => key))
      const installed = globSync('{,*/}node_modules/**/package.json', { cwd: staged })
        .map(dirname)
        .filter((key) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+$/.test(key))
      expect(installed.length).toBeGreaterThan(100)
      expect(
        packages
          .map(({ key }) => key)
          .filter((key) => !bundled.has(key) || installed.includes(key))
          .toSorted(),
      ).toEqual(installed.toSorted())
      expect(others.map(({ name }) => name)).toEqual(expect.arrayContaining(['Node.js', 'PostgreSQL', 'usb.ids']))
      rmSync(staged, { recursive: true })
    },
    300_000,
  )
})
