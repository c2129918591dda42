import type { FastifyRequest } from 'fastify'
import { AppError } from '../app-error.ts'

/** Rejects a request that a page of another origin sent through a browser. */
export const assertOrigin = (request: FastifyRequest, allowed: readonly string[]): void => {
  const origin = request.headers.origin
  if (origin === undefined || request.method === 'GET' || request.method === 'HEAD') return
  let host: string
  try {
    host = new URL(origin).host
  } catch {
    throw new AppError('origin_refused')
  }
  if (host !== request.host && !allowed.includes(host)) throw new AppError('origin_refused')
}
