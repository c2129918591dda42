/**
 * The server cannot start, or refuses to. The message is for the person who started it; the entry prints it without a
 * stack trace and exits with code 1.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
}

const full: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100'])

/** Returns what to tell the person whose start failed. An unexpected error comes with its stack trace, for a report. */
export const startProblemOf = (error: unknown): string => {
  if (error instanceof StartError) return error.message
  const { code, path, stack } = error as NodeJS.ErrnoException
  if (full.has(code))
    return `There is no space left on the disk${path === undefined ? '' : ` for ${path}`}. Free some space, then start the server again.`
  return `The server cannot start: ${stack ?? String(error)}`
}
