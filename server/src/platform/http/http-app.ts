import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import {
  type AnyOperation,
  type BodyOf,
  type Operation,
  type ParamsOf,
  permissionTable,
  type QueryOf,
  type ResponseOf,
} from '@portcullis/contract'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { AppError, notFound } from '../app-error.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { noTracer, readTraceParent, type Span, type Tracer, traceOf } from '../tracing/index.ts'
import { jsonMediaType, wantsPlainProblem } from './accept.ts'
import { type Acceptors, assertFree, canShare, openAcceptors } from './acceptors.ts'
import { type Actor, assertPermission, assertProfile, systemActor } from './actor.ts'
import { answered, contentDisposition, FileAnswer, JsonStream, JsonText, WithHeaders } from './answer.ts'
import { answerChecks } from './check-answers.ts'
import { affordableConnections, createConnections, credentialSeen } from './connections.ts'
import { assertFresh } from './fresh.ts'
import { createHeavyWork, largePage } from './heavy-work.ts'
import { countedBody, createHeldBytes, smallBody } from './held-bytes.ts'
import { namesOneHost } from './host-header.ts'
import { isLocalCaller } from './local-caller.ts'
import { logFailure } from './log-failure.ts'
import { assertGuarded, bodyLimitOf, type Guard } from './machine.ts'
import { unsupportedMediaType } from './media-type.ts'
import { assertOrigin } from './origin.ts'
import { problemOf, toAppError } from './problem.ts'
import { bodyReader } from './read-body.ts'
import { paramsReader, queryReader } from './read-query.ts'
import { answerUnreadable, safetyHeaders } from './safety-headers.ts'
import { hasUnreadBody, isTurnedAway, turnAway } from './turn-away.ts'

/** What a handler gets: everything already read, folded, converted and checked by the operation's schemas. */
export interface Call<O> {
  /** Who calls; a system actor named `anonymous` on public routes. */
  actor: Actor
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  request: FastifyRequest
  reply: FastifyReply
}

type Answer<R> = R | JsonText | JsonStream | FileAnswer | WithHeaders<R> | typeof answered
export type Handler<O> = (call: Call<O>) => Promise<Answer<ResponseOf<O>>>

/** A handler of a route that machines call. It receives the result of the guard. */
export type MachineHandler<O, M> = (call: Call<O> & { machine: M }) => Promise<Answer<ResponseOf<O>>>

/** Where features register their operations. */
export interface HttpApp {
  register<P extends TObject, Q extends TObject, B extends TSchema, R extends TSchema>(
    operation: Operation<P, Q, B, R>,
    handler: Handler<Operation<P, Q, B, R>>,
  ): void
  /** Registers an operation that machines call (permission `agent`); its guard runs before any of the body is read. */
  registerMachine<P extends TObject, Q extends TObject, B extends TSchema, R extends TSchema, M>(
    operation: Operation<P, Q, B, R>,
    guard: Guard<M>,
    handler: MachineHandler<Operation<P, Q, B, R>, M>,
  ): void
  /** Operations registered so far, for OpenAPI and the tests. */
  readonly operations: readonly AnyOperation[]
  /** Answers 405 on every known path for the methods it does not take; call it when all features have registered. */
  seal(): void
  /** From now on every answer ends its connection: a balancer that was told to go elsewhere takes its clients along. */
  drain(): void
  isDraining(): boolean
  /** Begins to listen; gives the port, for 0 means any. Rejects with the code of the system when it can not. */
  listen(host: string, port: number): Promise<number>
  readonly fastify: FastifyInstance
}

