import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { IssuedCertificate } from '../certificates.ts'

/**
 * `normal`; `neverReads`: accepts connections and reads nothing; `reset`: resets after this many bytes; `closesEarly`:
 * closes after this many bytes; `halfCloses`: ends its side after this many bytes, stops reading, and closes at
 * `state.leave`; `slow`: reads this many bytes a second.
 */
export type SyslogBehaviour =
  | 'normal'
  | 'neverReads'
  | { reset: number }
  | { closesEarly: number }
  | { halfCloses: number }
  | { slow: number }

export interface SyslogReceiverOptions {
  protocol: 'udp' | 'tcp' | 'tls'
  behaviour?: SyslogBehaviour
  /** For `tls`. Issued for `127.0.0.1`. */
  certificate?: IssuedCertificate
  port?: number
  /** False: counts messages without keeping them. */
  keep?: boolean
}

/** Extracts octet-counted messages from a stream. Throws on malformed frames, which fails the test. */
const createFrames = (take: (message: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes: Buffer): void => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let at = 0
    for (;;) {
      const blank = rest.indexOf(0x20, at)
      if (blank === -1 && rest.length - at < 7) break
      const digits = rest.toString('latin1', at, blank === -1 ? at + 7 : blank)
      if (!/^[1-9]\d{0,5}$/.test(digits)) throw new Error(`invalid length: ${JSON.stringify(digits.slice(0, 20))}`)
      const end = blank + 1 + Number(digits)
      if (end > rest.length) break
      take(rest.subarray(blank + 1, end))
      at = end
    }
    rest = rest.subarray(at)
  }
}

/** Starts a syslog receiver on 127.0.0.1 that records complete messages. `state.behaviour` can change while it runs. */
export const startSyslogReceiver = async (options: SyslogReceiverOptions) => {
  const { protocol, certificate, port = 0, keep = true } = options
  const state: { behaviour: SyslogBehaviour; leave: () => void; hasEnded: boolean } = {
    behaviour: options.behaviour ?? 'normal',
    leave: () => {},
    /** Whether the receiver has ended its side (`halfCloses`). */
    hasEnded: false,
  }
  const messages: Buffer[] = []
  const faults: Error[] = []
  const sockets = new Set<Socket>()
  /** Sockets by client port. They are below TLS, which cannot reset a connection. */
  const raw = new Map<number, Socket>()
  const counts = { messages: 0, connections: 0, bytes: 0 }
  const take = (message: Buffer): void => {
    counts.messages++
    // Copies the message, because a slice would keep the whole read buffer alive.
    if (keep) messages.push(Buffer.from(message))
  }
  const finish = (port: number, close: () => Promise<void>) => ({
    state,
    /** Complete messages, in order. */
    messages,
    texts: (): string[] => messages.map((message) => message.toString('utf8')),
    counts,
    /** Framing errors. */
    faults,
    port,
    /** Address in the format of groups. */
    address: `127.0.0.1:${port}`,
    close,
  })

  if (protocol === 'udp') {
    const socket = createSocket('udp4')
    socket.on('message', (message) => {
      if (state.behaviour !== 'neverReads') take(message)
    })
    await new Promise<void>((resolve) => socket.bind(port, '127.0.0.1', resolve))
    return finish(socket.address().port, () => new Promise((resolve) => socket.close(() => resolve())))
  }

  const serve = (socket: Socket): void => {
    counts.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    const { behaviour } = state
    if (behaviour === 'neverReads') {
      socket.pause()
      return
    }
    const frames = createFrames(take)
    let seen = 0
    const read = (bytes: Buffer): void => {
      counts.bytes += bytes.length
      try {
        frames(bytes)
      } catch (error) {
        faults.push(error as Error)
        socket.destroy()
      }
    }
    if (typeof behaviour === 'object' && 'slow' in behaviour) {
      const every = setInterval(() => {
        const bytes = socket.read(Math.max(1, Math.round(behaviour.slow / 20))) as Buffer | null
        if (bytes !== null) read(bytes)
      }, 50)
      socket.on('close', () => clearInterval(every))
      socket.on('end', () => socket.end())
      return
    }
    socket.on('data', (bytes: Buffer) => {
      seen += bytes.length
      if (typeof behaviour === 'object' && 'reset' in behaviour && seen >= behaviour.reset)
        raw.get(socket.remotePort ?? 0)?.resetAndDestroy()
      else if (typeof behaviour === 'object' && 'closesEarly' in behaviour && seen >= behaviour.closesEarly)
        socket.pause().destroy()
      else if (typeof behaviour === 'object' && 'halfCloses' in behaviour && seen >= behaviour.halfCloses) {
        socket.pause().end(() => {
          state.hasEnded = true
        })
        state.leave = () => void socket.destroy()
      } else read(bytes)
    })
    // Ends this side only after the peer's side has ended.
    socket.on('end', () => socket.end())
  }
  const server =
    protocol === 'tcp'
      ? createServer({ allowHalfOpen: true }, serve)
      : createTlsServer({ ...certificate, allowHalfOpen: true }, serve)
  server.on('connection', (socket: Socket) => {
    const { remotePort = 0 } = socket
    raw.set(remotePort, socket)
    socket.on('error', () => {})
    socket.on('close', () => raw.delete(remotePort))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return finish((server.address() as AddressInfo).port, async () => {
    for (const socket of [...sockets, ...raw.values()]) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
}
