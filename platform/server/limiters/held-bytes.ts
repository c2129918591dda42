import type { ServerResponse } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { AppError } from '../app-error.ts'

/** Bodies up to the size of a sign-in are not counted and always accepted. */
export const smallBody = 16 * 1024

export type HeldBytes = ReturnType<typeof createHeldBytes>

/** Limits the memory of all request bodies that are being received, so that many at once cannot exhaust it. */
export const createHeldBytes = (most: number) => {
  let held = 0
  return {
    /** Counts received bytes. Throws with a retry time if there are too many. */
    take: (bytes: number): void => {
      held += bytes
      if (held > most) throw new AppError('unavailable', {}, { headers: { 'retry-after': '5' } })
    },
    give: (bytes: number): void => {
      held -= bytes
    },
  }
}

/** Counts a body until its response ends: a thousand bodies of unauthenticated clients took a gigabyte. */
export const countedBody = (held: HeldBytes, body: Readable, answer: ServerResponse): Readable => {
  let size = 0
  let taken = 0
  answer.once('close', () => {
    held.give(taken)
    taken = 0
  })
  function count(bytes: number): void {
    size += bytes
    if (size <= smallBody) return
    const more = size - taken
    taken = size
    held.take(more)
  }
  const through = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      try {
        if (!answer.closed) count(chunk.length)
        done(null, chunk)
      } catch (error) {
        done(error as Error)
      }
    },
  })
  // `pipe` forwards only the end, so errors are forwarded here: else the server would wait forever for a client that
  // left. `pipeline` would close the connection of a refused client before it read the reason.
  body.once('error', (error) => through.destroy(error))
  return body.pipe(through)
}
