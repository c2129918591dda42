import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@portcullis/platform/server/secret.ts'

/** The content of an agent's session token. */
export interface AgentSession {
  agentId: string
  bootId: string
  /** Seconds since 1970. */
  expiresAt: number
}

const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')
const uuidText = (bytes: Buffer): string => {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Number of verified tokens in the cache: 200,000 of about 300 bytes are 60 MB. Each check-in saves an HMAC (4 µs). */
const cacheSize = 200_000

/**
 * Creates and verifies session tokens of agents: `pas_` and 36 bytes (agent, boot, expiry) with a 16-byte MAC. Tokens
 * are short-lived and stateless. The row that each check-in updates shows whether the agent and the boot are still
 * current.
 */
export const createSessionTokens = (key: Secret<Buffer>) => {
  const verified = new Map<string, AgentSession>()
  const mac = (payload: Buffer): Buffer => createHmac('sha256', key.reveal()).update(payload).digest().subarray(0, 16)
  return {
    issue: (session: AgentSession): string => {
      const payload = Buffer.concat([uuidBytes(session.agentId), uuidBytes(session.bootId), Buffer.alloc(4)])
      payload.writeUInt32BE(session.expiresAt, 32)
      return `pas_${Buffer.concat([payload, mac(payload)]).toString('base64url')}`
    },
    /** Returns the session of a token; null: this server did not issue it, or it expired. */
    verify: (token: string, nowSeconds: number): AgentSession | null => {
      let session = verified.get(token)
      if (session === undefined) {
        if (token.length !== 74 || !token.startsWith('pas_')) return null
        const bytes = Buffer.from(token.slice(4), 'base64url')
        if (bytes.length !== 52 || `pas_${bytes.toString('base64url')}` !== token) return null
        const payload = bytes.subarray(0, 36)
        if (!timingSafeEqual(mac(payload), bytes.subarray(36))) return null
        session = {
          agentId: uuidText(payload.subarray(0, 16)),
          bootId: uuidText(payload.subarray(16, 32)),
          expiresAt: payload.readUInt32BE(32),
        }
        if (verified.size >= cacheSize) verified.clear()
        verified.set(token, session)
      }
      return session.expiresAt > nowSeconds ? session : null
    },
  }
}

export type SessionTokens = ReturnType<typeof createSessionTokens>
