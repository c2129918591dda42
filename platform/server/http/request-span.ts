import type { FastifyReply, FastifyRequest } from 'fastify'
import { noTracer, readTraceParent, type Tracer } from '../tracing/index.ts'
import { type OurRequest, operationOf } from './our-request.ts'

/** Creates the span of each request, from its first hook until its connection is done with it. */
export const createRequestSpans = (tracer: Pick<Tracer, 'request'>) => {
  function begin(request: FastifyRequest, reply: FastifyReply): void {
    if (tracer === noTracer) return
    const span = tracer.request(readTraceParent(request.headers.traceparent), request.id)
    if (span === null) return
    ;(request as OurRequest).portcullisSpan = span
    // On close, not finish, because a caller that disconnects ends it too.
    reply.raw.once('close', () => {
      const operation = operationOf(request)
      span.end(
        operation === undefined ? request.method : `${operation.method} ${operation.path}`,
        {
          'http.request.method': request.method,
          'http.response.status_code': reply.statusCode,
          ...(operation === undefined ? {} : { 'http.route': operation.path, 'portcullis.operation': operation.id }),
        },
        reply.statusCode >= 500,
      )
    })
  }
  function inSpan<T>(request: FastifyRequest, work: () => T): T {
    const span = (request as OurRequest).portcullisSpan
    return span === undefined ? work() : span.run(work)
  }

  return { begin, inSpan }
}

export type RequestSpans = ReturnType<typeof createRequestSpans>
