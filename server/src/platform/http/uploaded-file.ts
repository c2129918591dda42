import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '../app-error.ts'
import { createHeldBytes } from './held-bytes.ts'

/**
 * The one part of an uploaded form: it has to be named `file`, in any case.
 * @param limit bytes, where another bound than that of all uploads fits
 */
export const uploadedFile = async (request: FastifyRequest, limit?: number) => {
  const part = await request.file(limit === undefined ? {} : { limits: { fileSize: limit } })
  if (part === undefined || part.fieldname.toLowerCase() !== 'file')
    throw invalid('body.file', 'must be one part of the form named file')
  return part
}

/** Of a file that is read as a whole. */
const wholeLimit = 32 * 1024 * 1024
/** Of all of them that are on their way: one account could send a hundred at once. */
const held = createHeldBytes(4 * wholeLimit)

/**
 * Does something with the one part of an uploaded form as a whole, or refuses it as soon as it is too large. The bytes
 * are gone afterwards: left to the collector, those of two or three former uploads stood in memory beside the next one.
 */
export const withUploadedBytes = async <T>(
  request: FastifyRequest,
  work: (bytes: Buffer) => Promise<T>,
): Promise<T> => {
  const { file } = await uploadedFile(request, wholeLimit)
  // The reader of forms only marks a file as cut, and its own `toBuffer` looks for the mark with each piece: of a file
  // that is cut between two pieces it gave the first 32 MiB as if they were all.
  const cut = (): void => {
    file.destroy(new AppError('payload_too_large', { limit: wholeLimit }))
  }
  file.once('limit', cut)
  if (file.truncated) cut()
  // One piece of memory, of which only what is written to is really taken; pieces and their sum would be twice as much.
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  const memory = new ArrayBuffer(Math.min(wholeLimit, length >= 0 ? length : wholeLimit))
  let size = 0
  try {
    const bytes = Buffer.from(memory)
    for await (const piece of file as AsyncIterable<Buffer>) {
      piece.copy(bytes, size)
      size += piece.length
      held.take(piece.length)
    }
    return await work(bytes.subarray(0, size))
  } finally {
    held.give(size)
    memory.transfer(0)
  }
}
