import { chmodSync, lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '../start-error.ts'

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
