/** The signed policy and the signed commands that the server sends to hosts. */

import { type Static, Type } from 'typebox'
import { agentLimits } from './agent-limits.ts'
import { policyKinds } from './policy-kinds.ts'
import type { ReleaseKeyRotation } from './release-keys.ts'
import { boundedText } from './shapes.ts'

/** A rule in the policy of a host. The server resolves hosts and tags to a level. Absent fields match every device. */
export const PolicyRule = Type.Object(
  {
    id: Type.String({ maxLength: 64 }),
    effect: Type.Enum(['allow', 'deny']),
    level: Type.Enum(['grant', 'host', 'tag', 'global'], {
      description: 'Rank of an allow rule: grant, then host, tag, all hosts. Deny rules always win.',
    }),
    vid: Type.Optional(Type.String({ pattern: '^[0-9A-F]{4}$' })),
    pid: Type.Optional(Type.String({ pattern: '^[0-9A-F]{4}$' })),
    serial: Type.Optional(
      Type.String({
        maxLength: agentLimits.escapedString,
        description: 'Escaped serial number. The comparison ignores ASCII case, and `_` equals a space.',
      }),
    ),
    hasCleanedSerial: Type.Optional(
      Type.Boolean({
        description:
          'True: an earlier release wrote the rule and removed control characters from `serial`. The rule matches every serial number that becomes this text when they are removed. Only for agents that support `identity`.',
      }),
    ),
    kinds: Type.Optional(
      Type.Array(Type.Enum(policyKinds), {
        minItems: 1,
        maxItems: policyKinds.length,
        description:
          'A deny rule matches devices that have any of these kinds. An allow rule matches devices that have only these kinds.',
      }),
    ),
    fingerprint: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description: 'Exact fingerprint, or the fingerprint without the revision.',
      }),
    ),
    ruleFingerprint: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description:
          'Beside `fingerprint`: matches the same device at any port and speed. Only for agents that support `identity`.',
      }),
    ),
    expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    overrideAttackTool: Type.Optional(
      Type.Boolean({ description: 'True: allow the device although it is a known attack tool.' }),
    ),
    reason: Type.Optional(boundedText(200, 'Reason. The user of the host sees it when the rule blocks a device.')),
  },
  { additionalProperties: false },
)
export type PolicyRule = Static<typeof PolicyRule>

/** Body of `policy`, which returns the policy of the agent. */
export const PolicyRequest = Type.Object(
  {
    nonce: Type.String({
      pattern: '^[A-Za-z0-9_-]{22,64}$',
      description: 'Random value. The signed payload repeats it, which prevents the replay of an old policy.',
    }),
    understands: Type.Optional(
      Type.Array(Type.String({ maxLength: 32 }), {
        maxItems: 16,
        description:
          'Optional payload fields that the agent supports (`options`, `accepted`). The server omits all others.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type PolicyRequest = Static<typeof PolicyRequest>

/** Enforcement options of a host, in addition to its rules. Absent options have their defaults. */
export const PolicyOptions = Type.Object(
  {
    keepsLastKeyboard: Type.Boolean({
      description:
        'True (default): the implicit block does not apply to the last keyboard. False: the last keyboard is blocked like any other device.',
    }),
    failsClosed: Type.Boolean({
      description:
        'True: while the agent is not running, new devices stay blocked until root releases the host. False (default): the kernel defaults are restored.',
    }),
  },
  { additionalProperties: false },
)
export type PolicyOptions = Static<typeof PolicyOptions>

/** The policy of a host as JSON text, signed with the command key. The agent stores the text and signature and verifies them at each start. */
export const PolicyPayload = Type.Object(
  {
    kind: Type.Literal('policy'),
    agentId: Type.String({ maxLength: 128 }),
    nonce: PolicyRequest.properties.nonce,
    version: Type.Integer({ minimum: 0, description: 'Version of the rules. Increases with every change.' }),
    issuedAt: Type.String({ format: 'date-time' }),
    rules: Type.Array(PolicyRule, { maxItems: agentLimits.rules }),
    knowledgeHash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 (hex) of the text that GET knowledge/{hash} returns: attack tools and genuine descriptors.',
    }),
    contact: boundedText(200, 'Contact for the users of the host. Empty if not configured.'),
    options: Type.Optional(PolicyOptions),
    accepted: Type.Optional(
      Type.Array(Type.String({ maxLength: 128 }), {
        maxItems: agentLimits.accepted,
        description: 'Rule fingerprints whose suspected findings a person accepted. They do not count as attack tools.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type PolicyPayload = Static<typeof PolicyPayload>

/** Response to `policy`. */
export const SignedText = Type.Object({
  payload: Type.String({ description: 'JSON text. The agent verifies the received bytes.' }),
  signature: Type.String({ description: 'Base64 Ed25519 signature over the payload by the command key.' }),
})
export type SignedText = Static<typeof SignedText>

/** Fields of each command in addition to `{id, agentId, kind, counter, expiresAt}`. */
export interface AgentCommandBodies {
  /**
   * Arms or frees the host. To arm, the agent fetches the policy first. It confirms the command when the kernel enforces it.
   * With `revertMinutes`, a host that is newly armed becomes Free again unless the server acknowledges a check-in within that
   * time. 0 or absent: it stays armed. Agents up to 0.2 always revert after 10 minutes.
   */
  configure: { mode: 'Free' | 'Armed'; applyToPresent: boolean; revertMinutes?: number }
  /** Fetches and applies the policy, because a decision about a device of this host changed. */
  policy: { version: number }
  /** Collects the agent's logs and uploads them to `debugLogs/{id}`. */
  'collect-logs': Record<never, never>
  /**
   * Releases held ports that an operator selected. With `accept`, the held device may use the drivers named in its
   * evidence on this host from now on. Releasing a port that is no longer held succeeds.
   */
  'release-ports': { releases: { id: string; accept: boolean }[] }
  /** Replaces the agent with another build. The new build confirms the command after its first successful check-in. */
  update: {
    version: string
    /** SHA-256 (hex) and size of the executable or script at `packages/{sha256}`. */
    sha256: string
    size: number
    /** `x64` or `arm64` on Linux, or `windows-x64`. The agent refuses every architecture except its own. */
    architecture: string
    /** Base64 SPKI DER of the release key, and its Ed25519 signature over `packageProofText(...)`. */
    releaseKey: string
    releaseSignature: string
    /** Rotations of the release key, oldest first. A host follows them from the key that it trusts. */
    rotations?: readonly ReleaseKeyRotation[]
  }
}
export type AgentCommandKind = keyof AgentCommandBodies
export const agentCommandKinds = [
  'configure',
  'policy',
  'collect-logs',
  'release-ports',
  'update',
] as const satisfies AgentCommandKind[]

/** The payload of a command. The agent parses it after it has verified the signature. */
export type AgentCommand = {
  [K in AgentCommandKind]: {
    id: string
    agentId: string
    kind: K
    /** Increases with every command to this agent. The agent refuses a counter that is not above the last one as a replay. */
    counter: number
    /** Expiry (RFC 3339). The agent reports a later command as failed. */
    expiresAt: string
  } & AgentCommandBodies[K]
}[AgentCommandKind]
