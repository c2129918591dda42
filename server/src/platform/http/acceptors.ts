import { createServer, isIP, type Server, type Socket } from 'node:net'

/**
 * Node takes one new connection in each turn of the event loop (libuv no longer accepts in a loop). With turns of 30 ms
 * that are 33 a second however little each of them costs, and who comes anew waits in line behind the others: at 66 a
 * second, 1.7 s at the median. The kernel spreads connections over all sockets that share a port, so that as many are
 * taken in a turn: 50 ms with eight.
 */
const acceptors = 8

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

/** Whether connections to this address can be spread over several sockets. A name may stand for several addresses. */
export const canShare = (host: string): boolean => process.platform === 'linux' && isIP(host) !== 0

/** Rejects when the port is taken: sockets that share a port would share it with another server of this user, too. */
export const assertFree = async (host: string, port: number): Promise<void> => {
  const probe = createServer()
  await listening(probe, { host, port })
  await closing(probe)
}

export interface Acceptors {
  /** Ends them; resolves when the last connection that came through them is closed. */
  close(): Promise<void>
}

/**
 * Further sockets on the port of a server that shares it (`reusePort`). What they take goes to `taken`; `allowHalfOpen` as
 * the server's own connections have it. `failed` hears of a connection that could not be accepted.
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
