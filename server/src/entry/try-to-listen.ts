import { createServer } from 'node:net'
import type { Config } from '@portcullis/platform/server/config.ts'

/** Tries to listen as the server would. Returns the error, or null if it can listen. */
export const tryToListen = ({ host, port }: Pick<Config, 'host' | 'port'>): Promise<NodeJS.ErrnoException | null> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (fault: NodeJS.ErrnoException) => resolve(fault))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
