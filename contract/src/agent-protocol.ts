/**
 * The agent protocol, version 1: what a host agent says to `/agent/v1/...` and what it hears back.
 *
 * Shapes are closed and bounded, because a USB device chooses many of these strings. A server speaks the protocol
 * versions N to N-2; the version is the number in the path. Every answer other than 200 is problem details with a code
 * of `errors.ts`; `agentProblemActions` says what an agent does about it.
 */
import { type Static, Type } from 'typebox'
import { agentLimits, boundedText } from './agent-limits.ts'
import { DeviceChange, DeviceReport, EnforcementState, HostFacts } from './agent-reports.ts'
import { CommandKeyRotation } from './command-keys.ts'

export * from './agent-limits.ts'
export * from './agent-orders.ts'
export * from './agent-reports.ts'
export * from './command-keys.ts'
export * from './release-keys.ts'

/** The number in the path of this protocol version. */
export const AGENT_PROTOCOL_VERSION = 1

/** Paths of the protocol, all POST with a JSON body unless said otherwise. */
export const agentPaths = {
  enrol: '/agent/v1/enrol',
  session: '/agent/v1/session',
  checkIn: '/agent/v1/check-in',
  /** WebSocket; carries only the text `check-in`, from server to agent. */
  wake: '/agent/v1/wake',
  /** The policy of the asking agent, signed at once. */
  policy: '/agent/v1/policy',
  /** GET with the SHA-256 (hex) as last segment: the attack-tool knowledge a policy names, JSON of `AgentKnowledge`. */
  knowledge: '/agent/v1/knowledge',
  /** GET with the SHA-256 (hex) as last segment: a published agent build, as the bytes of its executable. */
  packages: '/agent/v1/packages',
  /** POST with the id of the command as last segment: gzip of the debug logs (`application/gzip`). */
  debugLogs: '/agent/v1/debug-logs',
} as const

/** POST enrol: exchanges an enrolment token and a public key for an agent id. */
export const EnrolRequest = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 512, description: 'Enrolment token as shown once by the server.' }),
    keyAlgorithm: Type.Enum(['Ed25519', 'ES256']),
    publicKey: Type.String({
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      maxLength: 512,
      description: 'Base64 of the SPKI DER of the public key. The private key never leaves the host.',
    }),
    machineIdHash: Type.Union([Type.Null(), Type.String({ pattern: '^[0-9a-f]{64}$' })], {
      description: 'SHA-256 (hex) of `portcullis:` + /etc/machine-id; tells a known host.',
    }),
    smbiosHash: Type.Union([Type.Null(), Type.String({ pattern: '^[0-9a-f]{64}$' })], {
      description: 'SHA-256 (hex) of `portcullis:` + SMBIOS system UUID.',
    }),
    facts: HostFacts,
    proof: Type.String({
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      maxLength: 256,
      description:
        'Base64 signature over `enrolProofText(...)` by the private key: nobody enrols a key he does not hold.',
    }),
  },
  { additionalProperties: false },
)
export type EnrolRequest = Static<typeof EnrolRequest>

export const EnrolResponse = Type.Object({
  agentId: Type.String({ description: 'The id of this agent: text, at most 128 characters.' }),
  serverTime: Type.String({ format: 'date-time' }),
  /** True when a known, silent host took its previous agent id over. */
  tookOver: Type.Boolean(),
  commandKey: Type.String({
    description:
      'Base64 SPKI DER of the Ed25519 key that signs commands. The agent pins it and replaces it only with a key that this key signed.',
  }),
})
export type EnrolResponse = Static<typeof EnrolResponse>

