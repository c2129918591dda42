/**
 * `npm run release -- --out DIR [--key FILE]`: builds the files of a release from a clean checkout.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Refusal, ROOT, say } from '../bootstrap/say.mjs'
import { readReleaseKey } from '../bundle-agent.mjs'
import { buildInstaller, installerName } from '../msi/installer.ts'
import { whyNoMsi } from '../msi/tools.ts'
import { releaseKeyFile } from '../release-key-file.mjs'
import { agentFile, buildAgents, packAgent, signAgents, updateBuilds } from './agents.ts'
import { writeArchive } from './archive.ts'
import { agentContents, debianContents, macosContents, scriptContents, serverContents, writeBill } from './bills.ts'
import { readKey, signDetached, writeChecksums } from './checksums.ts'
import { writeDeb } from './deb.ts'
import { DEBIAN_MIRROR } from './debian.ts'
import { buildImage } from './image.ts'
import { fetchMacosNode, MACOS_TARGETS, packMacosAgent } from './macos.ts'
import { changesOf, releaseNotes } from './notes.ts'
import { agentPackage } from './packages-agent.ts'
import { serverPackage } from './packages-server.ts'
import { writeRpm } from './rpm.ts'
import { stageServer } from './server.ts'
import { assertBuilders, type SystemPackage } from './system-package.ts'
import { hostTarget, TARGETS, type Target } from './targets.ts'

const USAGE = `Usage: npm run release -- --out DIR [options]
  --out DIR                folder for the files; it must be empty or missing
  --key FILE               Ed25519 private key (PEM) that signs SHA256SUMS, and the agents if it is their release key
  --passphrase-file FILE   file with the passphrase of the key
  --target NAME            only linux-x64 or linux-arm64 (default: both, and the agents for macOS and Windows)
  --no-packages            write no .deb and .rpm, which need dpkg-deb and rpmbuild
  --no-macos               write no agents for macOS, which contain Node from npm
  --no-windows             write no files for Windows, whose installer needs wixl and msitools
  --no-images              write no container images, which contain Debian packages
  --debian-mirror URL      mirror to use, such as https://snapshot.debian.org/archive/… for versions that Debian removed
  --unproven               release even if a part of docs/proof is stale or incomplete`

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        out: { type: 'string' },
        key: { type: 'string' },
        'passphrase-file': { type: 'string' },
        target: { type: 'string' },
        'no-packages': { type: 'boolean', default: false },
        'no-macos': { type: 'boolean', default: false },
        'no-windows': { type: 'boolean', default: false },
        'no-images': { type: 'boolean', default: false },
        'debian-mirror': { type: 'string', default: DEBIAN_MIRROR },
        unproven: { type: 'boolean', default: false },
      },
    })
    const targets = TARGETS.filter(({ name }) => values.target === undefined || values.target === name)
    if (values.out === undefined || targets.length === 0) throw new Refusal(USAGE)
    return { ...values, out: resolve(values.out), targets }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`${(error as Error).message}\n${USAGE}`)
  }
}

/**
 * Refuses a release from uncommitted files, or without a current result of every proof. Returns whether all are current.
 */
