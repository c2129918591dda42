import { closeSync, copyFileSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'

const MAX_BYTES = 10 * 1024 * 1024
const CHECK_EVERY_MS = 60_000

/** The database's log: at most two files of about 10 MB, `path` and `path.1`. */
export interface LogFile {
  /** Descriptor for the child's stdout and stderr. The log survives a killed server, unlike a pipe. */
  fd: number
  /** Returns the last lines since `mark`, for an error message. */
  since(mark: number): string
  /** Returns the current size of the log. */
  mark(): number
  close(): void
}

export function openLogFile(path: string): LogFile {
  const fd = openSync(path, 'a+', 0o600)
  function rotate(): void {
    if (fstatSync(fd).size < MAX_BYTES) return
    // Copied and truncated, because the child holds the file open and appends at its new end.
    copyFileSync(path, `${path}.1`)
    ftruncateSync(fd)
  }
  rotate()
  const timer = setInterval(() => {
    try {
      if (existsSync(path)) rotate()
    } catch {
      // Too many open files, or a full disk. The next check tries again.
    }
  }, CHECK_EVERY_MS)
  timer.unref()
  return {
    fd,
    mark: () => fstatSync(fd).size,
    since: (mark) => {
      const size = fstatSync(fd).size
      const from = Math.max(mark > size ? 0 : mark, size - 4096)
      const buffer = Buffer.alloc(size - from)
      return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, from))
    },
    close: () => {
      clearInterval(timer)
      closeSync(fd)
    },
  }
}
