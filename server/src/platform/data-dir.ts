import { accessSync, chmodSync, constants, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { StartError } from './start-error.ts'

/** Data directory of a server: the one that is named, or the usual one of who runs it. */
export const dataDirOf = (env: NodeJS.ProcessEnv, isRoot: boolean): string =>
  env.PORTCULLIS_DATA_DIR ?? (isRoot ? '/var/lib/portcullis' : join(homedir(), '.local/share/portcullis'))

/** Whether a folder is there and only the account of this process can put anything into it (root aside). */
export const isOwnFolder = (dir: string): boolean => {
  const there = statSync(dir, { throwIfNoEntry: false })
  return there?.isDirectory() === true && there.uid === process.getuid?.() && (there.mode & 0o022) === 0
}

/**
 * The folder of compiled code in a data directory; null when others may write there, or the directory is not there yet.
 * What is kept in it is run as code: Node makes it as the umask says, and one that others could write to may hold theirs.
 */
export const codeCacheOf = (dataDir: string): string | null => {
  if (!isOwnFolder(dataDir)) return null
  const dir = join(dataDir, 'code-cache')
  if (!isOwnFolder(dir)) {
    rmSync(dir, { recursive: true, force: true })
    mkdirSync(dir, { recursive: true })
  }
  chmodSync(dir, 0o700)
  return dir
}

/**
 * Makes the data directory when it is missing and answers its real path.
 * @throws StartError when it cannot be made or written.
 */
export function prepareDataDir(dataDir: string): string {
  try {
    makeDirs(dataDir)
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      `The data directory ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code ?? error}): choose another with PORTCULLIS_DATA_DIR.`,
      { cause: error },
    )
  }
  return realpathSync(dataDir)
}

/**
 * Node's recursive mkdir never returns where a directory cannot be made although its parent is there and writable to
 * us (seen with 24.21 below /proc), so the parents are made here, each tried once.
 */
export function makeDirs(dir: string, mode = 0o700): void {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found !== undefined) throw new StartError(`${dir} is not a directory: choose another with PORTCULLIS_DATA_DIR.`)
  if (dirname(dir) !== dir) makeDirs(dirname(dir), 0o755)
  mkdirSync(dir, { mode })
  // Whatever the umask says: the database user has to pass through what root makes on the way.
  chmodSync(dir, mode)
}
