import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { AnyOperation, BodyOf, Operation, ParamsOf, QueryOf, ResponseOf } from '../../contract/operation.ts'
import { noTracer } from '../tracing/index.ts'
import type { Actor } from './actor.ts'
import type { answered, FileAnswer, JsonStream, JsonText, WithHeaders } from './answer.ts'
import { createAuthorise } from './authorise.ts'
import { affordableConnections, type LimitName } from './connection-limits.ts'
import { createConnections } from './connections.ts'
import type { HttpOptions } from './http-options.ts'
import { createHttpServer } from './http-server.ts'
import { createLifecycle, type DrainState } from './lifecycle.ts'
import { createLimited, measureConnections } from './limited.ts'
import type { Authenticator } from './machine.ts'
import { createPathMethods } from './path-methods.ts'
import { createRegister } from './register.ts'
import { addRequestHooks } from './request-hooks.ts'
import { createRequestSpans } from './request-span.ts'
import { createSendAnswer } from './send-answer.ts'
import { createSendFailure } from './send-failure.ts'

/** The input of a handler: read, case-folded, converted and checked by the operation's schemas. */
export interface Call<O> {
  /** The caller; on public routes a system actor named `anonymous`. */
  actor: Actor
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  request: FastifyRequest
  reply: FastifyReply
}

type Answer<R> = R | JsonText | JsonStream | FileAnswer | WithHeaders<R> | typeof answered
export type Handler<O> = (call: Call<O>) => Promise<Answer<ResponseOf<O>>>

/** A handler of a route for machines. It receives the result of the authenticator. */
export type MachineHandler<O, M> = (call: Call<O> & { machine: M }) => Promise<Answer<ResponseOf<O>>>

/** The registry of operations. */
export interface HttpApp {
  register<P extends TObject, Q extends TObject, B extends TSchema, R extends TSchema>(
    operation: Operation<P, Q, B, R>,
    handler: Handler<Operation<P, Q, B, R>>,
  ): void
  /** Registers an operation for machines (permission `agent`). Its authenticator runs before any of the body is read. */
  registerMachine<P extends TObject, Q extends TObject, B extends TSchema, R extends TSchema, M>(
    operation: Operation<P, Q, B, R>,
    authenticator: Authenticator<M>,
    handler: MachineHandler<Operation<P, Q, B, R>, M>,
  ): void
  /** Operations registered so far, for OpenAPI and the tests. */
  readonly operations: readonly AnyOperation[]
  /** Makes `seal` fail while a required registration of another capability is missing. */
  needs(what: string, isThere: () => boolean): void
  /** Returns 405 for unsupported methods on every known path. Call it after all capabilities have registered. */
  seal(): void
  /** From now on, closes each connection after its response, so that a load balancer moves its clients. */
  drain(): void
  isDraining(): boolean
  /** Counts and logs a connection or download that a limit closed or refused. */
  readonly limited: (limit: LimitName) => void
  /** Starts to listen and returns the port; port 0 means any. Rejects with the system's error code. */
  listen(host: string, port: number): Promise<number>
  readonly fastify: FastifyInstance
}

/**
 * Builds the HTTP application without listening. Throws for a route without a permission, so that the server does not
 * start.
 */
export const createHttpApp = async (options: HttpOptions): Promise<HttpApp> => {
  const { log } = options
  const state: DrainState = { isDraining: false }
  const limited = createLimited(options)
  const connections = createConnections({
    limits: affordableConnections(),
    trustedProxies: options.trustedProxies,
    refused: limited,
  })
  measureConnections(connections, options.metrics)
  const sendFailure = createSendFailure(log, options.validateResponses)
  const fastify = createHttpServer(options, { connections, state, sendFailure })
  const { listen } = createLifecycle(fastify, { log, connections, state, isTls: options.tls !== null })
  const spans = createRequestSpans(options.tracer ?? noTracer)
  const methods = createPathMethods()
  await addRequestHooks(fastify, options, { spans, sendFailure, methods })
  const { add, seal, operations } = createRegister(fastify, {
    authorise: createAuthorise(options),
    spans,
    sendAnswer: createSendAnswer(log, options.validateResponses),
    methods,
    allowedOrigins: options.allowedOrigins,
  })
  const needs: [what: string, isThere: () => boolean][] = []
  return {
    register: (operation, handler) => add(operation as unknown as AnyOperation, undefined, handler),
    registerMachine: (operation, authenticator, handler) =>
      add(operation as unknown as AnyOperation, authenticator, handler),
    operations,
    needs: (what, isThere) => {
      needs.push([what, isThere])
    },
    seal: () => {
      const missing = needs.flatMap(([what, isThere]) => (isThere() ? [] : [what]))
      if (missing.length > 0) throw new Error(`not registered: ${missing.join(', ')}`)
      seal()
    },
    listen,
    drain: () => {
      state.isDraining = true
    },
    isDraining: () => state.isDraining,
    limited,
    fastify,
  }
}
