import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { smallBody } from './held-bytes.ts'

/** How long a peer may take to read a refusal and close, before the server cuts the connection. */
const lingerMs = 1_000
const turnedAway = new WeakSet<IncomingMessage>()

/** Whether too much of a body may still arrive to read it before a refusal. */
export const hasUnreadBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBody)

export const isTurnedAway = (request: IncomingMessage): boolean => turnedAway.has(request)

/** Sends what is written, closes this side, and cuts the connection when the peer does not close its own. Reads nothing. */
const linger = (socket: Socket): void => {
  socket.end()
  // Node begins to discard the body when the answer is over: that starts reading again in a later tick.
  setImmediate(() => socket.pause())
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/**
 * Refuses a request without reading the rest of its body; call it before the answer is sent. Node would either read all
 * of it or reset the connection, and a reset can overtake the answer.
 */
export const turnAway = (request: IncomingMessage, response: ServerResponse): void => {
  const { socket } = request
  // Requests of tests may come without a connection.
  if (turnedAway.has(request) || !(socket instanceof Socket)) return
  turnedAway.add(request)
  if (!response.headersSent) response.setHeader('connection', 'close')
  request.pause()
  socket.pause()
  socket.destroySoon = () => linger(socket)
}
