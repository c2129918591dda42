import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'

/** Letters, digits, `_` and `-`: no separator or dot, so a name cannot leave the root. */
const folderName = /^[A-Za-z0-9][\w-]{0,63}$/
/** Form of the file names of reports. */
const fileName = /^[a-z0-9][a-z0-9-]{0,99}Z-[0-9a-f]{8}\.(csv|pdf)$/

const refused = (folder: string, what: string): AppError =>
  new AppError('unprocessable', { detail: `The folder ${folder} ${what}` })

const cures: Readonly<Record<string, string>> = {
  EACCES: 'is not writable. Give the server permission to write there.',
  EPERM: 'is not writable. Give the server permission to write there.',
  EROFS: 'is on a read-only file system.',
  ENOSPC: 'has no space left. Free some space, or keep fewer files.',
  EDQUOT: 'has no space left. Free some space, or keep fewer files.',
  ELOOP: 'is a symbolic link, which the server never follows. Replace it with a folder.',
  ENOTDIR: 'is not a folder, or is a symbolic link, which the server never follows.',
}

const readable = (folder: string, error: unknown): unknown => {
  const known = cures[(error as NodeJS.ErrnoException).code ?? '']
  return known === undefined ? error : refused(folder, known)
}

/**
 * Opens report folders below one root. Writes stay in the opened folder, even if its name points elsewhere in the meantime.
 */
export const createFolders = (root: string, clock: Clock) => {
  /** Passes an opened folder by a path to its descriptor, not to what its name may point to by now. */
  async function withFolder<T>(folder: string, work: (path: string, handle: FileHandle) => Promise<T>): Promise<T> {
    if (!folderName.test(folder))
      throw refused(folder.slice(0, 64), 'has an invalid name. Use letters, digits, _ and -.')
    try {
      await mkdir(root, { recursive: true, mode: 0o750 })
      const path = join(root, folder)
      await mkdir(path, { mode: 0o750 }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      try {
        return await work(process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path, handle)
      } finally {
        await handle.close()
      }
    } catch (error) {
      throw readable(folder, error)
    }
  }

  /** Deletes unfinished files of servers that crashed: those unchanged for ten minutes. */
  async function removeParts(path: string, name: string): Promise<void> {
    for (const one of await readdir(path)) {
      if (!one.startsWith(`.${name}.`) || !one.endsWith('.part')) continue
      const { mtimeMs } = await lstat(join(path, one)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
      if (clock.now() - mtimeMs > 600_000) await rm(join(path, one), { force: true })
    }
  }

  return {
    root,

    /** Writes a file atomically, so that readers never see a part of it. Replaces a file of the same name. */
    write: (folder: string, name: string, chunks: AsyncIterable<Buffer>): Promise<void> =>
      withFolder(folder, async (path, handle) => {
        if (!fileName.test(name)) throw new Error(`invalid report file name: ${name}`)
        // Each attempt has its own name, so that concurrent writes never share a file.
        const temporary = join(path, `.${name}.${randomBytes(6).toString('hex')}.part`)
        await removeParts(path, name)
        const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
        const file = await open(temporary, flags, 0o640)
        try {
          try {
            for await (const chunk of chunks) await file.writeFile(chunk)
            await file.chmod(0o640)
            await file.sync()
          } finally {
            await file.close()
          }
          await rename(temporary, join(path, name))
        } catch (error) {
          await rm(temporary, { force: true })
          throw error
        }
        await handle.sync()
      }),

    /** Deletes a report file. A missing file is not an error. */
    remove: (folder: string, name: string): Promise<void> =>
      withFolder(folder, async (path) => {
        if (fileName.test(name)) await rm(join(path, name), { force: true })
      }),
  }
}

export type Folders = ReturnType<typeof createFolders>
