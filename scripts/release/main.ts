/**
 * `npm run release -- --out DIR [--key FILE]`: builds the files of a release from a clean checkout.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Refusal, ROOT, say } from '../bootstrap/say.mjs'
import { checkProof } from '../proof/check.ts'
import { readTree } from '../proof/tree.ts'
import { writeArchive } from './archive.ts'
import { signDetached, writeChecksums } from './checksums.ts'
import { writeDeb } from './deb.ts'
import { serverPackage } from './packages-server.ts'
import { writeRpm } from './rpm.ts'
import { stageServer } from './server.ts'
import { assertBuilders, type SystemPackage } from './system-package.ts'
import { TARGETS } from './targets.ts'

const USAGE = `Usage: npm run release -- --out DIR [options]
  --out DIR                folder for the files; it must be empty or missing
  --key FILE               Ed25519 private key (PEM) that signs SHA256SUMS
  --passphrase-file FILE   file with the passphrase of the key
  --target NAME            only linux-x64 or linux-arm64 (default: both)
  --no-packages            write no .deb and .rpm, which need dpkg-deb and rpmbuild
  --unproven               release although the pages in docs/proof belong to another tree`

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        out: { type: 'string' },
        key: { type: 'string' },
        'passphrase-file': { type: 'string' },
        target: { type: 'string' },
        'no-packages': { type: 'boolean', default: false },
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

/** Refuses a release that nobody could reproduce or that claims figures of another tree. */
const assertReleasable = (isUnproven: boolean): void => {
  if (readTree(ROOT).commit === null)
    throw new Refusal('The checkout contains changes that are not committed. Commit or remove them first.')
  const [first, ...others] = checkProof(ROOT).stale
  if (first === undefined || isUnproven) return
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  throw new Refusal(`The proof pages are stale: ${first}${more}. Run "npm run prove", or use --unproven.`)
}

const writePackages = (one: SystemPackage): string[] => {
  const files = [writeDeb(one), writeRpm(one)]
  rmSync(one.root, { recursive: true })
  return files
}

const release = async (): Promise<void> => {
  const { out, key, targets, unproven, ...options } = readOptions()
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new Refusal(`${out} contains files. Choose an empty folder.`)
  assertReleasable(unproven)
  if (!options['no-packages']) assertBuilders()
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const seconds = Number(execFileSync('git', ['show', '-s', '--format=%ct', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }))
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  const draft = mkdtempSync(join(ROOT, 'build', 'release-'))
  try {
    const files: string[] = []
    for (const target of targets) {
      const staged = await stageServer({ target, version, draft })
      const archive = `${staged}.tar.xz`
      await writeArchive(staged, archive, seconds, 6)
      files.push(archive)
      if (!options['no-packages'])
        files.push(...writePackages(serverPackage({ staged, target, version, seconds, draft })))
      rmSync(staged, { recursive: true, force: true })
    }
    const passphraseFile = options['passphrase-file']
    const sums = writeChecksums(draft, files)
    if (key !== undefined)
      signDetached(sums, key, passphraseFile === undefined ? undefined : readFileSync(passphraseFile, 'utf8').trim())
    mkdirSync(out, { recursive: true })
    const results = [...files, sums, ...(key === undefined ? [] : [`${sums}.sig`])]
    for (const file of results) cpSync(file, join(out, file.slice(draft.length + 1)))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  say(`wrote ${readdirSync(out).join(', ')} to ${out}`)
}

try {
  await release()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
