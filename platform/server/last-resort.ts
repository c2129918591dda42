import type { Log } from './log.ts'

/** Codes of errors that say that the process or the machine ran out of something for a moment. */
const shortages: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'ENOSPC', 'EDQUOT'])

/**
 * Keeps the process alive if a shortage, such as too many open files, throws where nobody catches it: in a timer or in a
 * callback of Node. Any other uncaught error ends the process as before, because its state is unknown. Returns a
 * function that removes the handler.
 */
export const surviveShortages = (log: Pick<Log, 'error' | 'fatal'>) => {
  function handle(error: unknown): void {
    if (shortages.has((error as NodeJS.ErrnoException | null)?.code))
      log.error({ err: error }, 'a task failed because of a shortage, and the server goes on')
    else {
      log.fatal({ err: error }, 'an unexpected error ends the server')
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    }
  }
  process.on('uncaughtException', handle)
  return (): void => {
    process.off('uncaughtException', handle)
  }
}