export interface HttpOptions {
  log: Log
  clock: Clock
  /** Bearer token → actor; null when it is none of ours. */
  authenticate(token: string, ip: string): Promise<Actor | null>
  /** One-use ticket of a download (`?_ticket=`) → actor; null when it is none, used or ended. */
  redeemTicket?(ticket: string, ip: string): Promise<Actor | null>
  /** Host names beside the request's own that a browser may call from. */
  allowedOrigins(): readonly string[]
  trustedProxies: readonly string[]
  tls: { cert: string; key: string } | null
  /** Checks every JSON answer against the contract (tests): a mismatch is a 500, and a line in the log that names it. */
  validateResponses: boolean
  /** Answers what no route takes (the console's pages and files); false means 404. A reply is never returned: awaiting one waits for its end. */
  fallback?: (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>
  /** Takes a request before the router; true when it did. The check-in path lives here (ADR 0006). */
  fastPath?: (request: http.IncomingMessage, response: http.ServerResponse) => boolean
  tracer?: Pick<Tracer, 'request'>
}

/** What requests under way get to end when the server stops; none takes longer (compose.base.ts). */
const closingMs = 5_000
/** Of an answer of this size or less the kernel takes all at once, whoever reads it. */
const kernelBytes = 64 * 1024
/**
 * A reader that takes nothing of a formed answer is ended after once or twice this time: its bytes would stay in memory
 * (a thousand readers of /openapi.json held a gigabyte). Answers that are formed while they are read mind that themselves.
 */
const readerMs = 13_000
const jsonLimit = 8 * 1024 * 1024
const uploadLimit = 32 * 1024 * 1024
/** Of all bodies that are on their way, those of machines by themselves; small ones count for nothing and are always taken. */
const machinesHeld = 64 * 1024 * 1024
const knownHeld = 128 * 1024 * 1024
/** Methods that the console's pages take where no operation is. */
const reads: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const isHead = ({ method }: { method: string }): boolean => method === 'HEAD'
/** What HEAD sends of a body: its length where it is formed already, and nothing of one that is formed while it is read. */
const withoutBody = <T>(content: T | Readable): T | undefined => {
  if (!(content instanceof Readable)) return content
  content.on('error', () => {}).destroy()
  return undefined
}
const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'] as const

/** What an account that must change its password still reaches. */
const reachableBeforePasswordChange = new Set(['getProfile', 'getUserDetails', 'updateUserDetails', 'logout'])
/** What an account that lacks a required second factor still reaches. */
const reachableBeforeSecondFactor = new Set([
  ...reachableBeforePasswordChange,
  'getMfa',
  'startTotp',
  'confirmTotp',
  'startPasskey',
  'finishPasskey',
])

const ticketOf = (request: FastifyRequest): string | undefined =>
  request.method === 'GET' ? /[?&]_ticket=([\w-]{1,128})(?:&|$)/.exec(request.raw.url ?? '')?.[1] : undefined

/** Whether anybody may call it: what it costs to refuse a call counts. */
const isAnonymous = ({ permission }: AnyOperation): boolean => permission === 'public' || permission === 'agent'

/** What clients of `plainErrors` operations can tell from success; other refusals become 400 with the same text. */
const plainStatuses = new Set([400, 401, 403])

const bearer = /^Bearer +([\w.~+/=-]{1,4096})$/i

const anonymous = (ip: string): Actor => ({
  ...systemActor('anonymous'),
  profile: 30,
  permissions: new Set(),
  ip,
})

/** Builds the HTTP application; nothing listens yet. Routes without a permission are refused here, so the server does not start. */
export const createHttpApp = async (options: HttpOptions): Promise<HttpApp> => {
  const { log, tracer = noTracer } = options
  const operations: AnyOperation[] = []
  const methodsOf = new Map<string, Set<string>>()
  let isDraining = false
  const connections = createConnections({
    limits: affordableConnections(),
    trustedProxies: options.trustedProxies,
    full: () => log.warn('closed a silent connection because too many connections have no credential'),
  })

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
      maxParamLength: 512,
      querystringParser: () => ({}),
    },
    // Requests the framework refuses itself meet no hook.
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      fail(error, request, reply.headers(safetyHeaders(options.tls !== null)), false),
    serverFactory: (handler: http.RequestListener) => {
      const refused = new WeakSet<Socket>()
      const listener = (req: http.IncomingMessage, res: http.ServerResponse) => {
        connections.asked(req, res)
        if (isDraining) res.setHeader('connection', 'close')
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
  const fastify = Fastify(settings as unknown as FastifyServerOptions) as unknown as FastifyInstance

  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply, plainByDefault: boolean): void => {
    const cause = toAppError(error)
    const failure =
      plainByDefault && cause.status < 500 && !plainStatuses.has(cause.status)
        ? new AppError('validation_failed', { detail: cause.message }, { errors: cause.errors, headers: cause.headers })
        : cause
    logFailure(log, failure, { traceId: request.id, route: request.routeOptions.url ?? 'none' })
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer')
    for (const [name, value] of Object.entries(failure.headers)) reply.header(name, value)
    reply.status(failure.status)
    const problem = problemOf(failure, request.raw.url?.split('?')[0] ?? '', request.id)
    if (wantsPlainProblem(request.headers.accept, plainByDefault))
      reply.type('text/plain; charset=utf-8').send(problem.detail)
    else reply.type('application/problem+json; charset=utf-8').serializer(String).send(JSON.stringify(problem))
  }

  let acceptors: Acceptors | undefined
  let closed: Promise<unknown> = Promise.resolve()
  const listen = async (host: string, port: number): Promise<number> => {
    const isShared = canShare(host)
    if (isShared && port !== 0) await assertFree(host, port)
    const place = { host, port, listenTextResolver: () => `listening on port ${port}` }
    const url = await fastify.listen(isShared ? ({ ...place, reusePort: true } as typeof place) : place)
    const given = Number(new URL(url).port) || port
    // Unheard, the error of one connection that could not be accepted would end the process.
    const failed = (error: Error): void => log.warn({ err: error }, 'a connection could not be accepted')
    fastify.server.on('error', failed)
    if (isShared)
      acceptors = await openAcceptors(
        { host, port: given, allowHalfOpen: options.tls === null },
        (socket) => fastify.server.emit('connection', socket),
        failed,
      )
    return given
  }

  connections.watch(fastify.server)
  fastify.addHook('preClose', async () => {
    // Browsers open connections ahead; Node takes one that never said anything for busy and would wait for it.
    connections.endUnused()
    // Hosts that report without a pause keep their connection busy: without a last answer it would be cut in the middle.
    isDraining = true
    // A server that never listened never says that it is closed: the timers would keep its process.
    if (!fastify.server.listening) return
    const idle = setInterval(() => fastify.server.closeIdleConnections(), 50)
    const all = setTimeout(() => fastify.server.closeAllConnections(), closingMs)
    closed = Promise.all([once(fastify.server, 'close'), acceptors?.close()]).finally(() => {
      clearInterval(idle)
      clearTimeout(all)
    })
  })
  fastify.addHook('onClose', async () => {
    await closed
  })

  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  fastify.addContentTypeParser('application/gzip', (request, body, done) => {
    const { operation } = request.routeOptions.config as { operation?: AnyOperation }
    if (operation?.streamType === undefined) done(unsupportedMediaType(operation?.upload === true ? 'upload' : 'json'))
    else done(null, body)
  })
  await fastify.register(multipart, {
    limits: { fileSize: uploadLimit, files: 1, fields: 4, parts: 5, fieldSize: 4096 },
    throwFileSizeLimit: true,
  })

  fastify.addHook('onRequest', async (request, reply) => {
    if (tracer !== noTracer) beginSpan(request, reply)
    reply.headers(safetyHeaders(options.tls !== null))
    if ((request.raw.url?.length ?? 0) > 16_384)
      throw new AppError('validation_failed', { detail: 'The URL is longer than 16384 characters.' })
    // The media type counts only when there is a body.
    const length = request.headers['content-length']
    if (request.headers['transfer-encoding'] === undefined && (length === undefined || length === '0'))
      delete request.headers['content-type']
    if (request.is404 && !reads.has(request.method)) throw notFound('There is no such path.')
  })

  // A caller without a credential gets 16 KiB of a body read and no more, whatever is answered.
  fastify.addHook('onSend', async (request, reply, payload) => {
    if ((request as OurRequest).isKnown !== true && hasUnreadBody(request.raw)) turnAway(request.raw, reply.raw)
    return payload
  })

  // As Node does it with a body that nobody began to read: what is asked next on its connection would wait behind it for
  // as long as a request may take.
  fastify.addHook('onResponse', async ({ raw, routeOptions }, { statusCode }) => {
    const { operation } = routeOptions.config as { operation?: AnyOperation }
    // A machine with its credential in the body was authenticated.
    if (operation?.permission === 'agent' && statusCode < 300) credentialSeen(raw.socket)
    if (!raw.complete && !isTurnedAway(raw)) raw.resume()
  })

  fastify.addHook('onSend', async ({ raw: { socket } }, _reply, payload) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    // Requests of tests may come without a real one.
    if (isWhole && payload.length > kernelBytes && socket instanceof Socket) socket.setTimeout(readerMs)
    return payload
  })

