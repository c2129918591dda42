/** How hosts follow the command key of their server when it changes, and how they know that a revocation is genuine. */
import { type Static, Type } from 'typebox'

/** Header of `session` by which an agent that can follow rotations names the key that it holds: SHA-256 (hex) of the SPKI DER. */
export const commandKeyHeader = 'portcullis-command-key'

/** One rotation: the old key signs `commandKeyRotationText(...)`. */
export const CommandKeyRotation = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Counts rotations; the key of the first start is number 0.' }),
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

/** Text that the old command key signs for its successor. */
export const commandKeyRotationText = (r: Omit<CommandKeyRotation, 'signature'>): string =>
  `portcullis-command-key-v1\n${r.number}\n${r.oldKey}\n${r.newKey}\n${r.createdAt}`

/** Why a host may be freed: its server removed it. Signed by the command key when the agent is deleted. */
export const AgentRevocation = Type.Object({
  agentId: Type.String({ maxLength: 128 }),
  publicKeyHash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256 (hex) of the SPKI DER of the key of the agent: another enrolment of the same host has another.',
  }),
  counter: Type.Integer({
    minimum: 0,
    description: 'Above the counters of all commands to this agent, so that a restored backup outlives an old one.',
  }),
  revokedAt: Type.String({ format: 'date-time' }),
  signature: Type.String({ maxLength: 256, description: 'Base64 Ed25519 signature by the command key.' }),
})
export type AgentRevocation = Static<typeof AgentRevocation>

/** Text that the command key signs to revoke an agent. */
export const agentRevocationText = (r: Omit<AgentRevocation, 'signature'>): string =>
  `portcullis-agent-revocation-v1\n${r.agentId}\n${r.publicKeyHash}\n${r.counter}\n${r.revokedAt}`
