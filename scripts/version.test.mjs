import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'
import { sbomFiles } from './sbom.mjs'

const read = (name) => readFileSync(join(ROOT, name), 'utf8')
const readJson = (name) => JSON.parse(read(name))
const { version, workspaces } = readJson('package.json')

/** Places outside package.json that name the version of the product, each with a pattern for the number. */
const PLACES = [
  ['ops/docker/Dockerfile', /portcullis:(\d\S*)/g],
  ['ops/docker/compose.yaml', /portcullis:(\d\S*)/g],
  ['docs/guide/containers.md', /portcullis:(\d\S*)/g],
  ['docs/guide/install.md', /portcullis-(?:server|agent)[-_](\d+\.\d+\.\d+)/g],
  ['docs/guide/upgrade.md', /\bv(\d+\.\d+\.\d+)/g],
  ['features/health/contract/health.ts', /version: '([^']+)'/g],
]

const printed = (...args) =>
  spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 30_000 }).stdout.trim()

describe('the version of the product', () => {
  it('is only in the package.json of the root, and the lockfile agrees', () => {
    const own = [...workspaces, 'proof/mutation'].filter(
      (name) => readJson(`${name}/package.json`).version !== undefined,
    )
    expect(own).toEqual([])
    const lock = readJson('package-lock.json')
    expect([lock.version, lock.packages[''].version]).toEqual([version, version])
    expect(workspaces.filter((name) => lock.packages[name].version !== undefined)).toEqual([])
  })

  it.each(PLACES)('%s names no other version', (name, pattern) => {
    const found = [...read(name).matchAll(pattern)].map((match) => match[1])
    expect(new Set(found)).toEqual(new Set([version]))
  })

  it('has the first heading of the changelog and a component in the bill of materials', () => {
    const released = read('CHANGELOG.md')
      .matchAll(/^## (.+)$/gm)
      .map(([, heading]) => heading)
      .find((heading) => !heading.endsWith('(unreleased)'))
    expect(released).toBe(version)
    expect(JSON.parse(sbomFiles()['sbom.cdx.json']).metadata.component.version).toBe(version)
  })

  it('is what agent and command line print', () => {
    expect(printed('agent/src/main.ts', '--version')).toBe(version)
    expect(printed('--disable-warning=ExperimentalWarning', 'cli/src/main.ts', '--version')).toBe(version)
  })

  it('is read by every program from the root', () => {
    const imports = globSync('{server/src,agent/src,poller,cli}/**/*.ts', {
      cwd: ROOT,
      exclude: ['**/node_modules/**'],
    })
      .map((file) => [file, /from '([./]+)package\.json'/.exec(read(file))?.[1]])
      .filter(([, path]) => path !== undefined)
    expect(imports.length).toBeGreaterThan(4)
    for (const [file, path] of imports) expect(join(file, '..', path, 'package.json'), file).toBe('package.json')
  })
})
