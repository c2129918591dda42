/** What a host is told: the rules that are in force on it, and commands, both signed. */
import { type Static, Type } from 'typebox'
import { agentLimits, boundedText } from './agent-limits.ts'
import type { ReleaseKeyRotation } from './release-keys.ts'

/** Kinds of devices that rules name; icon names of the wire contract. */
export const policyKinds = [
  'Hub',
  'Keyboard',
  'Mass Storage',
  'Network',
  'Mouse',
  'Video',
  'Audio',
  'Printer',
  'Smart Card',
  'Phone',
  'Imaging',
  'Wireless',
  'Communication',
  'HID',
  'Biometric',
  'Billboard',
  'Firmware Update',
  'Unknown',
] as const

/** A rule as a host gets it: host and tags are resolved to a level. Members that are absent ask nothing of a device. */
export const PolicyRule = Type.Object(
  {
    id: Type.String({ maxLength: 64 }),
    effect: Type.Enum(['allow', 'deny']),
    level: Type.Enum(['grant', 'host', 'tag', 'global'], {
      description: 'Rank of an allow: temporary grant, then host, tag, all. A deny outranks them whatever its level.',
    }),
    vid: Type.Optional(Type.String({ pattern: '^[0-9A-F]{4}$' })),
    pid: Type.Optional(Type.String({ pattern: '^[0-9A-F]{4}$' })),
    serial: Type.Optional(Type.String({ maxLength: 255, description: 'Equals the cleaned serial number.' })),
    kinds: Type.Optional(
      Type.Array(Type.Enum(policyKinds), {
        minItems: 1,
        maxItems: policyKinds.length,
        description: 'A deny matches a device with any of them; an allow matches one that is nothing else.',
      }),
    ),
    fingerprint: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{32}$', description: 'Exact fingerprint, or the one without revision.' }),
    ),
    expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    overrideAttackTool: Type.Optional(
      Type.Boolean({ description: 'Allows the device although it is known as an attack tool.' }),
    ),
    reason: Type.Optional(boundedText(200, 'Told to the user of the host when the rule blocks.')),
  },
  { additionalProperties: false },
)
export type PolicyRule = Static<typeof PolicyRule>

/** POST policy: asks for the policy of this agent. */
export const PolicyRequest = Type.Object(
  {
    nonce: Type.String({
      pattern: '^[A-Za-z0-9_-]{22,64}$',
      description: 'Random; comes back in the signed payload, so that an old policy cannot be played again.',
    }),
    understands: Type.Optional(
      Type.Array(Type.String({ maxLength: 32 }), {
        maxItems: 16,
        description: 'Optional payload members that the agent supports (`options`). The server omits all others.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type PolicyRequest = Static<typeof PolicyRequest>

/** Enforcement options of a host, in addition to its rules. When absent, the defaults apply. */
export const PolicyOptions = Type.Object(
  {
    keepsLastKeyboard: Type.Boolean({
      description:
        'True (default): the implicit block spares the last keyboard. False: it is blocked like any other device.',
    }),
    failsClosed: Type.Boolean({
      description:
        'True: while the agent does not run, new devices stay blocked until root releases the host. False (default): the kernel defaults are restored.',
    }),
  },
  { additionalProperties: false },
)
export type PolicyOptions = Static<typeof PolicyOptions>

/** JSON text of `payload`, signed by the command key. The agent keeps text and signature, and verifies both at each start. */
export const PolicyPayload = Type.Object(
  {
    kind: Type.Literal('policy'),
    agentId: Type.String({ maxLength: 128 }),
    nonce: PolicyRequest.properties.nonce,
    version: Type.Integer({ minimum: 0, description: 'Version of the rules; grows with every change.' }),
    issuedAt: Type.String({ format: 'date-time' }),
    rules: Type.Array(PolicyRule, { maxItems: agentLimits.rules }),
    knowledgeHash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the text that GET knowledge/{hash} answers: attack tools and genuine descriptors.',
    }),
    contact: boundedText(200, 'Whom the user of a host should ask; empty when not configured.'),
    options: Type.Optional(PolicyOptions),
  },
  { additionalProperties: false },
)
export type PolicyPayload = Static<typeof PolicyPayload>

/** Answer to POST policy. */
export const SignedText = Type.Object({
  payload: Type.String({ description: 'JSON text; verified as the bytes received.' }),
  signature: Type.String({ description: 'Base64 Ed25519 signature over the payload by the command key.' }),
})
export type SignedText = Static<typeof SignedText>

/** What each command says beyond `{id, agentId, kind, counter, expiresAt}`. */
export interface AgentCommandBodies {
  /** Arms or frees the host. Arming fetches the policy first; it is confirmed once the kernel enforces it. */
  configure: { mode: 'Free' | 'Armed'; applyToPresent: boolean }
  /** Fetches the policy and applies it: a decision about a device of this host changed. */
  policy: { version: number }
  /** Collects the agent's logs and uploads them to `debugLogs/{id}`. */
  'collect-logs': Record<never, never>
  /**
   * Releases held ports on an operator's decision. With `accept`, the held device may use the drivers named in its
   * evidence on this host from now on. Releasing a port that is no longer held succeeds.
   */
  'release-ports': { releases: { id: string; accept: boolean }[] }
  /** Replaces the agent by another build; confirmed by the new one after its first healthy check-in. */
  update: {
    version: string
    /** SHA-256 (hex) and size of the executable at `packages/{sha256}`. */
    sha256: string
    size: number
    /** As Node names it (`x64`, `arm64`). */
    architecture: string
    /** Base64 SPKI DER of the release key, and its Ed25519 signature over `packageProofText(...)`. */
    releaseKey: string
    releaseSignature: string
    /** Rotations of the release key, oldest first. A host that missed some follows them from the key it trusts. */
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

/** The payload of a command, as the agent parses it after the signature was verified. */
export type AgentCommand = {
  [K in AgentCommandKind]: {
    id: string
    agentId: string
    kind: K
    /** Grows with every command to this agent; one that is not above the last is a replay. */
    counter: number
    /** RFC 3339; later it is answered as failed. */
    expiresAt: string
  } & AgentCommandBodies[K]
}[AgentCommandKind]

/** Text that the release key signs for a build. */
export const packageProofText = (build: {
  version: string
  architecture: string
  sha256: string
  size: number
}): string => `portcullis-agent-package-v1\n${build.version}\n${build.architecture}\n${build.sha256}\n${build.size}`
