/** A network path to a port of this machine that delays each byte, and loses the bytes in transit when it is cut. */
import { connect, createServer, type Socket } from 'node:net'

export type DelayedLink = Awaited<ReturnType<typeof startDelayedLink>>

/** Listens on a free port of 127.0.0.1 and forwards to the port `target`, `delayMs` later in each direction. */
export const startDelayedLink = async (target: number, delayMs: number) => {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer({ noDelay: true }, (client) => {
    const peer = connect({ port: target, host: '127.0.0.1', noDelay: true })
    for (const [from, to] of [
      [client, peer],
      [peer, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk: Buffer) =>
        setTimeout(() => {
          if (!isCut && to.writable) to.write(chunk)
        }, delayMs),
      )
      from.on('error', () => from.destroy())
      from.on('close', () => {
        sockets.delete(from)
        setTimeout(() => to.destroy(), delayMs)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    /** Loses all bytes in transit and ends the connections, like a machine that loses its power. */
    cut: async (): Promise<void> => {
      isCut = true
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
