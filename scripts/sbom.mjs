// Writes sbom.cdx.json (CycloneDX 1.6) and THIRD-PARTY-LICENSES.md, as part of `npm run build`. The output does not
// depend on the machine or the time.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, say } from './bootstrap/say.mjs'
import { packagesOf, textOf, works } from './shipped.mjs'

const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))

const purlOf = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`
/** The lockfile may contain the same version in two places. */
const refOf = (one) => purlOf(one)

/** Formats a licence for CycloneDX: an SPDX id, an expression, or a name. */
function licenceOf(licence) {
  if (/ (OR|AND|WITH) /.test(licence)) return [{ expression: licence }]
  return [{ license: licence.startsWith('LicenseRef-') ? { name: licence } : { id: licence } }]
}

const unique = (list, keyOf) => [...new Map(list.map((one) => [keyOf(one), one])).values()]

/** Returns the component of a package of npm. */
const componentOfPackage = (one) => ({
  type: 'library',
  'bom-ref': refOf(one),
  name: one.name,
  version: one.version,
  // Excluded: needed to build the console and the agent, but contained in neither.
  scope: one.purpose === 'builds' ? 'excluded' : one.isOptional ? 'optional' : 'required',
  ...(one.integrity?.startsWith('sha512-')
    ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(one.integrity.slice(7), 'base64').toString('hex') }] }
    : {}),
  licenses: licenceOf(one.licence),
  purl: purlOf(one),
})

/** Returns the component of a work that is not a package of npm. `more`: further members of the component. */
export const componentOfWork = ({ name, version, licence, where }, more = {}) => ({
  type: where.includes('knowledge/') ? 'data' : 'library',
  'bom-ref': `${name}@${version}`,
  name,
  version,
  description: where,
  scope: 'required',
  licenses: licenceOf(licence),
  ...more,
})

/**
 * Formats a bill of materials (CycloneDX 1.6). `product`: members of its component in addition to those of the product;
 * `packages`: as `packagesOf` lists them; `others`: components of works.
 */
export function billOf({ product = {}, packages, others }) {
  const { name, version, description, license } = read('package.json')
  const byKey = new Map(packages.map((one) => [one.key, one]))
  const listed = unique(packages, refOf)
  const components = [...listed.map(componentOfPackage), ...others]
  const dependencies = [
    {
      ref: 'portcullis',
      dependsOn: components.filter(({ scope }) => scope !== 'excluded').map((one) => one['bom-ref']),
    },
    ...listed.map((one) => {
      const same = packages.filter((other) => refOf(other) === refOf(one))
      const needed = same.flatMap(({ needs }) =>
        needs.flatMap((key) => (byKey.has(key) ? [refOf(byKey.get(key))] : [])),
      )
      return { ref: refOf(one), dependsOn: [...new Set(needed)].sort() }
    }),
  ]
  const component = { type: 'application', 'bom-ref': 'portcullis', name, version, description, ...product }
  const body = { metadata: { component: { ...component, licenses: licenceOf(license) } }, components, dependencies }
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  // A UUID that is derived from the content (RFC 9562, version 8) instead of a random one.
  const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: `urn:uuid:${uuid}`, version: 1 }
  return `${JSON.stringify({ ...head, ...body }, null, 1)}\n`
}

const bill = () =>
  billOf({
    packages: packagesOf(read('package-lock.json')),
    others: works().map((one) => componentOfWork(one)),
  })

function licences() {
  const packages = unique(
    packagesOf(read('package-lock.json')).filter(({ purpose }) => purpose === 'runs'),
    refOf,
  )
  const texts = new Map()
  const add = (text, who) => {
    if (text !== null) texts.set(text, [...(texts.get(text) ?? []), who])
  }
  for (const one of packages) add(textOf(one), `${one.name} ${one.version}`)
  for (const { name, version, text } of works()) add(text, `${name} ${version}`)
  const hasText = new Set([...texts.values()].flat())
  const row = (name, version, licence, note) => `| ${name} | ${version} | ${licence} | ${note} |`
  return [
    '# Third-party licences',
    '',
    'Software that Portcullis ships with its own source, listed by `npm run build`. Build tools are in `sbom.cdx.json`, with the scope',
    '`excluded`. Packages of one platform have the licence text of the package that brings them.',
    '',
    '| name | version | licence | |',
    '|---|---|---|---|',
    ...works().map(({ name, version, licence, where }) => row(name, version, licence, where)),
    ...packages.map((one) =>
      row(one.name, one.version, one.licence, hasText.has(`${one.name} ${one.version}`) ? '' : 'brings no text'),
    ),
    '',
    '## Texts',
    ...[...texts].flatMap(([text, who]) => [
      '',
      `### ${who.join(', ')}`,
      '',
      '```',
      text.replaceAll('```', "'''"),
      '```',
    ]),
    '',
  ].join('\n')
}

/** Returns both files by name. */
export const sbomFiles = () => ({ 'sbom.cdx.json': bill(), 'THIRD-PARTY-LICENSES.md': licences() })

if (import.meta.main)
  for (const [name, text] of Object.entries(sbomFiles())) {
    writeFileSync(join(ROOT, name), text)
    say(`${name} written`)
  }
