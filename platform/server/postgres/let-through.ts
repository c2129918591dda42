import { chmodSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '../start-error.ts'

type User = { uid: number; gid: number; name: string }

/**
 * Throws if the database user cannot reach the data directory. As root we run PostgreSQL as another user, and must not
 * change the permissions of a closed directory above.
 * @throws StartError with the closed directory
 */
export function assertReachable(dataDir: string, owner: User): void {
  for (let dir = nearestDir(dirname(dataDir)); ; dir = dirname(dir)) {
    if (!passable(statSync(dir), owner)) {
      throw new StartError(
        `The database runs as the user ${owner.name}, who cannot enter ${dir}, which contains the data directory ${dataDir}. ` +
          `Run \`chmod o+x ${dir}\`, or set PORTCULLIS_DATA_DIR to another directory.`,
      )
    }
    if (dir === dirname(dir)) return
  }
}

/** Gives the database user access to its files: makes our data directory passable, but not readable. */
export function letThrough(dataDir: string, owner: User): void {
  const own = lstatSync(dataDir)
  if (!passable(own, owner)) chmodSync(dataDir, (own.mode & 0o7777) | 0o011)
  assertReachable(dataDir, owner)
}

/** Returns the real path of the nearest existing directory upwards. */
const nearestDir = (dir: string): string =>
  statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true || dir === dirname(dir)
    ? realpathSync(dir)
    : nearestDir(dirname(dir))

const passable = (dir: { mode: number; uid: number; gid: number }, owner: User): boolean =>
  ((dir.mode >> (dir.uid === owner.uid ? 6 : dir.gid === owner.gid ? 3 : 0)) & 1) === 1
