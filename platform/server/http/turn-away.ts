import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { smallBody } from '../limiters/held-bytes.ts'
import { hangUp } from './cut.ts'

/** Bytes and time in which a peer with a credential may finish a body that is too large. Many clients read only then. */
const drained = { bytes: 64 * 1024 * 1024, ms: 10_000 } as const
const turnedAway = new WeakSet<IncomingMessage>()

/** Returns whether too much of a body may still arrive to read it before a refusal. */
export const hasUnreadBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBody)

export const isTurnedAway = (request: IncomingMessage): boolean => turnedAway.has(request)

/**
 * Refuses a request without reading the rest of its body. Call it before the response is sent. Node would either read
 * all of it or reset the connection, and a reset can overtake the response.
 */
export const turnAway = (request: IncomingMessage, response: ServerResponse): void => {
  const { socket } = request
  // In tests, requests may have no connection.
  if (turnedAway.has(request) || !(socket instanceof Socket)) return
  turnedAway.add(request)
  if (!response.headersSent) response.setHeader('connection', 'close')
  request.pause()
  socket.pause()
  socket.destroySoon = () => hangUp(socket)
}

/**
 * Discards a body that is too large, within limits, and then closes the connection. Call it before the refusal is sent.
 * Node would reset the connection while the client still sends, and the client would lose the refusal.
 */
export const drainRefused = (request: IncomingMessage, response: ServerResponse): void => {
  const { socket } = request
  if (!(socket instanceof Socket)) return
  let left: number = drained.bytes
  request.unpipe()
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) hangUp(socket)
  })
  const late = setTimeout(() => hangUp(socket), drained.ms).unref()
  socket.once('close', () => clearTimeout(late))
  response.setHeader('connection', 'close')
  const close = socket.destroySoon.bind(socket)
  socket.destroySoon = () => {
    if (request.complete) close()
    else request.once('end', close)
  }
}
