/** Simulates a network path to a peer with all kinds of network faults. */
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * `open`: forwards everything. `refuse`: refuses connections. `hang`: accepts and never responds. `reset`: forwards
 * some bytes, then resets. `trickle`: returns one byte per second. `garbage`: responds with bytes that match no
 * protocol.
 */
export type PathMode = 'open' | 'refuse' | 'hang' | 'reset' | 'trickle' | 'garbage'

/** Bytes that are forwarded before a reset: up to about the middle of the second message. */
const beforeReset = 700
const garbage = Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 151 + 7) % 256))

/** Listens on a port of 127.0.0.1 and forwards to the port `target`. */
export const startNetworkPath = async (target: number, port: number) => {
  let mode: PathMode = 'open'
  let server: Server | undefined
  const sockets = new Set<Socket>()
  let taken = 0

  const lead = (client: Socket): void => {
    taken += 1
    const keep = (socket: Socket): void => {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => sockets.delete(socket))
    }
    keep(client)
    if (mode === 'hang') return
    if (mode === 'garbage') {
      client.resume()
      client.write(garbage)
      return
    }
    const peer = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true })
    keep(peer)
    client.on('close', () => peer.destroy())
    peer.on('close', () => client.destroy())
    if (mode === 'open') {
      client.pipe(peer)
      peer.pipe(client)
      return
    }
    if (mode === 'reset') {
      let left = beforeReset
      client.on('data', (chunk: Buffer) => {
        peer.write(chunk.subarray(0, left))
        left -= chunk.length
        // The peer keeps the received bytes: it may have accepted a message although the sender gets a reset.
        if (left <= 0) setTimeout(() => client.resetAndDestroy(), 20)
      })
      peer.pipe(client)
      return
    }
    client.pipe(peer)
    let held = Buffer.alloc(0)
    peer.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
    })
    const timer = setInterval(() => {
      if (held.length > 0) client.write(held.subarray(0, 1))
      held = held.subarray(1)
    }, 1_000)
    client.on('close', () => clearInterval(timer))
  }

  const listen = async (): Promise<void> => {
    server = createServer({ allowHalfOpen: true }, lead)
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
  }
  const close = async (): Promise<void> => {
    const closing = server
    server = undefined
    for (const socket of sockets) socket.destroy()
    if (closing !== undefined) await new Promise((resolve) => closing.close(resolve))
  }
  await listen()
  return {
    port,
    /** Returns the number of accepted connections so far. */
    taken: (): number => taken,
    /** Breaks open connections and switches to another mode. */
    set: async (next: PathMode): Promise<void> => {
      await close()
      mode = next
      if (next !== 'refuse') await listen()
    },
    close,
  }
}
