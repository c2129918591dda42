import type { FastifyRequest } from 'fastify'
import { invalid } from '../app-error.ts'

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
