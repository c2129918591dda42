import { closeSync, copyFileSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'

const MAX_BYTES = 10 * 1024 * 1024
const CHECK_EVERY_MS = 60_000

/** The database's log: at most two files of about 10 MB, `path` and `path.1`. */
export interface LogFile {
  /** To hand to the child as stdout and stderr: the log outlives a killed server, which a pipe would not. */
  fd: number
  /** The last lines written since `mark`, for an error message. */
  since(mark: number): string
  /** How much has been written by now. */
  mark(): number
  close(): void
}

export function openLogFile(path: string): LogFile {
  const fd = openSync(path, 'a+', 0o600)
  function rotate(): void {
    if (fstatSync(fd).size < MAX_BYTES) return
    // Copied and truncated, because the child holds the same open file; it appends, so it goes on at the new end.
    copyFileSync(path, `${path}.1`)
    ftruncateSync(fd)
  }
  rotate()
  const timer = setInterval(() => existsSync(path) && rotate(), CHECK_EVERY_MS)
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
