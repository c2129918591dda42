import { accessSync, chmodSync, constants, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '../start-error.ts'
import { errnoOf } from './errno.ts'

/**
 * Makes the data directory when it is missing and answers its real path.
 * @throws StartError when it can not be made or written.
 */
export function prepareDataDir(dataDir: string): string {
  try {
    makeDirs(dataDir)
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      `The data directory ${dataDir} can not be written (${errnoOf(error)}): choose another with PORTCULLIS_DATA_DIR.`,
      { cause: error },
    )
  }
  return realpathSync(dataDir)
}

/**
 * Node's recursive mkdir never returns where a directory can not be made although its parent is there and writable to
 * us (seen with 24.21 below /proc), so the parents are made here, each tried once.
 */
function makeDirs(dir: string, mode = 0o700): void {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found !== undefined) throw new StartError(`${dir} is not a directory: choose another with PORTCULLIS_DATA_DIR.`)
  if (dirname(dir) !== dir) makeDirs(dirname(dir), 0o755)
  mkdirSync(dir, { mode })
  // Whatever the umask says: the database user has to pass through what root makes on the way.
  chmodSync(dir, mode)
}

/**
 * PostgreSQL runs as another user when we are root, so that user must be able to pass through to its files.
 * Our own data directory is opened for passing (not for reading); a closed directory above it is not ours to open.
 */
export function letThrough(dataDir: string, owner: { uid: number; gid: number; name: string }): void {
  const own = lstatSync(dataDir)
  if (!passable(own, owner)) chmodSync(dataDir, (own.mode & 0o7777) | 0o011)
  for (let dir = dirname(dataDir); ; dir = dirname(dir)) {
    if (!passable(statSync(dir), owner)) {
      throw new StartError(
        `The database runs as the user ${owner.name}, who may not pass through ${dir} to ${dataDir}: ` +
          'choose another data directory with PORTCULLIS_DATA_DIR.',
      )
    }
    if (dir === dirname(dir)) return
  }
}

const passable = (dir: { mode: number; uid: number; gid: number }, owner: { uid: number; gid: number }): boolean =>
  ((dir.mode >> (dir.uid === owner.uid ? 6 : dir.gid === owner.gid ? 3 : 0)) & 1) === 1
