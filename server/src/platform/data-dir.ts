import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Data directory of a server: the one that is named, or the usual one of who runs it. */
export const dataDirOf = (env: NodeJS.ProcessEnv, isRoot: boolean): string =>
  env.PORTCULLIS_DATA_DIR ?? (isRoot ? '/var/lib/portcullis' : join(homedir(), '.local/share/portcullis'))

/** Whether a folder is there and only the account of this process can put anything into it (root aside). */
export const isOwnFolder = (dir: string): boolean => {
  const there = statSync(dir, { throwIfNoEntry: false })
  return there?.isDirectory() === true && there.uid === process.getuid?.() && (there.mode & 0o022) === 0
}
