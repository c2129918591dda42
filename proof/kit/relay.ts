/** Forwards connections to ports of this machine, with all kinds of network faults. */
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * `open`: forwards everything. `refuse`: refuses connections. `hang`: accepts and never responds. `reset`: forwards
 * some bytes, then resets. `trickle`: returns one byte per second. `garbage`: responds with bytes that match no
 * protocol.
 */
export type RelayMode = 'open' | 'refuse' | 'hang' | 'reset' | 'trickle' | 'garbage'

export type Relay = Awaited<ReturnType<typeof startRelay>>

/** Bytes that are forwarded before a reset: up to about the middle of the second message. */
const beforeReset = 700
const garbage = Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 151 + 7) % 256))

/** Listens on a free port of 127.0.0.1 and forwards to the port `target`, `delayMs` later in each direction. */
export const startRelay = async (target: number, delayMs = 0) => {
  let mode: RelayMode = 'open'
  let server: Server | undefined
  let port = 0
  let taken = 0
  const sockets = new Set<Socket>()
  const later = (work: () => void): void => void (delayMs > 0 ? setTimeout(work, delayMs) : work())
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const forward = (from: Socket, to: Socket): void => {
    if (delayMs === 0) from.pipe(to)
    else
      from
        .on('data', (chunk) => later(() => void (to.writable && to.write(chunk))))
        .on('end', () => later(() => to.end()))
  }
  const lead = (client: Socket): void => {
    taken += 1
    keep(client)
    if (mode === 'hang') return
    if (mode === 'garbage') {
      client.resume()
      client.write(garbage)
      return
    }
    const peer = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    keep(peer)
    client.on('close', () => later(() => peer.destroy()))
    peer.on('close', () => later(() => client.destroy()))
    if (mode === 'reset') {
      let left = beforeReset
      client.on('data', (chunk: Buffer) => {
        peer.write(chunk.subarray(0, left))
        left -= chunk.length
        // The peer keeps the received bytes: it may have accepted a message although the sender gets a reset.
        if (left <= 0) setTimeout(() => client.resetAndDestroy(), 20)
      })
    } else forward(client, peer)
    if (mode !== 'trickle') {
      forward(peer, client)
      return
    }
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
    const listening = createServer({ allowHalfOpen: true, noDelay: true }, lead)
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve))
    port = (listening.address() as { port: number }).port
    server = listening
  }
  /** Loses all bytes in transit and ends the connections, like a machine that loses its power. */
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
    set: async (next: RelayMode): Promise<void> => {
      await close()
      mode = next
      if (next !== 'refuse') await listen()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
