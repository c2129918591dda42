import type http from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Tracer } from '../tracing/index.ts'
import type { Actor } from './actor.ts'
import type { LocalAccess } from './local-caller.ts'

export interface HttpOptions {
  log: Log
  clock: Clock
  /** Returns the actor of a bearer token, or null if the token is unknown. */
  authenticate(token: string, ip: string): Promise<Actor | null>
  /** Returns the actor of a one-time download ticket (`?_ticket=`), or null if it is unknown, used or expired. */
  redeemTicket?(ticket: string, ip: string): Promise<Actor | null>
  /** Host names, besides the request's own, that browsers may call from. */
  allowedOrigins(): readonly string[]
  localAccess: LocalAccess
  trustedProxies: readonly string[]
  /** Networks of balancers whose connections begin with a PROXY header. */
  proxyProtocolFrom: readonly string[]
  tls: { cert: string; key: string } | null
  /** Checks every JSON response and problem against the contract (tests): a mismatch is a 500 and a log line with its cause. */
  validateResponses: boolean
  /**
   * Answers requests without a route (the console's pages and files); false means 404. Never return a reply: awaiting
   * one waits for its end.
   */
  fallback?: (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>
  /** Handles a request before the router; true if it did. The check-in path is here (ADR 0006). */
  fastPath?: (request: http.IncomingMessage, response: http.ServerResponse) => boolean
  tracer?: Pick<Tracer, 'request'>
  metrics: Metrics
}
