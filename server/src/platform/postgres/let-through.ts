import { chmodSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '../start-error.ts'

type User = { uid: number; gid: number; name: string }

/**
 * Refuses a data directory that the database user cannot reach. PostgreSQL runs as another user when we are root, and a
 * closed directory above the data directory is not ours to open.
 * @throws StartError that names the closed directory.
 */
export function assertReachable(dataDir: string, owner: User): void {
  for (let dir = nearestDir(dirname(dataDir)); ; dir = dirname(dir)) {
    if (!passable(statSync(dir), owner)) {
      throw new StartError(
        `The database runs as the user ${owner.name}, who cannot enter ${dir}, which contains the data directory ${dataDir}. ` +
          `Run \`chmod o+x ${dir}\`, or choose another data directory with PORTCULLIS_DATA_DIR.`,
      )
    }
    if (dir === dirname(dir)) return
  }
}

/** Lets the database user through to its files: our own data directory is opened for passing, not for reading. */
export function letThrough(dataDir: string, owner: User): void {
  const own = lstatSync(dataDir)
  if (!passable(own, owner)) chmodSync(dataDir, (own.mode & 0o7777) | 0o011)
  assertReachable(dataDir, owner)
}

/** The real path of the first directory on the way up that exists. */
const nearestDir = (dir: string): string =>
  statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true || dir === dirname(dir)
    ? realpathSync(dir)
    : nearestDir(dirname(dir))

const passable = (dir: { mode: number; uid: number; gid: number }, owner: User): boolean =>
  ((dir.mode >> (dir.uid === owner.uid ? 6 : dir.gid === owner.gid ? 3 : 0)) & 1) === 1
