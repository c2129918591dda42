import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { addressBucket } from '../address.ts'

/** Open files that are left for the database, files, receivers and polled hosts. */
const reserve = 256
/** Where nothing tells how many files the process may open. */
const usualFiles = 10_240
/** Connections of one address that carried no credential yet and wait for nothing. */
const usualPerAddress = 512

export interface ConnectionLimits {
  /** All connections of this process. */
  total: number
  perAddress: number
}

/** Open files that the kernel allows this process; Node raises the soft limit to the hard one when it starts. */
const openFiles = (): number => {
  try {
    const most = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return most === 'unlimited' ? Number.POSITIVE_INFINITY : Number(most ?? usualFiles)
  } catch {
    return usualFiles
  }
}

/** What this process can afford: the open files it may have, less a reserve; half of them where those are few. */
export const affordableConnections = (files = openFiles()): ConnectionLimits => {
  const total = Math.max(files - reserve, Math.floor(files / 2))
  return { total, perAddress: Math.min(usualPerAddress, Math.floor(total / 2)) }
}

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const isIn = (networks: readonly string[]): ((address: string) => boolean) => {
  const listed = new BlockList()
  for (const network of networks.flatMap((one) => named[one] ?? [one])) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (isIP(address) === 0 || Number.isNaN(Number(bits ?? 0))) continue
    if (bits === undefined) listed.addAddress(address, family)
    else listed.addSubnet(address, Number(bits), family)
  }
  return (address) => isIP(address) !== 0 && listed.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

const verified = new WeakMap<Duplex, () => void>()

/** Says that a credential was verified on a connection: from now on no limit of strangers counts it. */
export const credentialSeen = (socket: Duplex): void => verified.get(socket)?.()

/** A connection on which no credential was verified yet. */
interface Stranger {
  socket: Socket
  /** Its TLS end, when it has one. */
  encrypted?: Duplex
  /** Connections of the same address; undefined for a trusted proxy. */
  neighbours: Set<Stranger> | undefined
  /** What was asked last and is not answered yet. */
  asked?: IncomingMessage | undefined
}

/**
 * Bounds connections that carry no credential. Each open one costs a file, and a process without files serves nobody.
 * Silent ones are counted: those that wait for no answer, or send a request in pieces. Above a limit the one that has
 * been silent longest is ended. Who has a credential, waits for an answer or is a trusted proxy is never ended for another.
 */
export const createConnections = ({
  limits,
  trustedProxies = [],
  full,
}: {
  limits: ConnectionLimits
  trustedProxies?: readonly string[]
  /** Hears of a connection that was ended for another. */
  full: () => void
}) => {
  const all = new Set<Socket>()
  /** Oldest first; so are those of each address. */
  const silent = new Set<Stranger>()
  const byAddress = new Map<string, Set<Stranger>>()
  const strangers = new WeakMap<Duplex, Stranger>()
  /** By address and port, until the handshake is over. */
  const handshaking = new Map<string, Stranger>()
  const isProxy = isIn(trustedProxies)
  const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

  const rest = (one: Stranger): void => {
    silent.delete(one)
    one.neighbours?.delete(one)
  }
  const count = (one: Stranger): void => {
    silent.add(one)
    one.neighbours?.add(one)
  }
  const forget = (one: Stranger): void => {
    rest(one)
    for (const end of [one.socket, one.encrypted])
      if (end !== undefined) {
        strangers.delete(end)
        verified.delete(end)
      }
  }

  /** Ends the one that has been silent longest, if there are more than `most`; false when there is none to end. */
  const makeRoom = (among: Set<Stranger>, isOver: () => boolean, newest: Stranger): boolean => {
    for (const one of among) {
      if (!isOver()) return true
      // Its request came in pieces, and is whole now.
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

  const take = (socket: Socket, isTls: boolean): void => {
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

    /** A request came: while it waits for its answer, its connection is not silent. */
    asked: (request: IncomingMessage, response: ServerResponse): void => {
      const one = strangers.get(request.socket)
      if (one === undefined) return
      one.asked = request
      // A request without a body, or with a small one, is whole in this turn.
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

    /** Ends connections that never said anything. */
    endUnused: (): void => {
      for (const socket of all) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}
