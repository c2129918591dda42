import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from './exit.ts'

/** Flushes a directory, so that a created or renamed entry survives a power cut. */
export const syncDirectory = (dir: string): void => {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Writes all of it. A write may take a part only (a disk that just became full, a limit of file sizes); the next one says
 * why.
 *
 * @throws what the system says about the rest
 */
export const writeAll = (fd: number, data: Buffer): void => {
  for (let written = 0; written < data.length; ) {
    const count = writeSync(fd, data, written)
    if (count === 0) throw new Error(`only ${written} of ${data.length} bytes could be written`)
    written += count
  }
}

/**
 * Replaces a file so that after any crash there is either the old or the new content, whole.
 * The temporary name is fixed: the state directory's lock guarantees one writer.
 *
 * @throws when it could not be written whole; the old content is there then
 */
export const writeDurable = (path: string, content: string, mode = 0o600): void => {
  const temporary = `${path}.new`
  try {
    const fd = openSync(temporary, 'w', mode)
    try {
      writeAll(fd, Buffer.from(content))
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    // What is left of it would fill a full disk further.
    rmSync(temporary, { force: true })
    throw error
  }
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

/** The text of a file, or undefined when it does not exist. Other errors are thrown. */
export const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Removes a file when it is there. */
export const removeIfThere = (path: string): void => {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
