import type { UserProfile } from '@portcullis/features/contract.ts'
import type { Context } from '@portcullis/platform/server/context.ts'
import { permissionSetOf } from '@portcullis/platform/server/http/actor.ts'
import { createHttpApp, type HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createMetrics } from '@portcullis/platform/server/metrics.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import type { InjectOptions, LightMyRequestResponse as Response } from 'fastify'
import { cloneDatabase, createFakeClock } from './database.ts'
import { keptContract } from './kept-contract.ts'

/** Returns a context with only these members, for tests of one capability. */
export const contextOf = <T>(given: object): T => given as T

const profiles: Readonly<Record<string, UserProfile>> = { administrator: 10, manager: 20, user: 30 }

/**
 * Starts some capabilities behind the real HTTP layer on their own database, without accounts. The bearer token is the name
 * of a profile. For tests that do not depend on sign-in; others use `startTestApp`.
 */
export const startCapabilityApp = async <T>(register: (app: HttpApp, context: Context) => T | Promise<T>) => {
  const { db, log, close } = await cloneDatabase()
  const assertContractKept = keptContract(log)
  const clock = createFakeClock()
  const metrics = createMetrics()
  const app = await createHttpApp({
    log,
    clock,
    authenticate: async (token, ip) => {
      const profile = profiles[token]
      return profile === undefined
        ? null
        : {
            kind: 'session',
            userName: token,
            accountId: null,
            profile,
            permissions: permissionSetOf(profile),
            credentialId: null,
            mustChangePassword: false,
            secondFactorDueAt: null,
            authenticatedAt: clock.now(),
            ip,
          }
    },
    allowedOrigins: () => [],
    localAccess: { isOpen: () => true, key: new Secret(Buffer.alloc(32)) },
    trustedProxies: [],
    proxyProtocolFrom: [],
    tls: null,
    validateResponses: true,
    metrics,
  })
  const capabilities = await register(app, contextOf({ db, exportDb: db, clock, log, metrics }))
  app.seal()
  const request = (given: InjectOptions): Promise<Response> => app.fastify.inject(given)
  const as = (profile: 'administrator' | 'manager' | 'user' | null) => {
    const authorization: Record<string, string> = profile === null ? {} : { authorization: `Bearer ${profile}` }
    return {
      get: (url: string, headers: Record<string, string> = {}) =>
        request({ method: 'GET', url, headers: { ...authorization, ...headers } }),
      post: (url: string, payload: string | Buffer | object, headers: Record<string, string> = {}) =>
        request({
          method: 'POST',
          url,
          headers: { 'content-type': 'application/json', ...authorization, ...headers },
          payload: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
        }),
    }
  }
  return {
    app,
    db,
    clock,
    capabilities,
    request,
    as,
    close: async () => {
      await app.fastify.close()
      await close()
      assertContractKept()
    },
  }
}
