import { chmodSync, lchownSync, lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartError } from '../start-error.ts'
import type { LauncherLog } from './log.ts'
import { DATABASE_USER, type Owner, sharedUids } from './owner.ts'

/**
 * Gives the cluster of an earlier release to `portcullis-db`. That release, started as root, ran PostgreSQL as
 * `postgres` or `nobody`. Other programs run as these users too, and may change the files meanwhile. So each directory
 * is closed to them before its entries are read, and no link is followed.
 * @throws StartError
 */
export function giveCluster(clusterDir: string, owner: Owner, log: LauncherLog): void {
  const top = lstatSync(clusterDir, { throwIfNoEntry: false })
  // A cluster of root is one whose change of owner was interrupted.
  if (top === undefined || !owner.drop || top.uid === owner.uid) return
  const from = sharedUids()
  const parent = dirname(clusterDir)
  const { uid, mode } = statSync(parent)
  const cure = `Stop every program of that user, then run \`chown -hR ${DATABASE_USER}: ${clusterDir}\`.`
  if (uid !== 0 || (mode & 0o022) !== 0)
    throw new StartError(
      `The database in ${clusterDir} belongs to a user that other programs run as, and root is not the only user that can change the data directory ${parent}. ` +
        `Start as the user that owns it, or run \`chown root: ${parent} && chmod go-w ${parent}\` and start again.`,
    )
  if (!top.isDirectory())
    throw new StartError(`${clusterDir} is not a directory. Restore a backup (docs/guide/backup.md).`)
  assertGivable(clusterDir, owner, from, cure)
  // Root's until the last entry is done, so that an interrupted start repeats it.
  lchownSync(clusterDir, 0, 0)
  chmodSync(clusterDir, 0o700)
  giveEntries(clusterDir, owner, from)
  lchownSync(clusterDir, owner.uid, owner.gid)
  log.info({ user: owner.name }, 'gave the files of the database to its own user')
}

function giveEntries(dir: string, owner: Owner, from: Set<number>): void {
  for (const { path, is } of entriesOf(dir)) {
    if (from.has(is.uid) && isGivable(is)) lchownSync(path, owner.uid, owner.gid)
    else if (is.uid !== owner.uid) continue
    if (!is.isDirectory()) continue
    chmodSync(path, 0o700)
    giveEntries(path, owner, from)
  }
}

// A second name may be that of a file outside.
const isGivable = (is: Stats): boolean => is.isDirectory() || is.isSymbolicLink() || is.nlink === 1

/** Throws if the database could not read its files afterwards. Changes nothing. */
function assertGivable(dir: string, owner: Owner, from: Set<number>, cure: string): void {
  for (const { path, is } of entriesOf(dir)) {
    if (is.isDirectory()) assertGivable(path, owner, from, cure)
    else if (from.has(is.uid) && !isGivable(is))
      throw new StartError(`The file ${path} of the database has a second name, so its owner was not changed. ${cure}`)
    else if (is.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.uid !== owner.uid)
      throw new StartError(
        `${path} is a link to ${readlinkSync(path)}, which does not belong to ${owner.name}. ` +
          `If it is part of the database, give it to that user and start again; otherwise remove the link.`,
      )
  }
}

const entriesOf = (dir: string): { path: string; is: Stats }[] =>
  readdirSync(dir).map((name) => ({ path: join(dir, name), is: lstatSync(join(dir, name)) }))
