import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilds } from '../bootstrap/builds.mjs'
import { buildServer } from './server.ts'
import { TARGETS } from './targets.ts'

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

const tar = (...args: string[]): void => {
  const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

describe('the server archive', unless(whyNot), () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-release-'))
  // The database runs as another user, who must be able to reach its folder.
  chmodSync(dir, 0o755)
  const build = (name: string): Promise<string> => {
    const draft = join(dir, name)
    mkdirSync(draft)
    // A low level of compression, because only the contents matter here.
    return buildServer({ target: target as never, version: '9.9.9', seconds: 1_700_000_000, draft, level: 0 })
  }
  let archive = ''

  beforeAll(async () => {
    await ensureBuilds(process.execPath, ['console', 'agent'])
    archive = await build('first')
  }, 300_000)
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('has the same bytes when it is built again', async () => {
    expect(digestOf(await build('second'))).toBe(digestOf(archive))
  }, 300_000)

  it('starts without a network, and serves console, sign-in and agents', () => {
    tar('-xJf', archive, '-C', dir)
    const root = join(dir, `portcullis-server-9.9.9-${target?.name}`)
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
})
