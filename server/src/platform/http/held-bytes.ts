import type { ServerResponse } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { AppError } from '../app-error.ts'

/** Bodies as small as a sign-in count for nothing and are always taken. */
export const smallBody = 16 * 1024

export type HeldBytes = ReturnType<typeof createHeldBytes>

/** Bytes of bodies that are in memory while they come, of all callers together: nobody may fill it by many at once. */
export const createHeldBytes = (most: number) => {
  let held = 0
  return {
    /** Counts bytes that came; refused with a time to come back when there are too many. What was taken is given back. */
    take: (bytes: number): void => {
      held += bytes
      if (held > most) throw new AppError('unavailable', {}, { headers: { 'retry-after': '5' } })
    },
    give: (bytes: number): void => {
      held -= bytes
    },
  }
}

/** A body that is counted for as long as it is held, until its answer is over: a thousand of strangers stood in a gigabyte. */
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
  // Piping tells of an end only: a caller that went away would be waited for without end. Not by `pipeline`, which would
  // cut the connection of one that is refused before it has heard why.
  body.once('error', (error) => through.destroy(error))
  return body.pipe(through)
}
