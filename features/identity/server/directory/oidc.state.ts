import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { OidcConfig } from './oidc.config.ts'
import type { SigninSecrets } from './oidc.provider.ts'

/** Time limit for a person at the provider in milliseconds. */
export const signinMs = 10 * 60_000

/** The session whose owner confirms their identity. */
export interface ConfirmedSession {
  accountId: string
  sessionId: string
}

/** A started sign-in: the browser's cookie, and the secrets derived from it. */
export interface PendingSignin {
  cookie: string
  secrets: SigninSecrets
}

/**
 * Browsers keep started sign-ins, not the server. State, nonce and verifier are derived from the provider and from a
 * random number in a signed cookie. A response for another browser or provider matches none.
 */
export const createSigninStates = (key: Buffer) => {
  const mac = (...parts: readonly string[]): Buffer =>
    createHmac('sha256', key)
      .update(parts.map((part) => `${part.length}:${part}`).join(''))
      .digest()
  function secretsOf(random: string, { issuer, clientId }: OidcConfig): SigninSecrets {
    const derive = (what: string): string => mac(what, random, issuer, clientId).toString('base64url')
    return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
  }
  const signature = (body: string): string => mac('cookie', body).toString('base64url')
  function same(a: string, b: string): boolean {
    const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest())
    return timingSafeEqual(left as Buffer, right as Buffer)
  }
  return {
    /** Starts a sign-in, or the confirmation of an identity for one session. */
    begin: (config: OidcConfig, now: number, confirms: ConfirmedSession | null = null): PendingSignin => {
      const random = randomBytes(32).toString('base64url')
      const ends = (now + signinMs).toString(36)
      const body = [random, ends, ...(confirms === null ? [] : [confirms.accountId, confirms.sessionId])].join('.')
      return { cookie: `${body}.${signature(body)}`, secrets: secretsOf(random, config) }
    },
    /** Returns whether an unverified cookie belongs to a confirmation. Decides only which page shows the failure. */
    isConfirmation: (cookie: string): boolean => cookie.split('.').length === 5,
    /**
     * Returns the secrets of the sign-in or confirmation of a cookie. Null if the state of the response does not match.
     */
    resume: (
      config: OidcConfig,
      cookie: string,
      state: string,
      now: number,
    ): { secrets: SigninSecrets; confirms: ConfirmedSession | null } | null => {
      const parts = cookie.split('.')
      const signed = parts.pop() ?? ''
      const [random = '', ends = '', accountId, sessionId] = parts
      if ((parts.length !== 2 && parts.length !== 4) || !same(signed, signature(parts.join('.')))) return null
      const secrets = secretsOf(random, config)
      if (!same(state, secrets.state) || !(Number.parseInt(ends, 36) > now)) return null
      const confirms = accountId === undefined || sessionId === undefined ? null : { accountId, sessionId }
      return { secrets, confirms }
    },
  }
}
