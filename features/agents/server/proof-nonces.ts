import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { boundedProofPrefix } from '#features/contract.ts'

const timeLength = 9
const macLength = 22
const randomBytesOfNonce = 12

/**
 * Creates nonces that agents with a wrong clock sign. They contain the time and a MAC for the agent, so that every
 * replica accepts them without storing them. Agents never sign a time that someone else chose: such proofs could be
 * kept for that time.
 */
export const createProofNonces = (key: Secret<Buffer>) => {
  const macOf = (agentId: string, start: string): string =>
    createHmac('sha256', key.reveal()).update(`${agentId}\n${start}`).digest('base64url').slice(0, macLength)

  return {
    make: (agentId: string, now: number): string => {
      const time = now.toString(36).padStart(timeLength, '0')
      const start = `${boundedProofPrefix}${time}${randomBytes(randomBytesOfNonce).toString('base64url')}`
      return `${start}${macOf(agentId, start)}`
    },
    /** Returns when this server made a nonce for the agent; null: it did not. */
    madeAt: (agentId: string, nonce: string): number | null => {
      const start = nonce.slice(0, -macLength)
      const [given, expected] = [nonce.slice(-macLength), macOf(agentId, start)].map((text) => Buffer.from(text))
      if (given?.length !== expected?.length || !timingSafeEqual(given as Buffer, expected as Buffer)) return null
      return Number.parseInt(start.slice(boundedProofPrefix.length, boundedProofPrefix.length + timeLength), 36)
    },
  }
}
