import type { Socket } from 'node:net'

/** Bytes per second that a client must accept while the server has bytes for it: 64 kbit/s. */
const slowestRate = 8 * 1024
/** Size of a piece of a large response. */
export const pieceBytes = 64 * 1024
/**
 * Time in which the rate is measured, and bytes that a client may have accepted without the server seeing it, because
 * they belong to a write that is not complete. Clients with a credential may pause longer, for example while they store
 * rows, and get streams, whose writes are larger.
 */
const measured = {
  known: { windowMs: 60_000, unseen: 4 * pieceBytes },
  stranger: { windowMs: 15_000, unseen: pieceBytes },
} as const

/** Most bytes of a connection that the kernel keeps for its client. */
const kernelBytes = 4 * 1024 * 1024

/** A connection whose client may read. */
export interface Reader {
  readonly socket: Socket
  /** Its TLS socket, if it has one. */
  encrypted: Socket | undefined
  readonly isKnown: boolean
  /** Since when bytes have waited for the client, and how many it had accepted then. */
  backlog: { since: number; accepted: number } | undefined
  /** When it was first seen with its last byte in the kernel and this side closed. */
  leftAt: number | undefined
}

/**
 * Closes connections whose clients read more slowly than `slowestRate`, whatever they read. A connection for which no
 * byte waits is not slow, so that streams and wake sockets may be idle. After the last response, the client has the time
 * that the slowest one needs for all that the kernel may keep.
 */
export const createReaders = <T extends Reader>(all: ReadonlySet<T>, end: (one: T) => void) => ({
  check: (nowMs = performance.now()): void => {
    for (const one of all) {
      const sent = one.encrypted ?? one.socket
      const waiting = sent.writableLength
      if (waiting === 0) {
        one.backlog = undefined
        if (!sent.writableFinished) continue
        one.leftAt ??= nowMs
        const { windowMs } = one.isKnown ? measured.known : measured.stranger
        const readingMs = (Math.min(sent.bytesWritten, kernelBytes) * 1000) / slowestRate
        if (nowMs - one.leftAt >= windowMs + readingMs) end(one)
        continue
      }
      const accepted = sent.bytesWritten - waiting
      const { backlog } = one
      const { windowMs, unseen } = one.isKnown ? measured.known : measured.stranger
      if (backlog === undefined) one.backlog = { since: nowMs, accepted }
      else if (nowMs - backlog.since >= windowMs) {
        const wanted = (slowestRate * windowMs) / 1000 - unseen
        if (accepted - backlog.accepted < wanted) end(one)
        else one.backlog = { since: nowMs, accepted }
      }
    }
  },
})
