import { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance } from 'fastify'
import { AppError, notFound } from '../app-error.ts'
import type { HttpOptions } from './http-options.ts'
import { unsupportedMediaType } from './media-type.ts'
import { type OurRequest, operationOf } from './our-request.ts'
import type { PathMethods } from './path-methods.ts'
import { pieceBytes } from './readers.ts'
import type { RequestSpans } from './request-span.ts'
import { safetyHeaders } from './safety-headers.ts'
import type { SendFailure } from './send-failure.ts'
import { drainRefused, hasUnreadBody, isTurnedAway, turnAway } from './turn-away.ts'

/** Largest uploaded file in bytes, unless its operation has its own limit. */
export const uploadLimit = 32 * 1024 * 1024
/** Methods for the console's pages, on paths without an operation. */
const reads: ReadonlySet<string> = new Set(['GET', 'HEAD'])

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

/** Adds the hooks that every request passes, whatever its operation. */
export const addRequestHooks = async (
  fastify: FastifyInstance,
  options: Pick<HttpOptions, 'tls' | 'fallback'>,
  { spans, sendFailure, methods }: { spans: RequestSpans; sendFailure: SendFailure; methods: PathMethods },
): Promise<void> => {
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  fastify.addContentTypeParser('application/gzip', (request, body, done) => {
    const operation = operationOf(request)
    if (operation?.streamType === undefined) done(unsupportedMediaType(operation?.upload === true ? 'upload' : 'json'))
    else done(null, body)
  })
  await fastify.register(multipart, {
    limits: { fileSize: uploadLimit, files: 1, fields: 4, parts: 5, fieldSize: 4096 },
    throwFileSizeLimit: true,
  })

  fastify.addHook('onRequest', async (request, reply) => {
    spans.begin(request, reply)
    reply.headers(safetyHeaders(options.tls !== null))
    if ((request.raw.url?.length ?? 0) > 16_384)
      throw new AppError('validation_failed', { detail: 'The URL is longer than 16384 characters.' })
    // The media type counts only if there is a body.
    const length = request.headers['content-length']
    if (request.headers['transfer-encoding'] === undefined && (length === undefined || length === '0'))
      delete request.headers['content-type']
    if (!request.is404) return
    methods.assertTaken(request)
    if (!reads.has(request.method)) throw notFound('This path does not exist.')
  })

  // At most 16 KiB of a body without a credential are read, whatever the response.
  fastify.addHook('onSend', async (request, reply, payload) => {
    if (hasUnreadBody(request.raw)) {
      if ((request as OurRequest).isKnown !== true) turnAway(request.raw, reply.raw)
      else if (reply.statusCode === 413) drainRefused(request.raw, reply.raw)
    }
    return payload
  })

  // Discards an unread body, as Node does. Otherwise, the next request on the connection would wait for the rest of the
  // body until the time limit.
  fastify.addHook('onResponse', async ({ raw }) => {
    if (!raw.complete && !isTurnedAway(raw)) raw.resume()
  })

  // In pieces, so that a slow reader holds only one of them, and the server sees how fast it reads.
  fastify.addHook('onSend', async ({ method }, reply, payload) => {
    if (method === 'HEAD' || !(typeof payload === 'string' || Buffer.isBuffer(payload))) return payload
    if (payload.length <= pieceBytes) return payload
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
    reply.header('content-length', bytes.length)
    return Readable.from(piecesOf(bytes), { objectMode: false, highWaterMark: 1 })
  })

  fastify.setErrorHandler((error, request, reply) => {
    sendFailure(error, request, reply, operationOf(request)?.plainErrors === true)
  })
  fastify.setNotFoundHandler(async (request, reply) => {
    const isAnswered = (await options.fallback?.(request, reply)) === true
    if (!isAnswered)
      sendFailure(new AppError('not_found', { detail: 'This path does not exist.' }), request, reply, false)
    return reply
  })
}
