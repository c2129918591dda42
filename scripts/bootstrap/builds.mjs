import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseKeyFile } from '../release-key-file.mjs'
import { withLock } from './lock.mjs'
import { run, tail } from './run.mjs'
import { Refusal, ROOT, say } from './say.mjs'

/**
 * Builds that the server serves. `sources` lists all their inputs. The content decides whether a build is stale,
 * because timestamps are meaningless after a clone or a change of branch.
 */
const BUILDS = {
  console: {
    entry: 'console/index.html',
    sources: ['console', 'contract', 'platform', 'features', 'package-lock.json'],
    result: 'build/console/index.html',
    command: ['node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'warn'],
  },
  agent: {
    entry: 'agent/src/main.ts',
    sources: [
      'agent',
      'domain',
      'contract',
      'scripts/build-agent.mjs',
      'scripts/bundle-agent.mjs',
      'scripts/release-key-file.mjs',
      'scripts/strip-elf.mjs',
      'package.json',
      'package-lock.json',
    ],
    // An input of the build as well: another key makes another agent.
    extra: releaseKeyFile,
    note: () =>
      releaseKeyFile() === null
        ? 'no release key is configured: hosts with this agent build will refuse updates'
        : null,
    result: 'build/agent/manifest.json',
    command: ['scripts/build-agent.mjs'],
  },
  help: {
    entry: 'docs/guide/README.md',
    sources: [
      'contract',
      'platform',
      'features',
      'docs/glossary.md',
      'docs/guide',
      'docs/reference/configuration.md',
      'docs/security',
      'docs/support.md',
      'scripts/build-help.ts',
      'scripts/generate-reference.ts',
    ],
    result: 'build/help/guide.html',
    command: ['scripts/build-help.ts'],
  },
  reference: {
    // The pages take the titles of their links from the guides.
    entry: 'docs/guide/README.md',
    sources: [
      'contract',
      'platform',
      'features',
      'docs/guide',
      'scripts/generate-reference.ts',
      'scripts/reference-api.ts',
    ],
    result: 'docs/reference/api/README.md',
    command: ['scripts/generate-reference.ts'],
  },
  'bill of materials': {
    entry: 'scripts/sbom.mjs',
    sources: [
      'package.json',
      'package-lock.json',
      'knowledge',
      'scripts/sbom.mjs',
      'scripts/shipped.mjs',
      'scripts/licences',
    ],
    result: 'sbom.cdx.json',
    command: ['scripts/sbom.mjs'],
  },
}

/** Pages and lists that no program reads: for a release, and for readers of a checkout. */
export const DOCUMENTS = ['reference', 'bill of materials']

/** Runs the named builds that are missing or stale. */
export async function ensureBuilds(node, names) {
  const stale = names.filter((name) => existsSync(join(ROOT, BUILDS[name].entry)) && !isFresh(name))
  if (stale.length === 0) return
  await withLock(join(ROOT, 'build', 'build.lock'), `building ${stale.join(' and ')}`, async () => {
    const results = await Promise.allSettled(stale.filter((name) => !isFresh(name)).map((name) => build(node, name)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  })
}

const stampOf = (name) => join(ROOT, 'build', `${name}.stamp`)

function isFresh(name) {
  const stamp = stampOf(name)
  return (
    existsSync(join(ROOT, BUILDS[name].result)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest(name)
  )
}

async function build(node, name) {
  const began = Date.now()
  say(`building the ${name}`)
  const before = digest(name)
  rmSync(stampOf(name), { force: true })
  const done = await run(node, BUILDS[name].command)
  if (!done.ok) throw new Refusal(`The ${name} could not be built:\n${tail(done.output)}`)
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  writeFileSync(stampOf(name), before)
  const note = BUILDS[name].note?.()
  if (note) say(note)
  say(`${name} built in ${((Date.now() - began) / 1000).toFixed(1)} s`)
}

function digest(name) {
  const hash = createHash('sha256')
  for (const source of BUILDS[name].sources) addTo(hash, source)
  const extra = BUILDS[name].extra?.() ?? null
  // If the file cannot be read, the build fails with a clear message.
  if (extra !== null) hash.update(existsSync(extra) ? readFileSync(extra) : extra)
  return hash.digest('hex')
}

const NOT_SOURCE = /^(node_modules|dist|build|coverage)$|\.test\.tsx?$|^\./

function addTo(hash, path) {
  const absolute = join(ROOT, path)
  let names
  try {
    names = readdirSync(absolute)
  } catch (error) {
    if (error.code === 'ENOTDIR') hash.update(`${path}\0`).update(readFileSync(absolute))
    return
  }
  for (const name of names.sort()) if (!NOT_SOURCE.test(name)) addTo(hash, `${path}/${name}`)
}
