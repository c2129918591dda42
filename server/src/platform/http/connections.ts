import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { addressBucket } from '../address.ts'
import { isIn } from '../networks.ts'

/** File descriptors reserved for the database, files, receivers and polled hosts. */
const reserve = 256
/** Fallback if the open files limit of the process is unknown. */
const usualFiles = 10_240
/** Maximum number of silent connections per address. */
const usualPerAddress = 512

export interface ConnectionLimits {
  /** Maximum number of connections of this process. */
  total: number
  perAddress: number
}

/** Reads the open files limit of this process. Node raises the soft limit to the hard limit when it starts. */
const openFiles = (): number => {
  try {
    const most = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return most === 'unlimited' ? Number.POSITIVE_INFINITY : Number(most ?? usualFiles)
  } catch {
    return usualFiles
  }
}

/** Returns the connection limit: the open files limit minus a reserve, or half of the limit if it is low. */
export const affordableConnections = (files = openFiles()): ConnectionLimits => {
  const total = Math.max(files - reserve, Math.floor(files / 2))
  return { total, perAddress: Math.min(usualPerAddress, Math.floor(total / 2)) }
}

const verified = new WeakMap<Duplex, () => void>()

/** Marks a connection as authenticated, which exempts it from the limits of silent connections. */
export const credentialSeen = (socket: Duplex): void => verified.get(socket)?.()

/** A connection without a verified credential. */
interface Stranger {
  socket: Socket
  /** Its TLS socket, if it has one. */
  encrypted?: Duplex
  /** Connections of the same address; undefined for a trusted proxy. */
  neighbours: Set<Stranger> | undefined
  /** The last request without a response. */
  asked?: IncomingMessage | undefined
}

/**
 * Limits connections without a credential, because each open connection uses a file descriptor of the process. Counts
 * silent connections: those that do not wait for a response, or are still sending a request. Above a limit, closes the
 * connection that has been silent longest. Never closes a connection that has a credential or waits for a response.
 */
export const createConnections = ({
  limits,
  trustedProxies = [],
  full,
}: {
  limits: ConnectionLimits
  trustedProxies?: readonly string[]
  /** Called when a connection was closed to make room. */
  full: () => void
}) => {
  const all = new Set<Socket>()
  /** Oldest first; so are those of each address. */
  const silent = new Set<Stranger>()
  const byAddress = new Map<string, Set<Stranger>>()
  const strangers = new WeakMap<Duplex, Stranger>()
  /** By address and port, until the TLS handshake is complete. */
  const handshaking = new Map<string, Stranger>()
  const isProxy = isIn(trustedProxies)
  const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

  function rest(one: Stranger): void {
    silent.delete(one)
    one.neighbours?.delete(one)
  }
  function count(one: Stranger): void {
    silent.add(one)
    one.neighbours?.add(one)
  }
  function forget(one: Stranger): void {
    rest(one)
    for (const end of [one.socket, one.encrypted])
      if (end !== undefined) {
        strangers.delete(end)
        verified.delete(end)
      }
  }

  /** Closes the connection that has been silent longest, if there are more than `most`. Returns false if none can be closed. */
  function makeRoom(among: Set<Stranger>, isOver: () => boolean, newest: Stranger): boolean {
    for (const one of among) {
      if (!isOver()) return true
      // Its request arrived in parts and is now complete.
      if (one.asked?.complete === true) rest(one)
      else if (one !== newest) {
        forget(one)
        one.socket.destroy()
        full()
        return true
      }
    }
    return !isOver()
  }

  function take(socket: Socket, isTls: boolean): void {
    const address = socket.remoteAddress ?? ''
    const bucket = addressBucket(address)
    const place = placeOf(socket)
    const neighbours = isProxy(address) ? undefined : (byAddress.get(bucket) ?? new Set<Stranger>())
    if (neighbours !== undefined) byAddress.set(bucket, neighbours)
    const one: Stranger = { socket, neighbours }
    all.add(socket)
    count(one)
    strangers.set(socket, one)
    verified.set(socket, () => forget(one))
    if (isTls) handshaking.set(place, one)
    socket.once('close', () => {
      all.delete(socket)
      forget(one)
      if (handshaking.get(place) === one) handshaking.delete(place)
      if (neighbours?.size === 0 && byAddress.get(bucket) === neighbours) byAddress.delete(bucket)
    })
    if (neighbours !== undefined) makeRoom(neighbours, () => neighbours.size > limits.perAddress, one)
    if (!makeRoom(silent, () => all.size > limits.total, one)) {
      socket.destroy()
      full()
    }
  }

  return {
    watch: (server: Server): void => {
      const isTls = 'setSecureContext' in server
      server.on('connection', (socket: Socket) => take(socket, isTls))
      server.on('secureConnection', (socket: Socket) => {
        const one = handshaking.get(placeOf(socket))
        if (one === undefined) return
        handshaking.delete(placeOf(socket))
        one.encrypted = socket
        strangers.set(socket, one)
        verified.set(socket, () => forget(one))
      })
    },

    /** Records a request. Its connection is not silent while it waits for the response. */
    asked: (request: IncomingMessage, response: ServerResponse): void => {
      const one = strangers.get(request.socket)
      if (one === undefined) return
      one.asked = request
      // A request with no body or a small body is complete in this turn of the event loop.
      process.nextTick(() => {
        if (one.asked === request && request.complete) rest(one)
      })
      response.once('close', () => {
        if (one.asked !== request) return
        one.asked = undefined
        rest(one)
        if (strangers.has(one.socket) && !one.socket.destroyed) count(one)
      })
    },

    /** Closes connections that never sent anything. */
    endUnused: (): void => {
      for (const socket of all) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}

export type Connections = ReturnType<typeof createConnections>
