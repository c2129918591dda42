/**
 * Defines version 1 of the agent protocol: the requests of agents to `/agent/v1/...` and the responses.
 *
 * Shapes are closed and bounded, because a USB device chooses many of these strings. A server supports the protocol
 * versions N to N-2; the version is the number in the path. Every response other than 200 is problem details with a code
 * from `errors.ts`; `agentProblemActions` lists the reactions of agents.
 */

import { type Static, Type } from 'typebox'
import { agentLimits } from './agent-limits.ts'
import { DeviceChange, DeviceReport, EnforcementState, HostFacts } from './agent-reports.ts'
import { CommandKeyRotation } from './command-keys.ts'
import { boundedText } from './shapes.ts'

export * from './agent-limits.ts'
export * from './agent-paths.ts'
export * from './agent-reports.ts'
export * from './agent-signed-texts.ts'
export * from './command-keys.ts'
export * from './policy-and-commands.ts'
export * from './policy-kinds.ts'
export * from './release-keys.ts'
export * from './revert.ts'
export * from './shapes.ts'
export * from './windows-steps.ts'

/** Body of `enrol`, which exchanges an enrolment token and a public key for an agent ID. */
export const EnrolRequest = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 512, description: 'Enrolment token, as the server returned it.' }),
    keyAlgorithm: Type.Enum(['Ed25519', 'ES256']),
    publicKey: Type.String({
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      maxLength: 512,
      description: 'Base64 of the SPKI DER of the public key. The private key never leaves the host.',
    }),
    machineIdHash: Type.Union([Type.Null(), Type.String({ pattern: '^[0-9a-f]{64}$' })], {
      description:
        'SHA-256 (hex) of `portcullis:` + /etc/machine-id. Null for a placeholder, or if the machine ID changes at each start.',
    }),
    smbiosHash: Type.Union([Type.Null(), Type.String({ pattern: '^[0-9a-f]{64}$' })], {
      description:
        'SHA-256 (hex) of `portcullis:` + SMBIOS system UUID, or the serial number of a board without SMBIOS. Null for a placeholder.',
    }),
    facts: HostFacts,
    proof: Type.String({
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      maxLength: 256,
      description:
        'Base64 signature over `enrolProofText(...)` by the private key. It proves that the agent holds the key.',
    }),
  },
  { additionalProperties: false },
)
export type EnrolRequest = Static<typeof EnrolRequest>

export const EnrolResponse = Type.Object({
  agentId: Type.String({ description: 'ID of the agent, at most 128 characters.' }),
  serverTime: Type.String({ format: 'date-time' }),
  /** True if the host was known and disconnected, and got its previous agent ID again. */
  tookOver: Type.Boolean(),
  commandKey: Type.String({
    description:
      'Base64 SPKI DER of the Ed25519 key that signs commands. The agent pins it and replaces it only with a key that this key signed.',
  }),
})
export type EnrolResponse = Static<typeof EnrolResponse>

/** Body of `session`, which exchanges a proof of the agent key for a short-lived token. */
export const SessionRequest = Type.Object(
  {
    agentId: Type.String({ minLength: 1, maxLength: 128 }),
    bootId: Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'Random UUID of this start of the agent process. `seq` counts within it.',
    }),
    timestamp: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Host clock, in milliseconds since 1970. If it differs from the clock of the server by more than five minutes, agents with `boundedProofPrefix` sign a nonce of the server instead.',
    }),
    nonce: Type.String({
      pattern: '^[A-Za-z0-9_-]{22,64}$',
      description:
        'Random value, or the nonce of a refusal with `session_proof_old`. Begins with `boundedProofPrefix` if the agent understands that refusal. The server refuses a repeated nonce for 10 minutes.',
    }),
    signature: Type.String({
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      maxLength: 256,
      description: 'Base64 signature over `sessionProofText(...)`.',
    }),
  },
  { additionalProperties: false },
)
export type SessionRequest = Static<typeof SessionRequest>

