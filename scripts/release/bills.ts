/** Writes a bill of materials (CycloneDX) for each file of a release. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Refusal, ROOT } from '../bootstrap/say.mjs'
import { billOf, componentOfWork } from '../sbom.mjs'
import { packagesOf, works } from '../shipped.mjs'
import { DEBIAN } from './debian-pins.ts'
import type { MacosTarget } from './macos.ts'
import { faultsOf } from './support.ts'
import type { Target } from './targets.ts'

const lock = () => JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))

/** Returns the npm packages that the workspaces need at run time. */
const running = (workspaces: readonly string[]) =>
  packagesOf(lock(), workspaces).filter(({ purpose }) => purpose === 'runs')

/**
 * Returns the contents of a staged server: npm packages in its folders or in the bundles of console and agent, and works that
 * are not packages.
 */
export const serverContents = (dir: string) => {
  const bundled = new Set(running(['console', 'agent']).map(({ key }) => key))
  const isInstalled = (key: string) => existsSync(join(dir, key, 'package.json'))
  const packages = packagesOf(lock()).filter(
    ({ key, purpose }) => purpose === 'runs' && (isInstalled(key) || bundled.has(key)),
  )
  // Everything that this target contains is required.
  return {
    packages: packages.map((one) => ({ ...one, isOptional: false })),
    others: works().map((one) => componentOfWork(one)),
  }
}

/** Returns the contents of an agent: Node and the packages in its bundle. The Windows installer contains the same. */
export const agentContents = () => ({
  packages: running(['agent']),
  others: works()
    .filter(({ name }) => name === 'Node.js')
    .map((one) => componentOfWork(one)),
})

/** Returns the contents of an update for Windows. It does not contain Node, because hosts run it with the Node of the installed MSI. */
export const scriptContents = () => ({ packages: running(['agent']), others: [] })

/** Returns what an agent for macOS contains. Its Node has another version than the one of Linux. */
export const macosContents = ({ version, sha256 }: MacosTarget) => ({
  packages: running(['agent']),
  others: works()
    .filter(({ name }) => name === 'Node.js')
    .map((one) => componentOfWork({ ...one, version }, { hashes: [{ alg: 'SHA-256', content: sha256 }] })),
})

/** Returns the Debian packages in an image, as components. */
export const debianContents = ({ debian }: Target) =>
  DEBIAN.packages.map(({ name, version, source, licence, why, sha256 }) =>
    componentOfWork(
      { name, version, licence, where: `${why}; source package ${source} of Debian ${DEBIAN.release}` },
      {
        hashes: [{ alg: 'SHA-256', content: sha256[debian] }],
        purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${debian}&distro=debian-${DEBIAN.release}`,
      },
    ),
  )

interface Contents {
  packages: ReturnType<typeof running>
  others: ReturnType<typeof componentOfWork>[]
}

/**
 * Writes the bill of materials of a file of a release next to it, with the file's digest. Returns the path.
 * @throws Refusal if the file contains a runtime without security support
 */
export const writeBill = async (
  file: string,
  { packages, others }: Contents,
  today = new Date().toISOString().slice(0, 10),
): Promise<string> => {
  const faults = faultsOf([...packages, ...others], today)
  if (faults.length > 0)
    throw new Refusal(
      `${basename(file)} contains software without security support. Update it, or decide about an exception in scripts/release/support-dates.json:\n${faults.join('\n')}`,
    )
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  const product = { name: basename(file), hashes: [{ alg: 'SHA-256', content: hash.digest('hex') }] }
  writeFileSync(`${file}.cdx.json`, billOf({ product, packages, others }))
  return `${file}.cdx.json`
}
