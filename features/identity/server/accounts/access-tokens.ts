import type { Clock } from '@portcullis/platform/server/clock.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { jwtVerify, SignJWT } from 'jose'
import { accessTokenSeconds } from '#features/contract.ts'

/** Claims of an access token. Everything else is looked up on each call. */
export interface AccessClaims {
  accountId: string
  sessionId: string
  /** token_version of the account when the token was signed. */
  version: number
}

export type AccessTokens = Awaited<ReturnType<typeof createAccessTokens>>

const issuer = 'portcullis'
const audience = 'portcullis-console'
const type = 'at+jwt'

/** Creates access tokens: JWT, HS256 only, with a key derived from the key file. */
export const createAccessTokens = async ({ key, clock }: { key: Secret<Buffer>; clock: Clock }) => {
  // Imported once: verifying with raw bytes costs nearly twice as much.
  const hmac = await crypto.subtle.importKey(
    'raw',
    new Uint8Array(key.reveal()),
    { name: 'HMAC', hash: 'SHA-256' },
    // Stryker disable next-line BooleanLiteral: Nothing exports the key.
    false,
    ['sign', 'verify'],
  )
  return {
    /** Signs a token that expires after 15 minutes or with its session. Also returns the expiry in milliseconds. */
    sign: async (claims: AccessClaims, sessionEnds: number): Promise<{ token: string; expiresAt: number }> => {
      const now = Math.floor(clock.now() / 1000)
      const exp = Math.min(now + accessTokenSeconds, Math.floor(sessionEnds / 1000))
      const token = await new SignJWT({ sid: claims.sessionId, ver: claims.version })
        .setProtectedHeader({ alg: 'HS256', typ: type })
        .setSubject(claims.accountId)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(exp)
        .sign(hmac)
      return { token, expiresAt: exp * 1000 }
    },

    /** Returns the claims of a valid access token. Returns null for anything else. */
    read: async (token: string): Promise<AccessClaims | null> => {
      // Cheap check first: the library throws a costly error for text that is not a JWT.
      // Stryker disable next-line ConditionalExpression,Regex: It only saves this error.
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null
      try {
        const { payload, protectedHeader } = await jwtVerify(token, hmac, {
          algorithms: ['HS256'],
          issuer,
          audience,
          typ: type,
          currentDate: new Date(clock.now()),
          requiredClaims: ['sub', 'sid', 'ver', 'iat', 'exp'],
        })
        const { sub, sid, ver, iat = 0, exp = 0, aud } = payload
        // Our tokens have exactly these two header members and one audience.
        if (Object.keys(protectedHeader).length !== 2 || Array.isArray(aud)) return null
        if (exp - iat > accessTokenSeconds || iat * 1000 > clock.now() + 60_000) return null
        if (typeof sub !== 'string' || !isId(sub) || typeof sid !== 'string' || !isId(sid)) return null
        return typeof ver === 'number' ? { accountId: sub, sessionId: sid, version: ver } : null
      } catch {
        return null
      }
    },
  }
}
