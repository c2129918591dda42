import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Refusal } from './say.mjs'

/**
 * Stops before anything is fetched or built if the database user cannot reach the data directory. The server makes the
 * same check (`platform/server/postgres/let-through.ts`). Only root runs the database as another user.
 */
export function assertDataDirReachable(env = process.env) {
  if (process.getuid?.() !== 0 || env.DATABASE_URL || env.DATABASE_URL_FILE) return
  const dataDir = resolve(env.PORTCULLIS_DATA_DIR ?? '/var/lib/portcullis')
  const user = databaseUser(join(dataDir, 'postgres'))
  if (user === undefined) return
  for (let dir = nearestDir(dirname(dataDir)); ; dir = dirname(dir)) {
    const { mode, uid, gid } = statSync(dir)
    if (((mode >> (uid === user.uid ? 6 : gid === user.gid ? 3 : 0)) & 1) === 0)
      throw new Refusal(
        `The database runs as the user ${user.name}, who cannot enter ${dir}, which contains the data directory ${dataDir}. ` +
          `Run \`chmod o+x ${dir}\`, or set PORTCULLIS_DATA_DIR to another directory.`,
      )
    if (dir === dirname(dir)) return
  }
}

/** Returns the user that PostgreSQL will run as, like `chooseOwner`. Undefined if it must be created first. */
function databaseUser(clusterDir) {
  const cluster = existsSync(clusterDir) ? statSync(clusterDir) : undefined
  const name = cluster === undefined || cluster.uid === 0 ? '' : id('-un', String(cluster.uid)) || String(cluster.uid)
  if (!['', 'postgres', 'nobody'].includes(name)) return { uid: cluster.uid, gid: cluster.gid, name }
  const [uid, gid] = [id('-u', 'portcullis-db'), id('-g', 'portcullis-db')]
  return uid === '' || gid === '' ? undefined : { uid: Number(uid), gid: Number(gid), name: 'portcullis-db' }
}

function id(...args) {
  const run = spawnSync('id', args, { encoding: 'utf8', timeout: 5_000 })
  return run.status === 0 ? run.stdout.trim() : ''
}

/** Returns the real path of the nearest existing parent directory. */
function nearestDir(dir) {
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true || dir === dirname(dir)
    ? realpathSync(dir)
    : nearestDir(dirname(dir))
}
