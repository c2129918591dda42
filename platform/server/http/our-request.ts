import type { FastifyRequest } from 'fastify'
import type { AnyOperation } from '../../contract/operation.ts'
import type { Span } from '../tracing/index.ts'
import type { Actor } from './actor.ts'

/** A request with the results of the hooks. */
export interface OurRequest extends FastifyRequest {
  portcullisActor: Actor
  /** Result of the guard of a machine route. */
  machine: unknown
  /** Whether a credential was verified. */
  isKnown?: boolean
  portcullisSpan?: Span
}

/** Returns the operation of a request, or undefined if it has none. */
export const operationOf = ({ routeOptions }: FastifyRequest): AnyOperation | undefined =>
  (routeOptions.config as { operation?: AnyOperation }).operation

export const isHead = ({ method }: { method: string }): boolean => method === 'HEAD'
