import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** What a token is for, as its first letters: API token, refresh token, password link, download ticket, worker token, worker key, second step of a sign-in. */
export type TokenKind = 'pct' | 'pr' | 'pl' | 'pt' | 'pwt' | 'pwk' | 'pmf'

export interface OpaqueToken {
  /** What the client gets, once. */
  text: string
  /** What the database keeps. */
  hash: Buffer
}

export type OpaqueTokens = ReturnType<typeof createOpaqueTokens>

/**
 * Random tokens of 256 bits, kept as SHA-256. Ten characters of a keyed checksum at the end let made-up ones be refused
 * without asking the database: a flood of bad tokens costs one HMAC each.
 */
export const createOpaqueTokens = (key: Buffer) => {
  const checksum = (body: string): string => createHmac('sha256', key).update(body).digest('base64url').slice(0, 10)
  return {
    make: (prefix: TokenKind): OpaqueToken => {
      const body = `${prefix}_${randomBytes(32).toString('base64url')}`
      const text = body + checksum(body)
      return { text, hash: sha256(text) }
    },
    /** The hash to look a token up by; null when it cannot be one of ours. */
    hashOf: (prefix: TokenKind, text: string): Buffer | null => {
      if (!text.startsWith(`${prefix}_`) || text.length !== prefix.length + 54) return null
      const body = text.slice(0, -10)
      const given = Buffer.from(text.slice(-10))
      const right = Buffer.from(checksum(body))
      return given.length === right.length && timingSafeEqual(given, right) ? sha256(text) : null
    },
  }
}
