import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import type { Access } from './access.ts'
import type { PostgresBinaries } from './binaries.ts'
import { errnoOf } from './errno.ts'
import { asOwner, type Owner } from './owner.ts'

/** The superuser, used only by the launcher. The product connects as the owner of its database. */
export const SUPERUSER = 'postgres'

/** Environment of PostgreSQL's programs: PGDATA, LD_PRELOAD or a proxy setting must not reach them. */
export const CHILD_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' }

// With plain C, lower('Ä'), ILIKE and trigrams of Cyrillic and CJK fail; the builtin provider needs no locale of the
// host.
const LOCALE = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8']

/**
 * Throws if a cluster exists that this release cannot use. Changes nothing.
 * @throws StartError
 */
export function assertClusterVersion(clusterDir: string, own: string): void {
  if (!existsSync(clusterDir)) return
  const major = readMajor(clusterDir)
  if (major === own) return
  throw new StartError(
    major === ''
      ? `${clusterDir} contains no usable database. Restore a backup into an empty data directory (PORTCULLIS_DATA_DIR), see docs/guide/backup.md.`
      : `${clusterDir} contains a database of PostgreSQL ${major}, but this release includes PostgreSQL ${own}. Use the release that created it, or set another PORTCULLIS_DATA_DIR.`,
  )
}

/**
 * Creates the cluster if it is missing.
 * @throws StartError if it cannot be created
 */
export async function ensureCluster(
  clusterDir: string,
  binaries: PostgresBinaries,
  owner: Owner,
  access: Access,
): Promise<void> {
  if (existsSync(clusterDir)) return
  // Created under a draft name and renamed when complete, so that a start after a crash repeats it.
  const draft = `${clusterDir}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  if (owner.drop) chownSync(draft, owner.uid, owner.gid)
  try {
    // In the configuration too, for a rollback to a release that does not pass them.
    const rules = [`--set=hba_file=${access.hba}`, `--set=ident_file=${access.ident}`]
    const auth = ['--auth-local=peer', '--auth-host=scram-sha-256']
    await run(binaries.initdb, ['-D', draft, '-U', SUPERUSER, ...auth, ...rules, ...LOCALE, '--no-instructions'], owner)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
  renameSync(draft, clusterDir)
}

/** Returns the size of the tables and indexes of a cluster that does not run. */
export function dataBytesOf(clusterDir: string): number {
  const base = join(clusterDir, 'base')
  return readdirSync(base, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, file) => sum + (statSync(join(base, file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

function readMajor(clusterDir: string): string {
  try {
    return readFileSync(join(clusterDir, 'PG_VERSION'), 'utf8').trim()
  } catch {
    return ''
  }
}

async function run(program: string, args: string[], owner: Owner): Promise<void> {
  const child = spawn(program, args, { ...asOwner(owner), cwd: '/', env: CHILD_ENV, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const failure = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(errnoOf(error)))
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : lastLine(output) || `it exited with ${signal ?? code}`),
    )
  })
  if (failure !== undefined) throw new StartError(`Cannot create the database: ${failure}.${startCureOf(failure)}`)
}

/** Returns what to do about a message of PostgreSQL at its start; empty if it is not known. */
export const startCureOf = (message: string): string =>
  /No space left|Disk quota/i.test(message)
    ? ' Free some space, then start the server again.'
    : /incompatible with server|pg_control|checkpoint record|invalid magic|incorrect checksum|could not open (?:file|directory)|is not a valid data directory|configuration file/i.test(
          message,
        )
      ? ' If the data is damaged, restore a backup into an empty data directory (docs/guide/backup.md).'
      : ''

const lastLine = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /error|fatal|could not/i.test(line))
    .at(-1)
    ?.trim()
    .replace(/\.$/, '') ?? ''
