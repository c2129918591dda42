import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Owner } from './owner.ts'

/** TCP is off; the port only appears in the socket's file name. */
export const PORT = 5432

// sun_path has 108 bytes on Linux and 104 on macOS, including the closing NUL.
const MAX_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107
const SHORT_PREFIX = 'portcullis-'

export interface SocketDir {
  path: string
  remove(): void
}

/**
 * Creates the directory for the database's socket. Only the database user (and root) may enter it, which protects the
 * database, because it has no password. It is in the data directory. If that path is too long for a socket, it is under
 * a short temporary path recorded in the file `socket-dir`.
 */
export function makeSocketDir(dataDir: string, owner: Owner, roots: string[] = ['/run', tmpdir(), '/tmp']): SocketDir {
  const record = join(dataDir, 'socket-dir')
  removeRecorded(record)
  const inside = join(dataDir, 'run')
  if (fits(inside)) {
    mkdirSync(inside, { recursive: true, mode: 0o700 })
    close(inside, owner)
    return { path: inside, remove: () => undefined }
  }
  const path = shortDir(roots)
  close(path, owner)
  writeFileSync(record, path, { mode: 0o600 })
  return { path, remove: () => removeRecorded(record) }
}

/** Returns the socket directory of a running database. */
export function socketDirOf(dataDir: string): string {
  try {
    return readFileSync(join(dataDir, 'socket-dir'), 'utf8')
  } catch {
    return join(dataDir, 'run')
  }
}

function shortDir(roots: string[]): string {
  let failure: unknown
  for (const root of roots.filter((root) => fits(join(root, `${SHORT_PREFIX}XXXXXX`)))) {
    try {
      return mkdtempSync(join(root, SHORT_PREFIX))
    } catch (error) {
      failure = error
    }
  }
  throw failure ?? new Error('no directory with a path short enough for a socket')
}

const fits = (dir: string): boolean => Buffer.byteLength(join(dir, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH

function close(dir: string, owner: Owner): void {
  chmodSync(dir, 0o700)
  if (owner.drop) chownSync(dir, owner.uid, owner.gid)
}

/** Removes the temporary directory of a killed server, if its name has our form. */
function removeRecorded(record: string): void {
  try {
    const path = readFileSync(record, 'utf8')
    if (basename(path).startsWith(SHORT_PREFIX) && lstatSync(path).isDirectory()) rmSync(path, { recursive: true })
  } catch {
    // Nothing is recorded, or it is removed already.
  }
  rmSync(record, { force: true })
}
