import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import { StartError } from '../start-error.ts'

/** The system user that PostgreSQL runs as. PostgreSQL refuses to run as root. */
export interface Owner {
  uid: number
  gid: number
  name: string
  /** Whether this process is root and must switch to the owner for PostgreSQL programs. */
  drop: boolean
}

/** The user for PostgreSQL if this process is root. */
export const DATABASE_USER = 'portcullis-db'
/** Earlier releases that root started ran PostgreSQL as one of these users. Other programs run as them too. */
const SHARED_USERS = ['postgres', 'nobody']

const CURE =
  `Create it (\`useradd --system --user-group --no-create-home --shell /usr/sbin/nologin ${DATABASE_USER}\`), ` +
  'start as an ordinary user, or set DATABASE_URL to a PostgreSQL server.'

/**
 * Selects the user for PostgreSQL: the current one, unless it is root. For root, it is `portcullis-db`, except for a
 * cluster of an ordinary user, for example that of a service.
 * @throws StartError
 */
export function chooseOwner(clusterDir: string): Owner {
  const uid = process.getuid?.() ?? -1
  const is = existsSync(clusterDir) ? lstatSync(clusterDir) : undefined
  if (uid !== 0) {
    if (is !== undefined && is.uid !== uid) {
      throw new StartError(
        `The database in ${clusterDir} belongs to the user ${nameOf(is.uid) || is.uid}. Start as that user or as root.`,
      )
    }
    return { uid, gid: process.getgid?.() ?? -1, name: ownName(), drop: false }
  }
  if (is !== undefined && is.uid !== 0 && !sharedUids().has(is.uid))
    return { uid: is.uid, gid: is.gid, name: nameOf(is.uid) || String(is.uid), drop: true }
  const user = lookUp(DATABASE_USER) ?? createUser()
  if (user === undefined) {
    throw new StartError(
      `The database cannot run as root, the user ${DATABASE_USER} does not exist, and creating it failed. ${CURE}`,
    )
  }
  return { ...user, drop: true }
}

/** Returns the ids of the users whose cluster a start as root migrates to `portcullis-db`. */
export const sharedUids = (): Set<number> => new Set(SHARED_USERS.flatMap((name) => lookUp(name)?.uid ?? []))

/**
 * Returns the name of this process's user, which PostgreSQL needs to recognise it.
 * @throws StartError
 */
export function ownName(): string {
  try {
    return userInfo().username
  } catch (error) {
    throw new StartError(
      `The user id ${process.getuid?.()} has no name on this system, so the database cannot recognise it. ` +
        'Add it to /etc/passwd, start as another user, or set DATABASE_URL to a PostgreSQL server.',
      { cause: error },
    )
  }
}

/** Returns the credentials for `spawn`. libuv also drops the supplementary groups. */
export const asOwner = (owner: Owner): { uid?: number; gid?: number } =>
  owner.drop ? { uid: owner.uid, gid: owner.gid } : {}

function createUser(): Omit<Owner, 'drop'> | undefined {
  const options = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  spawnSync('useradd', [...options, '--shell', '/usr/sbin/nologin', DATABASE_USER], {
    stdio: 'ignore',
    timeout: 10_000,
  })
  return lookUp(DATABASE_USER)
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
