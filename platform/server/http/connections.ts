import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { addressBucket } from '../address.ts'
import { AppError } from '../app-error.ts'
import { isIn } from '../networks.ts'
import type { ConnectionLimits, LimitName } from './connection-limits.ts'
import { cut, cutSoon, hangUp, resetOnDestroy, runsOver } from './cut.ts'
import { createReaders } from './readers.ts'
import { affordableUnread, createUnread, type Unread, type UnreadLimits } from './unread.ts'

/** Whose verified credential a connection showed. */
export interface Owner {
  /** Id of the session, API token or machine. */
  credential: string
  /** Id of the account; null for a machine. */
  account: string | null
}

/** All connections of one address. */
interface Home {
  bucket: string
  all: number
  strangers: number
  /** Oldest first. */
  silent: Set<Connection>
}

interface Connection extends Unread {
  /** Undefined for a trusted proxy, whose connections belong to many clients. */
  home: Home | undefined
  /** Whether a credential was verified. */
  isKnown: boolean
  owner: Owner | undefined
  /** The last request without a complete response. */
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined
  /** Requests without a complete response. */
  unanswered: number
  /** Time since which it has had no request, in milliseconds from any origin. */
  idleSince: number
  isUpgraded: boolean
  isEnding: boolean
}

/**
 * Most requests of a connection without a complete response. Browsers and agents send one at a time. Node handles all
 * requests of a chunk of 64 KiB, 1,700 of the shortest, before it reads less.
 */
const mostUnanswered = 8

/** By plain and TLS socket. */
const watched = new WeakMap<Duplex, { show(owner: Owner): boolean; upgraded(): void }>()

/**
 * Records whose credential was verified on this connection. Throws if its owner has too many connections that wait for a
 * response; the connection then ends with the refusal.
 */
export const credentialSeen = (socket: Duplex, owner: Owner): void => {
  if (watched.get(socket)?.show(owner) === false)
    throw new AppError('too_many_connections', {}, { headers: { 'retry-after': '5', connection: 'close' } })
}

/** Records that a connection now carries another protocol, so that it is in use without a request. */
export const connectionUpgraded = (socket: Duplex): void => watched.get(socket)?.upgraded()

/**
 * Makes Node skip the other requests of a chunk, as after an upgrade. Without it, Node prepares each of them for 0.1 ms,
 * even if the connection is closed.
 */
const skipRest = (socket: Duplex): void => {
  const { parser } = socket as { parser?: { onIncoming: unknown } | null }
  if (parser) parser.onIncoming = () => 2
}

/** Returns the owner of the connections of an agent or worker. */
export const machineOwner = (id: string): Owner => ({ credential: id, account: null })

/**
 * Counts every connection until it closes: by address, and once a credential was verified also by credential and
 * account. Above a limit, it closes the connection of the same owner that has been idle longest, or refuses the new one.
 * It never closes a connection with a credential to make room for another owner.
 */
