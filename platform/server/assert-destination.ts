import { AppError } from './app-error.ts'
import { DestinationError } from './destinations.ts'

/**
 * Rejects a host that the server never connects to, before it is stored. An unresolved name may be registered later.
 */
export const assertDestination = async (host: string, resolve: (host: string) => Promise<unknown>): Promise<void> => {
  if (host === '') return
  try {
    await resolve(host)
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error
    if (error.fault === 'refused') throw new AppError('destination_refused', { host: error.host })
  }
}
