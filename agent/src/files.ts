import { closeSync, fsyncSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs'
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
 * Replaces a file so that after any crash there is either the old or the new content, whole.
 * The temporary name is fixed: the state directory's lock guarantees one writer.
 */
export const writeDurable = (path: string, content: string, mode = 0o600): void => {
  const temporary = `${path}.new`
  const fd = openSync(temporary, 'w', mode)
  try {
    writeSync(fd, content)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
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