export const createConnections = ({
  limits,
  unreadLimits = affordableUnread(),
  trustedProxies = [],
  refused,
}: {
  limits: ConnectionLimits
  unreadLimits?: UnreadLimits
  trustedProxies?: readonly string[]
  /** Called when a connection was closed or refused because of a limit. */
  refused(limit: LimitName): void
}) => {
  const all = new Set<Connection>()
  /** Connections without a credential that wait for their client. Oldest first; so are those of each address. */
  const silent = new Set<Connection>()
  const homes = new Map<string, Home>()
  const owned = new Map<string, Set<Connection>>()
  const connections = new WeakMap<Duplex, Connection>()
  /** By address and port, until the TLS handshake is complete. */
  const handshaking = new Map<string, Connection>()
  /** Connections of balancers that have not sent their PROXY header. */
  const announced = new Set<Socket>()
  const isProxy = isIn(trustedProxies)
  const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
  const readers = createReaders(all, (one) => end(one, 'rate'))
  const unread = createUnread(all, {
    limits: unreadLimits,
    ownersOf: ({ home, owner }) => [
      ...(home === undefined ? [] : [home.bucket]),
      ...(owner === undefined ? [] : keysOf(owner).map(([key]) => key)),
    ],
    end: (one) => end(one, 'unread'),
  })

  function rest(one: Connection): void {
    silent.delete(one)
    one.home?.silent.delete(one)
  }

  function end(one: Connection, limit: LimitName): void {
    rest(one)
    cut(one.encrypted ?? one.socket)
    refused(limit)
  }

  /** Counts a connection without a credential as waiting for its client. */
  function wait(one: Connection): void {
    if (one.isKnown || one.socket.destroyed) return
    rest(one)
    silent.add(one)
    one.home?.silent.add(one)
    if (one.home !== undefined && one.home.silent.size > limits.silent) endOldest(one.home.silent, one, 'silent')
  }

  const isWorkedOn = ({ exchange }: Connection): boolean =>
    exchange?.request.complete === true && !exchange.response.headersSent

  /** Closes the connection that has waited longest for its client. Returns false if there is no other than `newest`. */
  function endOldest(among: Set<Connection>, newest: Connection | undefined, limit: LimitName): boolean {
    // Its request arrived in parts and is now complete.
    for (const one of among)
      if (isWorkedOn(one)) rest(one)
      else if (one !== newest) {
        end(one, limit)
        return true
      }
    return false
  }

  /** Returns the limit that a new connection exceeds, after it closed another one if that is possible. */
  function exceeded(newest: Connection): LimitName | undefined {
    const { home } = newest
    if (home !== undefined)
      for (const [limit, count] of [
        ['strangers', home.strangers],
        ['address', home.all],
      ] as const)
        if (count > limits[limit] && !endOldest(home.silent, newest, limit)) return limit
    return all.size + announced.size > limits.total && !endOldest(silent, newest, 'total') ? 'total' : undefined
  }

  function homeOf(address: string): Home | undefined {
    if (isProxy(address)) return undefined
    const bucket = addressBucket(address)
    const home = homes.get(bucket) ?? { bucket, all: 0, strangers: 0, silent: new Set() }
    homes.set(bucket, home)
    return home
  }

  const keysOf = ({ credential, account }: Owner): [key: string, limit: 'credential' | 'account' | 'machine'][] =>
    account === null
      ? [[`machine ${credential}`, 'machine']]
      : [
          [`credential ${credential}`, 'credential'],
          [`account ${account}`, 'account'],
        ]

  function disown(one: Connection): void {
    if (one.owner === undefined) return
    for (const [key] of keysOf(one.owner)) {
      const ones = owned.get(key)
      ones?.delete(one)
      if (ones?.size === 0) owned.delete(key)
    }
    one.owner = undefined
  }

  /** Closes the connection that has been idle longest. */
  function endIdle(ones: Set<Connection>, newest: Connection, limit: LimitName): boolean {
    let oldest: Connection | undefined
    for (const one of ones)
      if (one !== newest && one.exchange === undefined && !one.isUpgraded)
        if (oldest === undefined || one.idleSince < oldest.idleSince) oldest = one
    if (oldest === undefined) return false
    disown(oldest)
    end(oldest, limit)
    return true
  }

  /** Returns whether the owner may have this connection too. It closes an idle one for it if necessary. */
  function hasRoom(one: Connection, owner: Owner): boolean {
    for (const [key, limit] of keysOf(owner)) {
      const ones = owned.get(key)
      if (ones === undefined || ones.has(one) || ones.size < limits[limit] || endIdle(ones, one, limit)) continue
      refused(limit)
      return false
    }
    return true
  }

  /** Returns false if the owner has too many connections in use. The connection then counts as before. */
  function show(one: Connection, owner: Owner): boolean {
    if (one.owner?.credential === owner.credential) return true
    // A connection of a trusted proxy carries the requests of many.
    const isOwned = one.home !== undefined
    if (isOwned && !hasRoom(one, owner)) return false
    disown(one)
    if (!one.isKnown) {
      one.isKnown = true
      rest(one)
      if (one.home !== undefined) one.home.strangers -= 1
    }
    if (!isOwned) return true
    one.owner = owner
    for (const [key] of keysOf(owner)) owned.set(key, (owned.get(key) ?? new Set()).add(one))
    return true
  }

  function take(socket: Socket, isTls: boolean): void {
    announced.delete(socket)
    const place = placeOf(socket)
    const home = homeOf(socket.remoteAddress ?? '')
    const one: Connection = {
      ...{ socket, encrypted: undefined, backlog: undefined, leftAt: undefined, name: undefined, acknowledged: 0 },
      ...{ home, isKnown: false, owner: undefined, exchange: undefined, unanswered: 0 },
      ...{ idleSince: 0, isUpgraded: false, isEnding: false },
    }
    all.add(one)
    if (home !== undefined) {
      home.all += 1
      home.strangers += 1
    }
    bind(socket, one)
    if (isTls) handshaking.set(place, one)
    socket.once('close', () => {
      all.delete(one)
      rest(one)
      disown(one)
      if (handshaking.get(place) === one) handshaking.delete(place)
      if (home === undefined) return
      home.all -= 1
      if (!one.isKnown) home.strangers -= 1
      if (home.all === 0) homes.delete(home.bucket)
    })
    wait(one)
    const limit = exceeded(one)
    if (limit !== undefined) end(one, limit)
  }

  /**
   * Keeps Node from closing a connection whose bytes may wait in the kernel, because nobody would count them: after the
   * last response, while a response is incomplete, and when both sides have ended but the client may not have read.
   */
  function bind(end: Socket, one: Connection): void {
    end.destroySoon = () => end.end()
    const { destroy } = end
    end.destroy = (error) => {
      if (one.isEnding) return destroy.call(end, error)
      one.isEnding = true
      const isInUse = one.exchange !== undefined || one.isUpgraded
      if (isInUse) resetOnDestroy(end)
      else if (error === undefined && end.readableEnded && end.writableFinished) {
        cutSoon(end)
        return end
      }
      return destroy.call(end, error)
    }
    connections.set(end, one)
    watched.set(end, {
      show: (owner) => show(one, owner),
      upgraded: () => {
        one.isUpgraded = true
      },
    })
  }

  return {
    watch: (server: Server): void => {
      const isTls = 'setSecureContext' in server
      server.on('timeout', (socket: Socket) => socket.destroySoon())
      // Node would destroy the connection.
      server.on('connect', (_request, socket: Duplex) => hangUp(socket))
      server.on('connection', (socket: Socket) => take(socket, isTls))
      server.on('secureConnection', (socket: Socket) => {
        const one = handshaking.get(placeOf(socket))
        if (one === undefined) return
        handshaking.delete(placeOf(socket))
        one.encrypted = socket
        runsOver(socket, one.socket)
        bind(socket, one)
      })
    },

    /** Counts a connection that has not sent its PROXY header. Returns false and closes it if there is no room. */
    announce: (socket: Socket): boolean => {
      announced.add(socket)
      socket.once('close', () => announced.delete(socket))
      if (all.size + announced.size <= limits.total || endOldest(silent, undefined, 'total')) return true
      cut(socket)
      refused('total')
      return false
    },

    /**
     * Records a request. While the server works on it, its connection does not wait for its client. Returns false if its
     * connection is closed, and closes one with too many requests. Nothing must then handle the request.
     */
    asked: (request: IncomingMessage, response: ServerResponse): boolean => {
      const one = connections.get(request.socket)
      if (one === undefined) return true
      if (!one.socket.destroyed && one.unanswered === mostUnanswered) end(one, 'unanswered')
      // Its response could not be sent.
      const isUnsendable = request.socket.writableEnded
      if (isUnsendable) cut(request.socket)
      if (isUnsendable || one.socket.destroyed) {
        skipRest(request.socket)
        return false
      }
      one.unanswered += 1
      const exchange = { request, response }
      one.exchange = exchange
      response.once('close', () => {
        one.unanswered -= 1
        if (one.exchange !== exchange) return
        one.exchange = undefined
        one.idleSince = performance.now()
        wait(one)
      })
      if (one.isKnown) return true
      // A request with no body or a small body is complete in this turn of the event loop.
      process.nextTick(() => {
        if (one.exchange === exchange && isWorkedOn(one)) rest(one)
      })
      const { writeHead } = response
      response.writeHead = ((...head: Parameters<typeof writeHead>) => {
        wait(one)
        return writeHead.apply(response, head)
      }) as typeof writeHead
      return true
    },

    /** Closes connections that read their response too slowly. Call it every two seconds. */
    endSlowReaders: readers.check,

    /** Closes connections of owners whose clients leave too many bytes unread. Call it every two seconds. */
    endUnread: unread.check,

    /** Closes connections that never sent anything. */
    endUnused: (): void => {
      for (const { socket } of all) if (socket.bytesRead === 0) socket.destroy()
    },

    figures: (): { known: number; strangers: number; total: number } => {
      let known = 0
      for (const { isKnown } of all) if (isKnown) known += 1
      return { known, strangers: all.size - known, total: limits.total }
    },
  }
}

export type Connections = ReturnType<typeof createConnections>
