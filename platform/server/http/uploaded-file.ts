import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '../app-error.ts'
import { createHeldBytes } from '../limiters/held-bytes.ts'

const bounds = (limit?: number) => (limit === undefined ? {} : { limits: { fileSize: limit } })

const isBodiless = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'

/** Returns the file of an uploaded form, whose part must be named `file` in any case; undefined without a file. */
const findFile = async (request: FastifyRequest, limit?: number): Promise<MultipartFile | undefined> => {
  if (isBodiless(request)) return undefined
  for await (const part of request.parts(bounds(limit))) {
    const isNamedFile = part.fieldname.toLowerCase() === 'file'
    if (part.type === 'file') {
      if (isNamedFile) return part
      throw invalid('body.file', 'must be the only part of the form, named file')
    }
    if (isNamedFile && part.value !== '') throw invalid('body.file', 'must be a file; give the part a file name')
  }
  return undefined
}

/**
 * Like `findFile`, but a form without a file is a 400.
 * @param limit bytes, if the operation has its own limit
 */
export const uploadedFile = async (request: FastifyRequest, limit?: number): Promise<MultipartFile> => {
  const part = await findFile(request, limit)
  if (part === undefined) throw invalid('body.file', 'must be the only part of the form, named file')
  return part
}

/** Maximum size of a file that is read into memory. */
const wholeLimit = 32 * 1024 * 1024
/** Maximum total size of all such files being received: one account could send a hundred at once. */
const held = createHeldBytes(4 * wholeLimit)

/**
 * Reads the file of an uploaded form into memory and passes it to `work`, or rejects it as soon as it is too large. Frees
 * the bytes afterwards: left to the garbage collector, two or three earlier uploads stayed in memory during the next one.
 * @param none the result for a form without a file
 */
export const withUploadedBytes = async <T>(
  request: FastifyRequest,
  work: (bytes: Buffer) => Promise<T>,
  none: T,
): Promise<T> => {
  const part = await findFile(request, wholeLimit)
  if (part === undefined) return none
  const { file, filename } = part
  // The form parser only marks a truncated file, and its own `toBuffer` checks the mark with each chunk: for a file cut
  // between two chunks it returned the first 32 MiB as if complete.
  function cut(): void {
    file.destroy(new AppError('payload_too_large', { limit: wholeLimit }))
  }
  file.once('limit', cut)
  if (file.truncated) cut()
  // One buffer, which uses only the memory written to; chunks and their concatenation would need twice as much.
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
    // A browser's form without a chosen file.
    if (size === 0 && filename === '') return none
    return await work(bytes.subarray(0, size))
  } finally {
    held.give(size)
    memory.transfer(0)
  }
}