  const beginSpan = (request: FastifyRequest, reply: FastifyReply): void => {
    const span = tracer.request(readTraceParent(request.headers.traceparent), request.id)
    if (span === null) return
    ;(request as OurRequest).portcullisSpan = span
    // Closed, not finished: a caller that goes away ends it, too.
    reply.raw.once('close', () => {
      const { operation } = request.routeOptions.config as { operation?: AnyOperation }
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
  const inSpan = <T>(request: FastifyRequest, work: () => T): T => {
    const span = (request as OurRequest).portcullisSpan
    return span === undefined ? work() : span.run(work)
  }

  fastify.setErrorHandler((error, request, reply) => {
    const config = request.routeOptions.config as { operation?: AnyOperation }
    fail(error, request, reply, config.operation?.plainErrors === true)
  })
  fastify.setNotFoundHandler(async (request, reply) => {
    const isAnswered = (await options.fallback?.(request, reply)) === true
    if (!isAnswered) fail(new AppError('not_found', { detail: 'There is no such path.' }), request, reply, false)
    return reply
  })

  const authorise = async (operation: AnyOperation, request: FastifyRequest): Promise<Actor> => {
    const audience = operation.permission
    if (audience === 'public' || audience === 'agent') return anonymous(request.ip)
    const header = request.headers.authorization
    // Behind a proxy of this machine everybody is local: some hand on nothing that shows it.
    const isOpen = operation.openOnLoopback === true && options.trustedProxies.length === 0
    if (isOpen && header === undefined && isLocalCaller(request)) return anonymous(request.ip)
    const token = bearer.exec(header ?? '')?.[1]
    // A ticket is for one download: nothing asks again whether its owner may go on reading a stream, and HEAD downloads
    // nothing.
    const isDownload = header === undefined && operation.responseKind !== 'stream' && !isHead(request)
    const ticket = isDownload ? ticketOf(request) : undefined
    const actor =
      token !== undefined
        ? await options.authenticate(token, request.ip)
        : ticket !== undefined
          ? ((await options.redeemTicket?.(ticket, request.ip)) ?? null)
          : null
    if (actor === null) throw new AppError('unauthorized')
    if (actor.mustChangePassword && !reachableBeforePasswordChange.has(operation.id))
      throw new AppError('password_change_required')
    if (
      actor.secondFactorDueAt !== null &&
      actor.secondFactorDueAt <= options.clock.now() &&
      !reachableBeforeSecondFactor.has(operation.id)
    )
      throw new AppError('second_factor_required')
    assertProfile(actor, audience)
    // Before the scope: no scope opens these operations to a token.
    if (operation.fresh === true) assertFresh(actor, options.clock.now())
    assertPermission(actor, audience)
    return actor
  }

  const checks = options.validateResponses ? answerChecks() : null
  const send = (operation: AnyOperation, request: FastifyRequest, reply: FastifyReply, given: unknown): unknown => {
    let answer = given
    if (answer instanceof WithHeaders) {
      reply.headers(answer.headers)
      answer = answer.value
    }
    if (answer === answered) return reply
    if (answer instanceof FileAnswer) {
      reply.type(answer.mediaType).header('content-disposition', contentDisposition(answer.fileName))
      return reply.send(isHead(request) ? withoutBody(answer.content) : answer.content)
    }
    reply.type(`${jsonMediaType(request.headers.accept)}; charset=utf-8`).serializer(String)
    if (answer instanceof JsonStream)
      return reply.send(
        isHead(request)
          ? withoutBody(answer.stream)
          : checks === null
            ? answer.stream
            : checks.checkStream(operation, answer.stream, (err) =>
                log.error({ traceId: request.id, err }, 'request failed'),
              ),
      )
    const text = answer instanceof JsonText ? answer.text : JSON.stringify(answer)
    checks?.check(operation, String(text))
    return reply.send(text)
  }

  const heavyWork = createHeavyWork()
  const [machines, people] = [createHeldBytes(machinesHeld), createHeldBytes(knownHeld)]
  const counted = (operation: AnyOperation, body: Readable, { headers }: FastifyRequest, reply: FastifyReply) =>
    headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= smallBody
      ? body
      : countedBody(isAnonymous(operation) ? machines : people, body, reply.raw)

  const add = (
    known: AnyOperation,
    guard: Guard<unknown> | undefined,
    handler: (call: never) => Promise<unknown>,
  ): void => {
    if (
      known.permission !== 'public' &&
      known.permission !== 'agent' &&
      !Object.hasOwn(permissionTable, known.permission ?? '')
    )
      throw new Error(`${known.method} ${known.path} declares no known permission: refusing to start`)
    assertGuarded(known, guard)
    const url = known.path.replace(/\{(\w+)\}/g, ':$1')
    const readParams = paramsReader(known.params)
    const readQuery = queryReader(known.query)
    const readBody = bodyReader(known.body, known.bodyOptional === true)
    const readsBody = known.method !== 'GET' && known.upload !== true && known.streamType === undefined
    const isEndless = known.responseKind === 'stream'
    const answerOf = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const url = request.raw.url ?? ''
      const at = url.indexOf('?')
      // The multipart parser takes such a body away: here it would look like none.
      if (readsBody && /^multipart\//i.test(request.headers['content-type'] ?? '')) throw unsupportedMediaType('json')
      if (known.streamType !== undefined && !(request.body instanceof Readable)) throw unsupportedMediaType('gzip')
      // Before the query: a wrong media type is said before a wrong parameter.
      const body = readsBody
        ? readBody({ contentType: request.headers['content-type'], bytes: request.body as Buffer | undefined })
        : null
      const query = readQuery(at < 0 ? '' : url.slice(at + 1))
      // Last: what a name leads to is only said to who asked for it rightly.
      const params = readParams(request.params as Record<string, string>)
      const { portcullisActor: actor, machine } = request as OurRequest
      if (isEndless && isHead(request)) return null
      const call = { actor, machine, params, query, body, request, reply }
      const work = () => inSpan(request, () => handler(call as never))
      const isLarge = known.heavy === undefined && Number((query as { PageSize?: number }).PageSize ?? 0) > largePage
      return isLarge ? heavyWork('export', actor, reply.raw, work) : work()
    }
    operations.push(known)
    // A redirect of a sign-in uses up what it was given.
    const taken = known.method === 'GET' && known.responseKind !== 'redirect' ? ['GET', 'HEAD'] : [known.method]
    const methods = methodsOf.get(url) ?? new Set()
    for (const method of taken) methods.add(method)
    methodsOf.set(url, methods)
    fastify.route({
      method: taken,
      url,
      bodyLimit: isAnonymous(known)
        ? bodyLimitOf(known, guard)
        : (known.bodyLimit ?? (known.upload === true ? (known.uploadLimit ?? uploadLimit) : jsonLimit)),
      config: { operation: known },
      onRequest: async (request) => {
        assertOrigin(request, options.allowedOrigins())
        const ours = request as OurRequest
        ours.portcullisActor = await inSpan(request, () => authorise(known, request))
        ours.machine = await inSpan(request, async () => guard?.check(request))
        const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
        if (known.streamType !== undefined && type !== known.streamType) throw unsupportedMediaType('gzip')
        ours.isKnown = guard === undefined ? ours.portcullisActor.kind !== 'system' : guard.credential === 'header'
        if (ours.isKnown) credentialSeen(request.raw.socket)
      },
      preParsing: async (request, reply, body) =>
        readsBody ? counted(known, body as Readable, request as FastifyRequest, reply) : body,
      handler: async (request, reply) => {
        const { portcullisActor: actor } = request as OurRequest
        const work = () => answerOf(request, reply)
        // Its body is read in its turn, too: one of 1,000 rules takes a while.
        const answer = await (known.heavy === undefined ? work() : heavyWork(known.heavy, actor, reply.raw, work))
        return isEndless && isHead(request) ? reply.send() : send(known, request, reply, answer)
      },
    })
  }

  const register: HttpApp['register'] = (operation, handler) =>
    add(operation as unknown as AnyOperation, undefined, handler)
  const registerMachine: HttpApp['registerMachine'] = (operation, guard, handler) =>
    add(operation as unknown as AnyOperation, guard, handler)

  const seal = (): void => {
    for (const [url, methods] of methodsOf) {
      const allow = [...methods].join(', ')
      fastify.route({
        method: verbs.filter((verb) => !methods.has(verb)),
        url,
        // Before the body, so that a refused body is not read.
        onRequest: async () => {
          throw new AppError('method_not_allowed', { allow }, { headers: { allow } })
        },
        handler: async () => null,
      })
    }
  }

  const drain = (): void => {
    isDraining = true
  }

  return { register, registerMachine, operations, seal, listen, drain, isDraining: () => isDraining, fastify }
}

interface OurRequest extends FastifyRequest {
  portcullisActor: Actor
  /** Result of the guard of a machine route. */
  machine: unknown
  /** Whether a credential was verified. */
  isKnown?: boolean
  portcullisSpan?: Span
}
