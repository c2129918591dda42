/** Rotations of the command key and signed revocations, which agents verify. */
import { type Static, Type } from 'typebox'

/** A rotation of the command key. The old key signs `commandKeyRotationText(...)`. */
export const CommandKeyRotation = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'Number of rotations up to this key. The original key has number 0.',
  }),
  oldKey: Type.String({
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    maxLength: 512,
    description: 'Base64 SPKI DER of the Ed25519 key that was replaced.',
  }),
  newKey: Type.String({
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    maxLength: 512,
    description: 'Base64 SPKI DER of the Ed25519 key that replaced it.',
  }),
  createdAt: Type.String({ format: 'date-time' }),
  signature: Type.String({ maxLength: 256, description: 'Base64 Ed25519 signature by the old key.' }),
})
export type CommandKeyRotation = Static<typeof CommandKeyRotation>

/** A statement that the server deleted an agent, signed with the command key. The agent may then free its host. */
export const AgentRevocation = Type.Object({
  agentId: Type.String({ maxLength: 128 }),
  publicKeyHash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: "SHA-256 (hex) of the SPKI DER of the agent's key. Each enrolment of a host has its own key.",
  }),
  counter: Type.Integer({
    minimum: 0,
    description:
      'Higher than the counter of every command sent to this agent. A later command, for example after a backup is restored, makes the revocation invalid.',
  }),
  revokedAt: Type.String({ format: 'date-time' }),
  signature: Type.String({ maxLength: 256, description: 'Base64 Ed25519 signature by the command key.' }),
})
export type AgentRevocation = Static<typeof AgentRevocation>
