import type http from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Tracer } from '../tracing/index.ts'
import type { Actor } from './actor.ts'

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
