import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '../app-error.ts'
import { createHeldBytes } from './held-bytes.ts'

const bounds = (limit?: number) => (limit === undefined ? {} : { limits: { fileSize: limit } })

const isBodiless = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'

/** The one file of an uploaded form, whose part has to be named `file`, in any case; undefined when there is none. */
const findFile = async (request: FastifyRequest, limit?: number): Promise<MultipartFile | undefined> => {
  if (isBodiless(request)) return undefined
  for await (const part of request.parts(bounds(limit))) {
    const isNamedFile = part.fieldname.toLowerCase() === 'file'
    if (part.type === 'file') {
      if (isNamedFile) return part
      throw invalid('body.file', 'must be one part of the form named file')
    }
    if (isNamedFile && part.value !== '') throw invalid('body.file', 'must be a file: give the part a file name')
  }
  return undefined
}

/**
 * As `findFile`; a form without a file is a 400.
 * @param limit bytes, where another bound than that of all uploads fits
 */
export const uploadedFile = async (request: FastifyRequest, limit?: number): Promise<MultipartFile> => {
  const part = await findFile(request, limit)
  if (part === undefined) throw invalid('body.file', 'must be one part of the form named file')
  return part
}

/** Of a file that is read as a whole. */
const wholeLimit = 32 * 1024 * 1024
/** Of all of them that are on their way: one account could send a hundred at once. */
const held = createHeldBytes(4 * wholeLimit)

/**
 * Does something with the one part of an uploaded form as a whole, or refuses it as soon as it is too large. The bytes
 * are gone afterwards: left to the collector, those of two or three former uploads stood in memory beside the next one.
 * @param none the answer to a form without a file
 */
export const withUploadedBytes = async <T>(
  request: FastifyRequest,
  work: (bytes: Buffer) => Promise<T>,
  none: T,
): Promise<T> => {
  const part = await findFile(request, wholeLimit)
  if (part === undefined) return none
  const { file, filename } = part
  // The reader of forms only marks a file as cut, and its own `toBuffer` looks for the mark with each piece: of a file
  // that is cut between two pieces it gave the first 32 MiB as if they were all.
  function cut(): void {
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
    // A form of a browser in which no file was chosen.
    if (size === 0 && filename === '') return none
    return await work(bytes.subarray(0, size))
  } finally {
    held.give(size)
    memory.transfer(0)
  }
}
