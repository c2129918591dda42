import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

const maxBytes = 5 * 1024 * 1024

/** Returns the file with the newest log lines of a server. The previous ones are in the same path plus `.1`. */
export const logFileOf = (dataDir: string): string => join(dataDir, 'logs', 'server.log')

/**
 * Appends lines to a file of at most 5 MiB and keeps one older file, so that the log survives without a service manager.
 * A file that cannot be written loses lines and never stops the server.
 */
export const createLogFile = (path: string, limit = maxBytes): { write(line: string): void } => {
  let open: { fd: number; bytes: number } | null = null

  function opened(): { fd: number; bytes: number } {
    if (open !== null && open.bytes < limit) return open
    if (open !== null) {
      closeSync(open.fd)
      open = null
      renameSync(path, `${path}.1`)
    } else
      try {
        mkdirSync(dirname(path), { mode: 0o700 })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    const fd = openSync(path, 'a', 0o600)
    open = { fd, bytes: fstatSync(fd).size }
    return open
  }

  return {
    write: (line) => {
      try {
        const file = opened()
        file.bytes += writeSync(file.fd, line)
      } catch {
        // A full disk or a missing folder: standard output still has the line.
      }
    },
  }
}
