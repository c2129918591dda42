import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Purpose of a token, as its prefix: API token, refresh token, password link, download ticket, worker token, worker
 * key, second step of a sign-in.
 */
export type TokenKind = 'pct' | 'pr' | 'pl' | 'pt' | 'pwt' | 'pwk' | 'pmf'

export interface OpaqueToken {
  /** Text that the client receives once. */
  text: string
  /** Hash that the database stores. */
  hash: Buffer
}

export type OpaqueTokens = ReturnType<typeof createOpaqueTokens>

/**
 * Creates random tokens of 256 bits, stored as SHA-256. Ten characters of a keyed checksum at the end reject made-up
 * tokens without a database query: a flood of bad tokens costs one HMAC each.
 */
export const createOpaqueTokens = (key: Buffer) => {
  const checksum = (body: string): string => createHmac('sha256', key).update(body).digest('base64url').slice(0, 10)
  return {
    make: (prefix: TokenKind): OpaqueToken => {
      const body = `${prefix}_${randomBytes(32).toString('base64url')}`
      const text = body + checksum(body)
      return { text, hash: sha256(text) }
    },
    /** Returns the hash for looking up a token, or null if this server cannot have issued it. */
    hashOf: (prefix: TokenKind, text: string): Buffer | null => {
      if (!text.startsWith(`${prefix}_`) || text.length !== prefix.length + 54) return null
      const body = text.slice(0, -10)
      const given = Buffer.from(text.slice(-10))
      const right = Buffer.from(checksum(body))
      return given.length === right.length && timingSafeEqual(given, right) ? sha256(text) : null
    },
  }
}
