import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from './exit.ts'

/** Flushes a directory, so that a created or renamed entry survives a power loss. */
export const syncDirectory = (dir: string): void => {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } catch (error) {
    // Windows refuses it, and NTFS keeps its directories consistent itself.
    if (errnoOf(error) !== 'EPERM') throw error
  } finally {
    closeSync(fd)
  }
}

/**
 * Writes all of the data. A single write may be partial (full disk, file size limit); the next write then reports the
 * error.
 *
 * @throws the system error of the failed write
 */
export const writeAll = (fd: number, data: Buffer): void => {
  for (let written = 0; written < data.length; ) {
    const count = writeSync(fd, data, written)
    if (count === 0) throw new Error(`only ${written} of ${data.length} bytes could be written`)
    written += count
  }
}

/**
 * Replaces a file atomically: after a crash it has either the old or the new content.
 * The temporary name is fixed, because the lock of the state directory guarantees one writer.
 *
 * @throws if the write fails; the file then keeps its old content
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
    // A partial file would use space on a full disk.
    rmSync(temporary, { force: true })
    throw error
  }
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

/** Returns the text of a file, or undefined if the file does not exist. Throws other errors. */
export const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Parses JSON. Returns undefined if the text is missing or is not JSON. */
export const parseJson = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a JSON file. Returns undefined if it is missing, cannot be read or is not JSON. */
export const readJson = (path: string): unknown => {
  try {
    return parseJson(readIfThere(path))
  } catch {
    return undefined
  }
}

/** Removes a file if it exists. */
export const removeIfThere = (path: string): void => {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
