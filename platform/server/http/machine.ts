import type { FastifyRequest } from 'fastify'
import type { AnyOperation } from '../../contract/operation.ts'
import { addressBucket } from '../address.ts'
import { AppError } from '../app-error.ts'
import { smallBody } from '../limiters/held-bytes.ts'

/** The check of a machine route before its body is read. `M` is the caller. */
export interface Authenticator<M> {
  /**
   * Where the credential is. In a header: `check` verifies it and its quota. In the body: at most 16 KiB are read,
   * after `check` charged the quota of the address.
   */
  credential: 'header' | 'body'
  /** Returns the caller, or throws the refusal. */
  check(request: FastifyRequest): Promise<M> | M
}

/** Returns the body limit of an operation. Throws if a larger body would be read before the credential is verified. */
export const bodyLimitOf = (operation: AnyOperation, authenticator: Authenticator<unknown> | undefined): number => {
  const limit = operation.bodyLimit ?? smallBody
  if (limit > smallBody && authenticator?.credential !== 'header')
    throw new Error(
      `${operation.method} ${operation.path} reads ${limit} bytes without a credential, more than ${smallBody}: refusing to start`,
    )
  return limit
}

/** Throws if a route for machines has no check before its body, so that the server does not start. */
export const assertAuthenticator = (
  { permission, method, path }: AnyOperation,
  authenticator: Authenticator<unknown> | undefined,
): void => {
  if ((permission === 'agent') !== (authenticator !== undefined))
    throw new Error(
      authenticator === undefined
        ? `${method} ${path} is for machines but has no authenticator before its body: refusing to start`
        : `${method} ${path} has an authenticator for machines but another audience: refusing to start`,
    )
}

/** Failures that one address may have at once, and the number that it regains per second. */
const failures = { most: 600, perSecond: 10, addresses: 10_000 } as const

/**
 * Counts failed attempts per address, which limits what callers without a credential can make the server read and look
 * up. A site behind one address may fail 600 times at once. Successful attempts do not count.
 */
export const createFailureQuota = (clock: { now(): number }) => {
  const levels = new Map<string, { failed: number; at: number }>()
  function failedBy(address: string): number {
    const level = levels.get(address)
    return level === undefined ? 0 : Math.max(0, level.failed - ((clock.now() - level.at) / 1000) * failures.perSecond)
  }
  return {
    /** Throws before the body is read if the address failed too often. */
    assert: (ip: string): void => {
      const over = failedBy(addressBucket(ip)) - failures.most
      if (over < 0) return
      const seconds = Math.ceil((over + 1) / failures.perSecond)
      throw new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })
    },
    failed: (ip: string): void => {
      const address = addressBucket(ip)
      const failed = failedBy(address) + 1
      levels.delete(address)
      levels.set(address, { failed, at: clock.now() })
      const [oldest] = levels.keys()
      if (levels.size > failures.addresses && oldest !== undefined) levels.delete(oldest)
    },
  }
}
