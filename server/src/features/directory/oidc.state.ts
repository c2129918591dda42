import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { OidcConfig } from './oidc.config.ts'
import type { SigninSecrets } from './oidc.provider.ts'

/** How long somebody may take at the provider, in milliseconds. */
export const signinMs = 10 * 60_000

/** A sign-in under way: what the browser keeps, and what follows from it. */
export interface PendingSignin {
  cookie: string
  secrets: SigninSecrets
}

/**
 * Sign-ins under way are kept by browsers, not by the server: state, nonce and verifier follow from a random number in a
 * signed cookie and from the provider it is for. An answer for another browser or provider fits none.
 */
export const createSigninStates = (key: Buffer) => {
  const mac = (...parts: readonly string[]): Buffer =>
    createHmac('sha256', key)
      .update(parts.map((part) => `${part.length}:${part}`).join(''))
      .digest()
  const secretsOf = (random: string, { issuer, clientId }: OidcConfig): SigninSecrets => {
    const derive = (what: string): string => mac(what, random, issuer, clientId).toString('base64url')
    return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
  }
  const signature = (body: string): string => mac('cookie', body).toString('base64url')
  const same = (a: string, b: string): boolean => {
    const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest())
    return timingSafeEqual(left as Buffer, right as Buffer)
  }
  return {
    begin: (config: OidcConfig, now: number): PendingSignin => {
      const random = randomBytes(32).toString('base64url')
      const body = `${random}.${(now + signinMs).toString(36)}`
      return { cookie: `${body}.${signature(body)}`, secrets: secretsOf(random, config) }
    },
    /** The secrets of the sign-in that a cookie and the state of an answer belong to; null when they do not fit. */
    resume: (config: OidcConfig, cookie: string, state: string, now: number): SigninSecrets | null => {
      const [random = '', ends = '', signed = '', ...more] = cookie.split('.')
      if (more.length > 0 || !same(signed, signature(`${random}.${ends}`))) return null
      const secrets = secretsOf(random, config)
      return same(state, secrets.state) && Number.parseInt(ends, 36) > now ? secrets : null
    },
  }
}
