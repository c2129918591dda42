import type { Log } from '@portcullis/platform/server/log.ts'

/** Returns a check that throws if a response since the start did not match the contract. Such responses are logged as errors. */
export const keptContract = (log: Log): (() => void) => {
  const faults = new Set<string>()
  const { error } = log
  log.error = (given: unknown, ...rest: unknown[]): void => {
    const { message = '' } = (given as { err?: Error } | null)?.err ?? {}
    if (message.includes('does not match the contract')) faults.add(message)
    ;(error as (...args: unknown[]) => void).call(log, given, ...rest)
  }
  return () => {
    if (faults.size > 0) throw new Error([...faults].join('\n'))
  }
}