const assertReleasable = (isUnproven: boolean): boolean => {
  if (execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' }) !== '')
    throw new Refusal('The checkout contains changes that are not committed. Commit or remove them first.')
  const checked = spawnSync(process.execPath, [join(ROOT, 'proof', 'prove.ts'), '--check'], { encoding: 'utf8' })
  if (checked.status === 0) return true
  if (isUnproven) return false
  // One line for each gap, then the verdict.
  const [first, ...others] = checked.stdout.trim().split('\n').slice(0, -1)
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  throw new Refusal(
    `The proof is not complete: ${first ?? checked.stderr.trim()}${more}. Run "npm run prove -- --stale", or use --unproven.`,
  )
}

const writePackages = (one: SystemPackage): string[] => {
  const files = [writeDeb(one), writeRpm(one)]
  rmSync(one.root, { recursive: true })
  return files
}

/** Largest sizes of files in megabytes. A larger one is a mistake, such as symbols or packages that nobody needs. */
const LARGEST = [
  { pattern: /^portcullis-server-.*\.tar\.xz$/, megabytes: 150 },
  { pattern: /^portcullis-agent-.*-linux-.*\.(xz|pkg)$/, megabytes: 35 },
  { pattern: /^portcullis-agent-.*-windows-.*\.pkg$/, megabytes: 1 },
  { pattern: /^portcullis-agent-.*-macos-.*\.tar\.xz$/, megabytes: 45 },
  { pattern: /^portcullis-agent-.*-windows-.*\.msi$/, megabytes: 45 },
  // Servers contain the Windows installer, which is 38 MB.
  { pattern: /^portcullis-server.*\.(deb|rpm)$/, megabytes: 190 },
  { pattern: /^portcullis-agent.*\.(deb|rpm)$/, megabytes: 35 },
]

const assertSize = (file: string): void => {
  const size = statSync(file).size / 1e6
  const limit = LARGEST.find(({ pattern }) => pattern.test(basename(file)))?.megabytes
  say(`${basename(file)}: ${size.toFixed(1)} MB`)
  if (limit !== undefined && size > limit)
    throw new Refusal(`${basename(file)} is larger than the limit: ${size.toFixed(1)} MB instead of ${limit} MB.`)
}

/** The agents contain the same Node as the server. With this dictionary, the archive contains it once. */
const DICTIONARY = 384

interface Build {
  version: string
  /** Time of all files: that of the commit. */
  seconds: number
  draft: string
  agents: string
  /** Mirror of Debian; undefined: no images. */
  mirror: string | undefined
  hasPackages: boolean
}

/** Builds the files of one target, with a bill of materials for each. */
const buildTarget = async (target: Target, build: Build): Promise<string[]> => {
  const { version, seconds, draft, agents, mirror, hasPackages } = build
  const agent = await packAgent({ agents, target, version, draft })
  const server = await stageServer({ target, version, agents, draft })
  const contents = serverContents(server)
  const archive = `${server}.tar.xz`
  await writeArchive(server, archive, seconds, 6, DICTIONARY)
  const files = [agent, await writeBill(agent, agentContents()), archive, await writeBill(archive, contents)]
  if (mirror !== undefined) {
    const image = await buildImage({ target, version, seconds, draft, server, mirror })
    const others = [...contents.others, ...debianContents(target)]
    files.push(image, await writeBill(image, { ...contents, others }))
  }
  // Last, because the packages take the staged files.
  if (hasPackages) {
    const one = { target, version, seconds, draft }
    for (const file of writePackages(serverPackage({ staged: server, ...one })))
      files.push(file, await writeBill(file, contents))
    for (const file of writePackages(agentPackage({ executable: agentFile(agents, target), ...one })))
      files.push(file, await writeBill(file, agentContents()))
  }
  rmSync(server, { recursive: true, force: true })
  return files
}

/** Builds the agents for macOS, with a bill of materials for each. */
const buildMacos = async (build: Pick<Build, 'version' | 'seconds' | 'draft'>): Promise<string[]> => {
  const files: string[] = []
  for (const target of MACOS_TARGETS) {
    const file = await packMacosAgent({ target, node: await fetchMacosNode(target), ...build })
    files.push(file, await writeBill(file, macosContents(target)))
  }
  return files
}

/**
 * Builds the Windows installer with its bill of materials and copies it to the agents that servers offer. Runs before
 * the servers are built.
 */
const buildWindows = async ({
  version,
  seconds,
  draft,
  agents,
}: Omit<Build, 'mirror' | 'hasPackages'>): Promise<string[]> => {
  say('building the Windows installer')
  const out = join(agents, 'msi')
  await buildInstaller({ out, version, seconds, releaseKey: readReleaseKey(releaseKeyFile()) })
  const file = join(draft, installerName(version))
  cpSync(join(out, installerName(version)), file)
  return [file, await writeBill(file, agentContents())]
}

const release = async (): Promise<void> => {
  const { out, key, targets, unproven, ...options } = readOptions()
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new Refusal(`${out} contains files. Choose an empty folder.`)
  hostTarget()
  const isProven = assertReleasable(unproven)
  if (!options['no-packages']) assertBuilders()
  const whyNoInstaller = options['no-windows'] ? null : whyNoMsi()
  if (whyNoInstaller !== null)
    throw new Refusal(`Cannot build the Windows installer: ${whyNoInstaller}. Leave it out with --no-windows.`)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  // Refuse what would only fail after all files are built.
  changesOf(changelog, version)
  const passphraseFile = options['passphrase-file']
  const passphrase = passphraseFile === undefined ? undefined : readFileSync(passphraseFile, 'utf8').trim()
  const signer = key === undefined ? undefined : readKey(key, passphrase)
  const seconds = Number(execFileSync('git', ['show', '-s', '--format=%ct', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }))
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  const draft = mkdtempSync(join(ROOT, 'build', 'release-'))
  try {
    const agents = join(draft, 'agents')
    await buildAgents(agents)
    const mirror = options['no-images'] ? undefined : options['debian-mirror']
    const hasPackages = !options['no-packages']
    const files: string[] = []
    if (!options['no-macos'] && options.target === undefined)
      files.push(...(await buildMacos({ version, seconds, draft })))
    if (!options['no-windows']) files.push(...(await buildWindows({ version, seconds, draft, agents })))
    for (const target of targets)
      files.push(...(await buildTarget(target, { version, seconds, draft, agents, mirror, hasPackages })))
    if (signer !== undefined && key !== undefined) {
      const builds = updateBuilds(agents, targets, !options['no-windows'])
      for (const file of await signAgents({ agents, builds, version, draft, signer, keyFile: key, passphraseFile }))
        files.push(file, await writeBill(file, file.endsWith('-windows-x64.pkg') ? scriptContents() : agentContents()))
    }
    for (const file of files) if (!file.endsWith('.cdx.json')) assertSize(file)
    const notes = join(draft, 'RELEASE-NOTES.md')
    writeFileSync(notes, releaseNotes(changelog, version, files, isProven))
    const sums = writeChecksums(draft, [...files, notes])
    if (signer !== undefined) signDetached(sums, signer)
    mkdirSync(out, { recursive: true })
    for (const file of [...files, notes, sums, ...(signer === undefined ? [] : [`${sums}.sig`])])
      moveTo(file, join(out, basename(file)))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  say(`wrote ${readdirSync(out).join(', ')} to ${out}`)
}

/** Moves a file, even to another file system. */
const moveTo = (from: string, to: string): void => {
  try {
    renameSync(from, to)
  } catch {
    cpSync(from, to)
  }
}

try {
  await release()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
