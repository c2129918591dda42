/**
 * The server cannot start, or refuses to. The message is for the person who started it; the entry prints it without a
 * stack trace and exits with code 1.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
}

const full: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100'])

/** Returns whether an error of the file system or of PostgreSQL means that a disk is full. */
export const isDiskFull = (error: unknown): boolean => full.has((error as { code?: unknown } | null)?.code)

/** Returns what to tell the person whose start failed. An unexpected error comes with its stack trace, for a report. */
export const startProblemOf = (error: unknown): string => {
  if (error instanceof StartError) return error.message
  const { path, stack } = error as NodeJS.ErrnoException
  if (isDiskFull(error))
    return `There is no space left on the disk${path === undefined ? '' : ` for ${path}`}. Free some space, then start the server again.`
  return `The server cannot start: ${stack ?? String(error)}`
}
