import { createServer, isIP, type Server, type Socket } from 'node:net'

/**
 * Number of sockets that accept connections. Node accepts one connection per turn of the event loop (libuv no longer
 * accepts in a loop). With turns of 30 ms that is 33 per second, and new clients wait in line: 1.7 s at the median, at
 * 66 per second. The kernel spreads connections over all sockets that share a port: 50 ms with eight. Beside 600 clients per
 * second that each request a megabyte, a new client waits 3 s at the median with eight, and 43 ms with 32.
 */
const acceptors = 32

const listening = (server: Server, options: { host: string; port: number; reusePort?: boolean }): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...options, exclusive: true }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })

const closing = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
  })

/** Returns whether several sockets can share this address. A name may resolve to several addresses, so it cannot. */
export const canShare = (host: string): boolean => process.platform === 'linux' && isIP(host) !== 0

/** Rejects if the port is taken: with a shared port, another server of this user would get part of the connections. */
export const assertFree = async (host: string, port: number): Promise<void> => {
  const probe = createServer()
  await listening(probe, { host, port })
  await closing(probe)
}

export interface Acceptors {
  /** Closes the sockets and resolves when their last connection is closed. */
  close(): Promise<void>
}

/**
 * Opens further sockets on the port of a server that shares it (`reusePort`). Passes connections to `taken` and accept
 * errors to `failed`. `allowHalfOpen` must equal the server's own setting.
 */
export const openAcceptors = async (
  { host, port, allowHalfOpen }: { host: string; port: number; allowHalfOpen: boolean },
  taken: (socket: Socket) => void,
  failed: (error: Error) => void,
): Promise<Acceptors> => {
  const servers = Array.from({ length: acceptors - 1 }, () => createServer({ allowHalfOpen, noDelay: true }, taken))
  async function close(): Promise<void> {
    await Promise.all(servers.filter(({ listening }) => listening).map(closing))
  }
  try {
    await Promise.all(servers.map((server) => listening(server, { host, port, reusePort: true })))
    for (const server of servers) server.on('error', failed)
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}
