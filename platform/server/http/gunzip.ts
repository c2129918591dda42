import type { EventEmitter } from 'node:events'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { AppError } from '../app-error.ts'
import { createTurns } from '../limiters/turns.ts'

const unzip = promisify(gunzip)

/**
 * Maximum bytes that one compressed byte may expand to. Equal lines with rising numbers reach 130; a zip bomb reaches
 * 1,000.
 */
const mostRatio = 300
/** Small bodies may exceed the ratio. */
const smallBytes = 64 * 1024
/** For small chunks, passing them between threads takes longer than unpacking. */
const chunkBytes = 256 * 1024

/**
 * Unpacks a gzip body. Call it after checking the credential and the quota of the caller.
 *
 * @param limit maximum bytes of the result
 * @throws AppError payload_too_large, or validation_failed if the body is not valid gzip
 */
const unzipped = async (bytes: Buffer, limit: number): Promise<Buffer> => {
  const most = Math.min(limit, Math.max(smallBytes, bytes.length * mostRatio))
  try {
    return await unzip(bytes, { maxOutputLength: most, chunkSize: chunkBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('payload_too_large', {
        detail: `The uncompressed body is larger than ${most} bytes.`,
        limit,
      })
    throw new AppError('validation_failed', { detail: 'The body is not valid gzip.' })
  }
}

/**
 * Creates a function that unpacks bodies one by one, in turns between senders. A sender needs only 28 KB for 8 MiB, so
 * many bodies at once could exhaust the memory.
 *
 * @param limit maximum bytes of a result
 */
export const createUnpacker = (limit: number) => {
  const turns = createTurns({ atOnce: 2, perAccount: 1, waiting: 16, waitMs: 20_000, retryAfter: 5 })
  /**
   * @param connection emits `close` when the client disconnects
   * @throws AppError as `unzipped`, or too_many_requests if the sender has too many bodies here
   */
  return async (sender: string, bytes: Buffer, connection: EventEmitter): Promise<Buffer> => {
    const leave = await turns.enter(sender, connection)
    try {
      return await unzipped(bytes, limit)
    } finally {
      leave()
    }
  }
}

/** Returns whether a header `Content-Encoding` means gzip. */
export const isGzip = (header: string | undefined): boolean => /^\s*(?:x-)?gzip\s*$/i.test(header ?? '')

/** Returns whether the server can read a body with this `Content-Encoding`. */
export const isRawEncoding = (header: string | undefined): boolean =>
  header === undefined || /^\s*(?:identity\s*)?$/i.test(header) || isGzip(header)
