import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { smallBody } from './held-bytes.ts'

/** Time for a peer to read a refusal and close, before the server closes the connection. */
const lingerMs = 1_000
const turnedAway = new WeakSet<IncomingMessage>()

/** Returns whether too much of a body may still arrive to read it before a refusal. */
export const hasUnreadBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBody)

export const isTurnedAway = (request: IncomingMessage): boolean => turnedAway.has(request)

/**
 * Sends pending data, closes this side, and destroys the connection if the peer does not close its side. Reads nothing.
 */
const linger = (socket: Socket): void => {
  socket.end()
  // Node starts to discard the body after the response, which resumes reading in a later tick.
  setImmediate(() => socket.pause())
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

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
  socket.destroySoon = () => linger(socket)
}
