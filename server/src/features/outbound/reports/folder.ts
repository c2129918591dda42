import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'

/** Letters, digits, `_`, `-`: no separator, no dot, nothing that leads elsewhere. */
const folderName = /^[A-Za-z0-9][\w-]{0,63}$/
/** What this feature names its files, and nothing else. */
const fileName = /^[a-z0-9][a-z0-9-]{0,99}Z-[0-9a-f]{8}\.(csv|pdf)$/

const refused = (folder: string, what: string): AppError =>
  new AppError('unprocessable', { detail: `The folder ${folder} ${what}` })

const words: Readonly<Record<string, string>> = {
  EACCES: 'cannot be written to. Give the server the right to write there.',
  EPERM: 'cannot be written to. Give the server the right to write there.',
  EROFS: 'is on a read-only file system.',
  ENOSPC: 'has no space left. Free some, or keep fewer files.',
  EDQUOT: 'has no space left. Free some, or keep fewer files.',
  ELOOP: 'is a symbolic link, which is never followed. Make it a folder.',
  ENOTDIR: 'is no folder, or a symbolic link, which is never followed.',
}

const inWords = (folder: string, error: unknown): unknown => {
  const known = words[(error as NodeJS.ErrnoException).code ?? '']
  return known === undefined ? error : refused(folder, known)
}

/** Folders of reports below one root. A name stays a name: whatever a folder is replaced by meanwhile, nothing is written elsewhere. */
export const createFolders = (root: string, clock: Clock) => {
  /** Lends an opened folder by a path that names the opened one, not what may stand at its name by now. */
  async function withFolder<T>(folder: string, work: (path: string, handle: FileHandle) => Promise<T>): Promise<T> {
    if (!folderName.test(folder)) throw refused(folder.slice(0, 64), 'has a name that is none for a folder of reports.')
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
      throw inWords(folder, error)
    }
  }

  /** What servers left that ended half way; nobody writes to it any more after ten minutes of silence. */
  async function removeParts(path: string, name: string): Promise<void> {
    for (const one of await readdir(path)) {
      if (!one.startsWith(`.${name}.`) || !one.endsWith('.part')) continue
      const { mtimeMs } = await lstat(join(path, one)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
      if (clock.now() - mtimeMs > 600_000) await rm(join(path, one), { force: true })
    }
  }

  return {
    root,

    /** Puts a file there whole or not at all: readers see none that is half. One of the same name is replaced. */
    write: (folder: string, name: string, chunks: AsyncIterable<Buffer>): Promise<void> =>
      withFolder(folder, async (path, handle) => {
        if (!fileName.test(name)) throw new Error(`no name of a report: ${name}`)
        // A name of its own for each try: two that write at once never share half a file.
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

    /** Removes a file of a report; one that is gone already is as good. */
    remove: (folder: string, name: string): Promise<void> =>
      withFolder(folder, async (path) => {
        if (fileName.test(name)) await rm(join(path, name), { force: true })
      }),
  }
}

export type Folders = ReturnType<typeof createFolders>
