import { accessSync, chmodSync, constants, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { StartError } from './start-error.ts'

/** Returns the data directory: the configured one, or the default of the user. */
export const dataDirOf = (env: NodeJS.ProcessEnv, isRoot: boolean): string =>
  env.PORTCULLIS_DATA_DIR ?? (isRoot ? '/var/lib/portcullis' : join(homedir(), '.local/share/portcullis'))

/** Returns whether a folder exists and only this process's account (and root) can write to it. */
export const isOwnFolder = (dir: string): boolean => {
  const there = statSync(dir, { throwIfNoEntry: false })
  return there?.isDirectory() === true && there.uid === process.getuid?.() && (there.mode & 0o022) === 0
}

/**
 * Returns the folder for compiled code in a data directory; null if the directory is missing or others may write to it.
 * Its content runs as code. Node creates it by the umask, and a folder that others can write to may hold their code.
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
 * Creates the data directory if it is missing and returns its real path.
 * @throws StartError if it cannot be created or written
 */
export function prepareDataDir(dataDir: string): string {
  try {
    makeDirs(dataDir)
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      `The data directory ${dataDir} is not writable (${(error as NodeJS.ErrnoException).code ?? error}). Set PORTCULLIS_DATA_DIR to another one.`,
      { cause: error },
    )
  }
  return realpathSync(dataDir)
}

/**
 * Creates a directory and its missing parents, each tried once. Node's recursive mkdir never returns if a directory
 * cannot be created in an existing, writable parent (seen with 24.21 below /proc).
 */
export function makeDirs(dir: string, mode = 0o700): void {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found !== undefined) throw new StartError(`${dir} is not a directory. Set PORTCULLIS_DATA_DIR to another path.`)
  if (dirname(dir) !== dir) makeDirs(dirname(dir), 0o755)
  mkdirSync(dir, { mode })
  // Overrides the umask, because the database user must traverse parents that root creates.
  chmodSync(dir, mode)
}
