import { createHash, randomBytes } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { access, lstat, mkdir, open, realpath, rename, rm, stat, statfs } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { AppError } from '@portcullis/platform/server/app-error.ts'

/** Form of the names of scheduled backups. */
const fileForm = /^portcullis-\d{8}-\d{6}Z-[0-9a-f]{8}\.backup$/

const cures: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Create it for the account of the server, or mount it.',
  ENOTDIR: 'is not a folder.',
  EACCES:
    'is not writable. Give the account of the server permission to write there. With systemd, also add it to ReadWritePaths of the unit.',
  EPERM: 'is not writable. Give the account of the server permission to write there.',
  EROFS: 'is on a read-only file system. With systemd, add it to ReadWritePaths of the unit.',
  ENOSPC: 'has no space left. Free some space, or keep fewer backups.',
  EDQUOT: 'has no space left. Free some space, or keep fewer backups.',
  ESTALE: 'is on a network file system that does not respond. Mount it again.',
  EIO: 'cannot be read or written (input/output error). Check its disk.',
}

const folderError = (folder: string, what: string): AppError =>
  new AppError('unprocessable', { detail: `The backup folder ${folder} ${what}` })

/** Returns a file system error as a problem with a cure; other errors as they are. */
export const readableFault = (folder: string, error: unknown): unknown => {
  const cure = cures[(error as NodeJS.ErrnoException).code ?? '']
  return cure === undefined ? error : folderError(folder, cure)
}

/** Returns the name of the file of a run. */
export const fileNameOf = (runId: string, at: number): string =>
  `portcullis-${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}Z-${runId.replaceAll('-', '').slice(-8)}.backup`

export interface FolderOptions {
  /** The default folder, which is created. */
  own: string
  dataDir: string
}

/** Least free space of a usable folder. */
const leastFree = 1_000_000

const isInside = (parent: string, path: string): boolean => path === parent || path.startsWith(`${parent}${sep}`)

/** Checks that a folder exists and looks writable, without writing to it. */
export const assertUsable = async (folder: string, { own, dataDir }: FolderOptions): Promise<void> => {
  if (!isAbsolute(folder)) throw folderError(folder, 'is not an absolute path such as /backup/portcullis.')
  try {
    if (folder === own) await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting)
    if (!(await stat(folder)).isDirectory()) throw folderError(folder, cures.ENOTDIR as string)
    // The server deletes and replaces its other folders there, for example during an upgrade.
    const [data, real] = await Promise.all([realpath(dataDir), realpath(folder)])
    if (isInside(data, real) && !isInside(join(data, 'backups'), real))
      throw folderError(folder, `is inside the data directory. Choose ${own} or a folder outside.`)
    await access(folder, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < leastFree) throw folderError(folder, cures.ENOSPC as string)
  } catch (error) {
    throw readableFault(folder, error)
  }
}

/** Checks that a folder can be used, and writes a file to it. */
export const assertFolder = async (folder: string, options: FolderOptions): Promise<void> => {
  await assertUsable(folder, options)
  try {
    const probe = join(folder, `.portcullis-${randomBytes(6).toString('hex')}.test`)
    const file = await open(probe, 'wx', 0o600)
    try {
      await file.writeFile(Buffer.alloc(4_096))
      await file.sync()
    } finally {
      await file.close()
      await rm(probe, { force: true })
    }
  } catch (error) {
    throw readableFault(folder, error)
  }
}

const ignoreExisting = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error
}

/** Returns the free bytes of a folder; null if it cannot be read. */
export const freeBytesOf = (folder: string): Promise<number | null> =>
  statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  )

export const partOf = (folder: string, name: string): string => join(folder, `.${name}.part`)

/** Writes an unfinished file and returns its size and SHA-256. Replaces the part of an interrupted attempt. */
export const writePart = async (
  path: string,
  chunks: AsyncIterable<Buffer>,
): Promise<{ bytes: number; sha256: string }> => {
  await rm(path, { force: true })
  const hash = createHash('sha256')
  let bytes = 0
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      await file.writeFile(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Yields a file and throws at its end if its content is not what was written. */
export async function* readPart(path: string, expected: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== expected) throw new Error('the file differs from what was written')
}

/** Gives a verified file its name, durably. */
export const publish = async (folder: string, name: string): Promise<void> => {
  await rename(partOf(folder, name), join(folder, name))
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Deletes a backup if it still is the file that was written: same name, a regular file, same size. Returns what was found.
 */
export const removeBackup = async (
  folder: string,
  name: string,
  bytes: number,
): Promise<'deleted' | 'missing' | 'changed'> => {
  if (!fileForm.test(name)) return 'changed'
  const path = join(folder, name)
  const info = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (info === null) return 'missing'
  if (!info.isFile() || info.size !== bytes) return 'changed'
  await rm(path)
  return 'deleted'
}