/** POST session: proof of possession of the agent's key, answered with a short-lived token. */
export const SessionRequest = Type.Object(
  {
    agentId: Type.String({ minLength: 1, maxLength: 128 }),
    bootId: Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'A random UUID made at each start of the agent process. `seq` counts within it.',
    }),
    timestamp: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Host clock, milliseconds since 1970. Only told; freshness comes from the nonce.',
    }),
    nonce: Type.String({
      pattern: '^[A-Za-z0-9_-]{22,64}$',
      description: 'Random; a nonce seen before is refused for 10 minutes.',
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
  token: Type.String({ description: 'Bearer token for check-ins and the wake socket of this boot.' }),
  expiresInSeconds: Type.Integer({
    description: 'Life of the token from now; the agent asks for a new one at 80 % of it.',
  }),
  serverTime: Type.String({ format: 'date-time' }),
  nextSeq: Type.Integer({ description: 'The next `seq` the server expects for this boot (1 for a new boot).' }),
  commandKeys: Type.Optional(
    Type.Array(CommandKeyRotation, {
      description:
        'Command key rotations that follow the key named in the `portcullis-command-key` header, oldest first. Absent when that key is the newest or the header is missing.',
    }),
  ),
})
export type SessionResponse = Static<typeof SessionResponse>

/** POST check-in. Only the first four members are needed when nothing changed. Ordered and de-duplicated by (agent, bootId, seq). */
export const CheckInRequest = Type.Object(
  {
    bootId: SessionRequest.properties.bootId,
    seq: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'Counts from 1 within a boot. A retry repeats the number and the body.',
    }),
    inventoryHash: Type.String({
      pattern: '^[0-9a-f]{32}$',
      description: '`inventoryHash()` of domain/ over all present devices, after `changes`.',
    }),
    clock: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Host clock, ms since 1970, when this was sent.',
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
          'All present devices (root hubs left out). Sent when the server asked, and in the first check-in of a boot.',
      }),
    ),
    acks: Type.Optional(
      Type.Array(
        Type.Object(
          {
            commandId: Type.String({ maxLength: 64 }),
            outcome: Type.Enum(['confirmed', 'failed']),
            message: boundedText(500, 'Why it failed, for people; empty when confirmed.'),
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
            code: boundedText(64, 'Short stable word.'),
            message: boundedText(500, 'What went wrong on the host.'),
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

/** Answer to a check-in, sent only after COMMIT. A member that says nothing is left out: the common answer is `{"nextCheckInSeconds":60}`. */
export const CheckInResponse = Type.Object({
  nextCheckInSeconds: Type.Number({ description: 'When to check in again, before jitter of 10 %.' }),
  needInventory: Type.Optional(
    Type.Boolean({ description: 'The hash differs from what the server holds: send `inventory` at once.' }),
  ),
  needFacts: Type.Optional(Type.Boolean({ description: 'The server holds other facts: send `facts` at once.' })),
  needPolicy: Type.Optional(
    Type.Boolean({
      description: 'The rules of this host changed: fetch the policy at once. Only an armed host is told.',
    }),
  ),
  commands: Type.Optional(
    Type.Array(
      Type.Object({
        payload: Type.String({
          description:
            'JSON text of the command: `{id, agentId, kind, counter, expiresAt, ...}`; verified as the bytes received.',
        }),
        signature: Type.String({ description: 'Base64 Ed25519 signature over the payload by the command key.' }),
      }),
    ),
  ),
})
export type CheckInResponse = Static<typeof CheckInResponse>

/** Text an agent signs to enrol. The server's CA hash binds it to this server. */
export const enrolProofText = (token: string, publicKey: string): string =>
  `portcullis-enrol-v1\n${token}\n${publicKey}`

/** Text an agent signs to open a session. */
export const sessionProofText = (r: Pick<SessionRequest, 'agentId' | 'bootId' | 'timestamp' | 'nonce'>): string =>
  `portcullis-session-v1\n${r.agentId}\n${r.bootId}\n${r.timestamp}\n${r.nonce}`

/** What an agent does when the server refuses it, by problem code; any other refusal is retried with back-off. */
export const agentProblemActions = {
  agent_session_expired: 'open a new session, then repeat',
  agent_session_superseded: 'open a new session, then repeat',
  agent_revoked:
    'with a signed revocation of this agent: free the host, stop, exit 3, never enrol again automatically; without one: as agent_unknown',
  agent_unknown: 'say so, go on as before, ask again slowly; only a new token enrols anew',
  enrolment_refused: 'say so, exit 2',
  agent_report_invalid: 'drop what was refused, log it, send the full inventory next',
} as const
