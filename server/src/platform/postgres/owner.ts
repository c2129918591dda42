import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { StartError } from '../start-error.ts'

/** The system user that PostgreSQL runs as. PostgreSQL refuses to run as root. */
export interface Owner {
  uid: number
  gid: number
  name: string
  /** Whether this process is root and must switch to the owner for PostgreSQL programs. */
  drop: boolean
}

const CREATED_USER = 'portcullis-db'

/**
 * Selects the user for PostgreSQL: the current one, unless it is root. For root, it is the owner of an existing
 * cluster, else `postgres`, else a new system user, else `nobody`.
 */
export function chooseOwner(clusterDir: string): Owner {
  const uid = process.getuid?.() ?? -1
  const gid = process.getgid?.() ?? -1
  if (existsSync(clusterDir)) {
    const is = statSync(clusterDir)
    if (uid === 0 && is.uid !== 0) return { uid: is.uid, gid: is.gid, name: nameOf(is.uid), drop: true }
    if (uid !== 0 && is.uid !== uid) {
      throw new StartError(
        `The database in ${clusterDir} belongs to the user ${nameOf(is.uid)}. Start as that user or as root.`,
      )
    }
  }
  if (uid !== 0) return { uid, gid, name: nameOf(uid), drop: false }
  const user = lookUp('postgres') ?? lookUp(CREATED_USER) ?? createUser() ?? lookUp('nobody')
  if (user === undefined) {
    throw new StartError(
      'The database cannot run as root, no user postgres or nobody exists, and creating one failed. ' +
        'Start as an ordinary user, or set DATABASE_URL to a PostgreSQL server.',
    )
  }
  return { ...user, drop: true }
}

/** Returns the credentials for `spawn`. libuv also drops the supplementary groups. */
export const asOwner = (owner: Owner): { uid?: number; gid?: number } =>
  owner.drop ? { uid: owner.uid, gid: owner.gid } : {}

function createUser(): Omit<Owner, 'drop'> | undefined {
  const options = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  spawnSync('useradd', [...options, '--shell', '/usr/sbin/nologin', CREATED_USER], { stdio: 'ignore', timeout: 10_000 })
  return lookUp(CREATED_USER)
}

// `id` asks NSS, so it also finds users of LDAP or SSSD, which /etc/passwd lacks.
function lookUp(name: string): Omit<Owner, 'drop'> | undefined {
  const [uid, gid] = [id('-u', name), id('-g', name)].map((text) => (/^\d+$/.test(text) ? Number(text) : -1))
  return uid === undefined || gid === undefined || uid <= 0 || gid < 0 ? undefined : { uid, gid, name }
}

const nameOf = (uid: number): string => id('-un', String(uid)) || String(uid)

function id(...args: string[]): string {
  const run = spawnSync('id', args, { encoding: 'utf8', timeout: 10_000 })
  return run.status === 0 ? run.stdout.trim() : ''
}
