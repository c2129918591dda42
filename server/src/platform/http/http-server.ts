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
import { traceOf } from '../tracing/index.ts'
import type { Connections } from './connections.ts'
import { smallBody } from './held-bytes.ts'
import { namesOneHost } from './host-header.ts'
import type { HttpOptions } from './http-options.ts'
import type { DrainState } from './lifecycle.ts'
import { maxParamLength } from './path-methods.ts'
import { answerUnreadable, safetyHeaders } from './safety-headers.ts'
import type { SendFailure } from './send-failure.ts'

/** The server below the routes: limits of connections and headers, the fast path, requests that no route can meet. */
export const createHttpServer = (
  options: Pick<HttpOptions, 'log' | 'tls' | 'trustedProxies' | 'fastPath'>,
  { connections, state, sendFailure }: { connections: Connections; state: DrainState; sendFailure: SendFailure },
): FastifyInstance => {
  const { log } = options
  const settings = {
    loggerInstance: log as never,
    logController: new LogController({ disableRequestLogging: true }),
    // Of what meets no operation.
    bodyLimit: smallBody,
    requestTimeout: 28_000,
    connectionTimeout: 0,
    keepAliveTimeout: 75_000,
    exposeHeadRoutes: false,
    clientErrorHandler: answerUnreadable,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    // The trace of the caller, where it named one, so that its log and this one speak of the same.
    genReqId: (request: http.IncomingMessage) => traceOf(request.headers.traceparent).traceId,
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: false,
      useSemicolonDelimiter: false,
      maxParamLength,
      querystringParser: () => ({}),
    },
    // Requests the framework refuses itself meet no hook.
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendFailure(error, request, reply.headers(safetyHeaders(options.tls !== null)), false),
    serverFactory: (handler: http.RequestListener) => {
      const refused = new WeakSet<Socket>()
      function listener(req: http.IncomingMessage, res: http.ServerResponse) {
        connections.asked(req, res)
        if (state.isDraining) res.setHeader('connection', 'close')
        // Asked here, not by Node: what that answers has no headers.
        // What follows a refused request on its connection is not looked at: it may be part of its body.
        if (refused.has(req.socket)) return
        if (!namesOneHost(req)) {
          refused.add(req.socket)
          // In its turn: what was asked before it on this connection is answered first.
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
        // With the 30 s that Node has, a client that sends a byte a second stays for 45 s.
        connectionsCheckingInterval: 2_000,
        keepAliveTimeout: 75_000,
        // An offer of HTTP/2 (Java's client makes one) is no reason not to answer.
        shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
      }
      return options.tls === null
        ? http.createServer(limits, listener)
        : https.createServer(
            { ...limits, cert: options.tls.cert, key: options.tls.key, minVersion: 'TLSv1.2' },
            listener,
          )
    },
  }
  return Fastify(settings as unknown as FastifyServerOptions) as unknown as FastifyInstance
}
