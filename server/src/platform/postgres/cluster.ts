import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import type { PostgresBinaries } from './binaries.ts'
import { errnoOf } from './errno.ts'
import { asOwner, type Owner } from './owner.ts'

/** The superuser, used only by the launcher. The product connects as the owner of its database. */
export const SUPERUSER = 'postgres'

/** Environment of PostgreSQL's programs: PGDATA, LD_PRELOAD or a proxy setting must not reach them. */
export const CHILD_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' }

// With plain C, lower('Ä'), ILIKE and trigrams of Cyrillic and CJK fail; the builtin provider needs no locale of the
// host.
const INITDB = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8']

/**
 * Creates the cluster if it is missing.
 * @throws StartError if it belongs to another PostgreSQL version, or cannot be created
 */
export async function ensureCluster(clusterDir: string, binaries: PostgresBinaries, owner: Owner): Promise<void> {
  if (existsSync(clusterDir)) {
    const major = readMajor(clusterDir)
    if (major === binaries.major) return
    throw new StartError(
      `${clusterDir} contains ${major === '' ? 'no usable database' : `a database of PostgreSQL ${major}`}, ` +
        `but this release includes PostgreSQL ${binaries.major}. Use the release that created it, or set another PORTCULLIS_DATA_DIR.`,
    )
  }
  // Created under a draft name and renamed when complete, so that a start after a crash repeats it.
  const draft = `${clusterDir}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  if (owner.drop) chownSync(draft, owner.uid, owner.gid)
  await run(binaries.initdb, ['-D', draft, '-U', SUPERUSER, '--auth=trust', ...INITDB, '--no-instructions'], owner)
  renameSync(draft, clusterDir)
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
  if (failure !== undefined) throw new StartError(`Cannot create the database: ${failure}.`)
}

const lastLine = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /error|fatal|could not/i.test(line))
    .at(-1)
    ?.trim()
    .replace(/\.$/, '') ?? ''
