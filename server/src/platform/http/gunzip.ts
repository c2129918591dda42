import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { AppError } from '../app-error.ts'

const unzip = promisify(gunzip)

/** Most bytes that one compressed byte may become. Equal lines with rising numbers reach 130; a bomb reaches 1,000. */
const mostRatio = 300
/** Small bodies may exceed the ratio. */
const smallBytes = 64 * 1024

/**
 * Returns a gzip body without its compression. Call it after the credential and the quota of the caller were checked.
 *
 * @param limit most bytes of the result
 * @throws AppError payload_too_large, or validation_failed if the body is not valid gzip
 */
export const unzipped = async (bytes: Buffer, limit: number): Promise<Buffer> => {
  const most = Math.min(limit, Math.max(smallBytes, bytes.length * mostRatio))
  try {
    return await unzip(bytes, { maxOutputLength: most })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('payload_too_large', {
        detail: `The body has more than ${most} bytes without compression.`,
        limit,
      })
    throw new AppError('validation_failed', { detail: 'The body is not valid gzip.' })
  }
}

/** Returns whether a header `Content-Encoding` means gzip. */
export const isGzip = (header: string | undefined): boolean => /^\s*(?:x-)?gzip\s*$/i.test(header ?? '')

/** Returns whether the server can read a body with this `Content-Encoding`. */
export const isRawEncoding = (header: string | undefined): boolean =>
  header === undefined || /^\s*(?:identity)?\s*$/i.test(header) || isGzip(header)
