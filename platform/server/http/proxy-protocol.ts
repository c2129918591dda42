import type { Server, Socket } from 'node:net'
import type { Log } from '../log.ts'
import { isIn } from '../networks.ts'
import { type Client, readProxyHeader } from './proxy-header.ts'

/** A balancer sends the header before anything else. */
const usualPatienceMs = 3_000

const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Lets a socket state the address of the client instead of the balancer's. */
const showClient = (socket: Socket, { address, port }: Client): void => {
  Object.defineProperty(socket, 'remoteAddress', { value: address })
  Object.defineProperty(socket, 'remotePort', { value: port })
  Object.defineProperty(socket, 'remoteFamily', { value: address.includes(':') ? 'IPv6' : 'IPv4' })
}

/** Reads the header and calls `done` with the client. Calls `failed` if there is no header; leaves all later bytes. */
const takeHeader = (
  socket: Socket,
  patienceMs: number,
  done: (client: Client | null) => void,
  failed: () => void,
): void => {
  let start: Buffer = Buffer.alloc(0)
  const timer = setTimeout(refuse, patienceMs)
  function stop(): void {
    clearTimeout(timer)
    socket.off('readable', read)
    socket.off('end', refuse)
    socket.off('error', refuse)
  }
  function refuse(): void {
    stop()
    socket.on('error', () => {})
    if (start.length > 0) failed()
    socket.destroy()
  }
  function read(): void {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
      start = Buffer.concat([start, chunk])
    const header = readProxyHeader(start)
    if (header === 'invalid') refuse()
    else if (header !== 'incomplete') {
      stop()
      if (start.length > header.size) socket.unshift(start.subarray(header.size))
      // The stream forgets the listener for `readable` in the next tick, and only then emits data again.
      setImmediate(() => {
        if (!socket.destroyed) done(header.client)
      })
    }
  }
  socket.on('readable', read)
  socket.on('end', refuse)
  socket.on('error', refuse)
}

interface ProxyHeaderDeps {
  log: Log
  /** Counts a connection without a header yet. Returns false and closes it if there is no room. */
  announce(socket: Socket): boolean
  patienceMs?: number
}

/**
 * Reads the PROXY header of every connection from one of these networks. The sockets then have the address of the
 * client. Connections from these networks without a header are closed, and no other connection may have one: otherwise
 * a client could choose its address.
 */
export const acceptProxyHeaders = (
  server: Server,
  networks: readonly string[],
  { log, announce, patienceMs = usualPatienceMs }: ProxyHeaderDeps,
): void => {
  const isBalancer = isIn(networks)
  /** Clients by the address and port of the connection of their balancer, for the TLS sockets. */
  const clients = new Map<string, Client>()
  const emit = server.emit.bind(server) as (event: string, ...args: unknown[]) => boolean
  server.emit = (event: string, ...args: unknown[]): boolean => {
    const [socket] = args as [Socket]
    if (event !== 'connection' || !isBalancer(socket.remoteAddress ?? '')) return emit(event, ...args)
    if (!announce(socket)) return true
    const { remoteAddress: balancer } = socket
    const place = placeOf(socket)
    takeHeader(
      socket,
      patienceMs,
      (client) => {
        if (client !== null) {
          clients.set(place, client)
          socket.once('close', () => clients.delete(place))
          showClient(socket, client)
        }
        emit('connection', socket)
      },
      () => log.warn({ balancer }, 'closed a connection that did not begin with a PROXY header'),
    )
    return true
  }
  server.on('secureConnection', (socket: Socket) => {
    const client = clients.get(placeOf(socket))
    if (client !== undefined) showClient(socket, client)
  })
}
