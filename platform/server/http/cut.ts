import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Time for a client to read a last response and close, before the server cuts the connection. */
const lingerMs = 1_000

/** The plain socket below each TLS socket. */
const plain = new WeakMap<Duplex, Socket>()

export const runsOver = (encrypted: Duplex, socket: Socket): void => {
  plain.set(encrypted, socket)
}

/** Returns whether the kernel is about to send the FIN of this side. Node can neither reset such a connection nor close it. */
const isShutting = ({ writableEnded, writableFinished, writableLength }: Duplex): boolean =>
  writableEnded && !writableFinished && writableLength === 0

/**
 * Makes the next `destroy` of a connection reset it. After a mere close, the kernel would keep its unsent bytes, up to
 * 4 MB, until the client reads them: 2,900 clients that do not read used up the memory of all TCP connections of a machine.
 */
export const resetOnDestroy = (end: Duplex): void => {
  const socket = plain.get(end) ?? end
  if (!(socket instanceof Socket) || 'encrypted' in socket || socket.destroyed || isShutting(end)) return
  // Node would send the rest first, and so wait for the client.
  socket.destroySoon = () => {}
  socket.resetAndDestroy()
}

/** Closes a connection at once, with all bytes that the kernel keeps for it. All paths that end a connection use this. */
export const cut = (end: Duplex): void => {
  const destroy = (): void => {
    resetOnDestroy(end)
    ;(plain.get(end) ?? end).destroy()
  }
  if (isShutting(end)) setImmediate(destroy)
  else destroy()
}

/** Cuts a connection unless the client closes its side soon. */
export const cutSoon = (end: Duplex): void => {
  setTimeout(() => cut(end), lingerMs).unref()
}

/** Sends a last text and closes this side. Reads nothing more: what follows may be part of a refused request. */
export const hangUp = (end: Duplex, text?: string): void => {
  if (end.writable) end.end(text)
  // Node starts to discard the body after the response, which resumes reading in a later tick. An earlier pause would make
  // this one void.
  setImmediate(() => end.pause())
  cutSoon(end)
}