export const SessionResponse = Type.Object({
  token: Type.String({ description: 'Bearer token for the check-ins and the wake socket of this boot.' }),
  expiresInSeconds: Type.Integer({
    description: 'Lifetime of the token in seconds. The agent requests a new token after 80 % of it.',
  }),
  serverTime: Type.String({ format: 'date-time' }),
  nextSeq: Type.Integer({ description: 'Next `seq` that the server expects for this boot (1 for a new boot).' }),
  commandKeys: Type.Optional(
    Type.Array(CommandKeyRotation, {
      description:
        'Command key rotations after the key in the `portcullis-command-key` header, oldest first. Absent if that key is the newest or the header is missing.',
    }),
  ),
})
export type SessionResponse = Static<typeof SessionResponse>

/** Body of `check-in`. If nothing changed, only the first four fields are needed. The server orders and deduplicates by (agent, bootId, seq). */
export const CheckInRequest = Type.Object(
  {
    bootId: SessionRequest.properties.bootId,
    seq: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'Sequence number within a boot, starting at 1. A retry repeats the number and the body.',
    }),
    inventoryHash: Type.String({
      pattern: '^[0-9a-f]{32}$',
      description: '`inventoryHash()` of domain/ over all attached devices, after `changes`.',
    }),
    clock: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Host clock when the check-in was formed, in ms since 1970.',
    }),
    factsHash: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{32}$', description: '`factsHash()` of domain/ over the current facts.' }),
    ),
    facts: Type.Optional(HostFacts),
    changes: Type.Optional(Type.Array(DeviceChange, { maxItems: agentLimits.changes })),
    inventory: Type.Optional(
      Type.Array(DeviceReport, {
        maxItems: agentLimits.devices,
        description:
          'All attached devices except root hubs. Sent in the first check-in of a boot and when the server requests it.',
      }),
    ),
    acks: Type.Optional(
      Type.Array(
        Type.Object(
          {
            commandId: Type.String({ maxLength: 64 }),
            outcome: Type.Enum(['confirmed', 'failed']),
            message: boundedText(500, 'Why the command failed, for display. Empty if it was confirmed.'),
          },
          { additionalProperties: false },
        ),
        { maxItems: 64 },
      ),
    ),
    enforcement: Type.Optional(EnforcementState),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            at: Type.Integer({ minimum: 0 }),
            code: boundedText(64, 'Short, stable code.'),
            message: boundedText(500, 'Description of the error.'),
          },
          { additionalProperties: false },
        ),
        { maxItems: agentLimits.errors, description: 'Errors of the agent itself since the last check-in.' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type CheckInRequest = Static<typeof CheckInRequest>

/** Response to a check-in, sent after COMMIT. Fields without information are omitted: the usual response is `{"nextCheckInSeconds":60}`. */
export const CheckInResponse = Type.Object({
  nextCheckInSeconds: Type.Number({ description: 'Seconds until the next check-in. The agent adds 10 % jitter.' }),
  needInventory: Type.Optional(
    Type.Boolean({ description: 'True: the hash differs from the stored inventory. Send `inventory` at once.' }),
  ),
  needFacts: Type.Optional(Type.Boolean({ description: 'True: the stored facts differ. Send `facts` at once.' })),
  needPolicy: Type.Optional(
    Type.Boolean({
      description: 'True: the rules of this host changed. Fetch the policy at once. Only armed hosts get this flag.',
    }),
  ),
  commands: Type.Optional(
    Type.Array(
      Type.Object({
        payload: Type.String({
          description:
            'JSON text of the command: `{id, agentId, kind, counter, expiresAt, ...}`. The agent verifies the received bytes.',
        }),
        signature: Type.String({ description: 'Base64 Ed25519 signature over the payload by the command key.' }),
      }),
    ),
  ),
})
export type CheckInResponse = Static<typeof CheckInResponse>
