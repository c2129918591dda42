import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import { smallBody } from '../limiters/held-bytes.ts'
import { traceOf } from '../tracing/index.ts'
import type { Connections } from './connections.ts'
import { namesOneHost } from './host-header.ts'
import type { HttpOptions } from './http-options.ts'
import type { DrainState } from './lifecycle.ts'
import { maxParamLength } from './path-methods.ts'
import { acceptProxyHeaders } from './proxy-protocol.ts'
import { answerUnreadable, safetyHeaders } from './safety-headers.ts'
import type { SendFailure } from './send-failure.ts'

/**
 * Creates the server below the routes: limits of connections and headers, the fast path, and requests without a route.
 */
export const createHttpServer = (
  options: Pick<HttpOptions, 'log' | 'tls' | 'trustedProxies' | 'proxyProtocolFrom' | 'fastPath'>,
  { connections, state, sendFailure }: { connections: Connections; state: DrainState; sendFailure: SendFailure },
): FastifyInstance => {
  const { log } = options
  const settings = {
    loggerInstance: log as never,
    logController: new LogController({ disableRequestLogging: true }),
    // For requests without an operation.
    bodyLimit: smallBody,
    requestTimeout: 28_000,
    connectionTimeout: 0,
    keepAliveTimeout: 75_000,
    exposeHeadRoutes: false,
    clientErrorHandler: answerUnreadable,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    // Uses the trace of the caller, if there is one, so that both logs have the same id.
    genReqId: (request: http.IncomingMessage) => traceOf(request.headers.traceparent).traceId,
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: false,
      useSemicolonDelimiter: false,
      maxParamLength,
      querystringParser: () => ({}),
    },
    // Requests that the framework rejects itself reach no hook.
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendFailure(error, request, reply.headers(safetyHeaders(options.tls !== null)), false),
    serverFactory: (handler: http.RequestListener) => {
      const refused = new WeakSet<Socket>()
      function listener(req: http.IncomingMessage, res: http.ServerResponse) {
        if (!connections.asked(req, res)) return
        if (state.isDraining) res.setHeader('connection', 'close')
        // Answered here, because Node's own answer has no headers.
        // Nothing after a refused request is read on its connection: it may be part of its body.
        if (refused.has(req.socket)) return
        if (!namesOneHost(req)) {
          refused.add(req.socket)
          // Waits for its turn: earlier requests on this connection are answered first.
          res.writeHead(400, { ...safetyHeaders(options.tls !== null), connection: 'close', 'content-length': 0 }).end()
          return
        }
        if (options.fastPath?.(req, res) !== true) handler(req, res)
      }
      const limits: http.ServerOptions = {
        maxHeaderSize: 24 * 1024,
        requireHostHeader: false,
        headersTimeout: 15_000,
        requestTimeout: 28_000,
        // With Node's default of 30 s, a client that sends a byte per second stays for 45 s.
        connectionsCheckingInterval: 2_000,
        keepAliveTimeout: 75_000,
        // An offer of HTTP/2 (Java's client makes one) is answered as HTTP/1.1.
        shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
      }
      const server =
        options.tls === null
          ? http.createServer(limits, listener)
          : https.createServer(
              { ...limits, cert: options.tls.cert, key: options.tls.key, minVersion: 'TLSv1.2' },
              listener,
            )
      // Node would answer these itself, uncounted.
      server.on('checkExpectation', listener)
      if (options.proxyProtocolFrom.length > 0)
        acceptProxyHeaders(server, options.proxyProtocolFrom, { log, announce: connections.announce })
      return server
    },
  }
  return Fastify(settings as unknown as FastifyServerOptions) as unknown as FastifyInstance
}
