/**
 * The agent protocol, version 1: what a host agent says to `/agent/v1/...` and what it hears back.
 *
 * Shapes are closed and bounded, because a USB device chooses many of these strings. A server speaks the protocol
 * versions N to N-2; the version is the number in the path. Every answer other than 200 is problem details with a code
 * of `errors.ts`; `agentProblemActions` says what an agent does about it.
 */
import { type Static, Type } from 'typebox'

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

/** Bounds of the protocol. A body over `bodyBytes` is answered 413, everything else over its bound 400. */
export const agentLimits = {
  /** Bytes of one request body. A full inventory of 256 devices with 4 KiB of descriptors each fits twice. */
  bodyBytes: 4 * 1024 * 1024,
  /** Devices in one inventory; the USB bus allows 127 per controller. */
  devices: 1024,
  /** Changes in one check-in; an agent with more sends its full inventory instead. */
  changes: 2048,
  /** UTF-16 units of a device string: a string descriptor holds at most 126, doubled for cleaned text. */
  string: 255,
  /** Base64 characters of a device's raw descriptors (12 KiB of bytes). */
  descriptors: 16_384,
  nics: 64,
  errors: 32,
  /** Rules of one host's policy. */
  rules: 10_000,
  /** Bytes of a gzip of debug logs. */
  debugLogBytes: 20 * 1024 * 1024,
  /** Bytes of an agent executable. */
  packageBytes: 256 * 1024 * 1024,
} as const

const text = (max: number, description: string) => Type.String({ maxLength: max, description })

/** Why a device works although the policy, taken alone, would block it. */
export const enforcementGuards = ['present', 'recent', 'last-keyboard', 'boot-disk', 'unblockable'] as const

/** What decided about a device, strongest first; `default` is the implicit block of an armed host. */
export const policySourceNames = ['hub', 'attack-tool', 'deny', 'grant', 'host', 'tag', 'global', 'default'] as const

/** What an armed host did with a device. */
export const Enforced = Type.Object(
  {
    effect: Type.Enum(['allow', 'block'], { description: 'Decision by the policy the host holds, before guards.' }),
    source: Type.Enum(policySourceNames),
    ruleId: Type.Union([Type.Null(), Type.String({ maxLength: 64 })]),
    policyVersion: Type.Integer({ minimum: 0 }),
    guard: Type.Optional(
      Type.Enum(enforcementGuards, {
        description:
          'Why it was let through although the decision is block. `present`: attached when the host was armed. `recent`: worked a moment ago at this port. `last-keyboard`, `boot-disk`: never taken away. `unblockable`: the kernel refused.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type Enforced = Static<typeof Enforced>

/** What one USB device says of itself, as read from sysfs. Interpreted by `domain/`, never by the agent alone. */
export const DeviceReport = Type.Object(
  {
    portPath: Type.String({
      pattern: '^[0-9]{1,3}-[0-9]{1,3}(\\.[0-9]{1,3}){0,7}$',
      maxLength: 48,
      description: 'Place of attachment, the sysfs device name: bus, then the chain of hub ports (`1-3.2`).',
    }),
    descriptors: Type.String({
      pattern: '^[A-Za-z0-9+/]*={0,2}$',
      minLength: 24,
      maxLength: agentLimits.descriptors,
      description: 'Base64 of the sysfs file `descriptors`: device descriptor and all configurations.',
    }),
    manufacturer: Type.Optional(
      text(agentLimits.string, 'String descriptor iManufacturer; absent when the device has none.'),
    ),
    product: Type.Optional(text(agentLimits.string, 'String descriptor iProduct; absent when the device has none.')),
    serial: Type.Optional(
      text(agentLimits.string, 'String descriptor iSerialNumber; absent when the device has none.'),
    ),
    configuration: Type.Optional(
      text(agentLimits.string, 'String of the active configuration; some vendors put the firmware version here.'),
    ),
    speedMbps: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Negotiated speed in Mbit/s (1.5, 12, 480, 5000, ...).',
      }),
    ),
    removable: Type.Optional(
      Type.Enum(['removable', 'fixed', 'unknown'], {
        description: 'Whether the port can be reached by a person, from hub descriptor bits and ACPI.',
      }),
    ),
    authorized: Type.Optional(Type.Boolean({ description: 'False when the kernel keeps the device from being used.' })),
    enforced: Type.Optional(Enforced),
    reportDescriptors: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$', maxLength: 5464 }), {
        maxItems: 16,
        description:
          'Base64 of HID report descriptors in interface order, when the kernel shows them: tells a keyboard from a FIDO key behind 03:00:00.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type DeviceReport = Static<typeof DeviceReport>

/** One network interface of the host. */
export const NicReport = Type.Object(
  {
    name: text(64, 'Interface name.'),
    mac: Type.String({
      pattern: '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$',
      description: 'MAC address, lower case with colons.',
    }),
    addresses: Type.Array(text(64, 'IP address without prefix length.'), { maxItems: 32 }),
    isUp: Type.Boolean(),
  },
  { additionalProperties: false },
)
export type NicReport = Static<typeof NicReport>

/** Slow-changing facts of the host. Sent with every full inventory and whenever `factsHash` changed. */
export const HostFacts = Type.Object(
  {
    hostname: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the host as it calls itself.' }),
    address: text(64, 'The address the agent reaches the server from, as the host sees it; empty when unknown.'),
    osName: text(120, 'Operating system and version for people (`Debian GNU/Linux 12 (bookworm)`).'),
    osVersion: text(120, 'Version of the operating system (`12.8`).'),
    kernel: text(120, 'Kernel release.'),
    architecture: text(32, 'CPU architecture as Node names it (`x64`, `arm64`).'),
    vendor: text(120, 'SMBIOS system vendor; empty when unknown.'),
    model: text(120, 'SMBIOS product name; empty when unknown.'),
    chassis: text(64, 'SMBIOS chassis type as a word; empty when unknown.'),
    sku: text(120, 'SMBIOS SKU; empty when unknown.'),
    nics: Type.Array(NicReport, { maxItems: agentLimits.nics }),
    agentVersion: text(64, 'Version of the agent.'),
    enforcement: Type.Enum(['before-driver', 'after-attach', 'observe'], {
      description:
        'The best this host can do when armed: stop a device before a driver binds, after it, or only watch.',
    }),
  },
  { additionalProperties: false },
)
export type HostFacts = Static<typeof HostFacts>

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
    description: 'Base64 SPKI DER of the Ed25519 key that signs commands. The agent pins it.',
  }),
  releaseKey: Type.Optional(
    Type.String({
      description:
        'Base64 SPKI DER of the Ed25519 key that signs agent builds. The agent pins it; without it the key of the first update.',
    }),
  ),
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
})
export type SessionResponse = Static<typeof SessionResponse>

/** One thing that happened to a device between two check-ins, in the order it happened. */
export const DeviceChange = Type.Union([
  Type.Object(
    {
      op: Type.Literal('attached'),
      at: Type.Integer({ minimum: 0, description: 'Host clock, ms since 1970.' }),
      device: DeviceReport,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      op: Type.Literal('removed'),
      at: Type.Integer({ minimum: 0, description: 'Host clock, ms since 1970.' }),
      portPath: DeviceReport.properties.portPath,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      op: Type.Literal('changed'),
      at: Type.Integer({ minimum: 0, description: 'Host clock, ms since 1970.' }),
      device: DeviceReport,
    },
    { additionalProperties: false },
  ),
])
export type DeviceChange = Static<typeof DeviceChange>

/** How the host stands to its policy; sent in the first check-in of a boot and whenever it changed. */
export const EnforcementState = Type.Object(
  {
    mode: Type.Enum(['Free', 'Armed'], { description: 'What the host does now.' }),
    policyVersion: Type.Integer({ minimum: 0, description: 'Version of the policy it holds; 0 before the first.' }),
    reason: text(
      500,
      'Why it is so when nobody commanded it: reverted after arming without contact, released by root; else empty.',
    ),
  },
  { additionalProperties: false },
)
export type EnforcementState = Static<typeof EnforcementState>

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
            message: text(500, 'Why it failed, for people; empty when confirmed.'),
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
            code: text(64, 'Short stable word.'),
            message: text(500, 'What went wrong on the host.'),
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
    reason: Type.Optional(text(200, 'Told to the user of the host when the rule blocks.')),
  },
  { additionalProperties: false },
)
export type PolicyRule = Static<typeof PolicyRule>

/** POST policy: asks for the policy of this agent. */
export const PolicyRequest = Type.Object(
  {
    nonce: Type.String({
      pattern: '^[A-Za-z0-9_-]{22,64}$',
      description: 'Random; comes back in the signed payload, so that an old policy can not be played again.',
    }),
  },
  { additionalProperties: false },
)
export type PolicyRequest = Static<typeof PolicyRequest>

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
    contact: text(200, 'Whom the user of a host should ask; empty when not configured.'),
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
  }
}
export type AgentCommandKind = keyof AgentCommandBodies
export const agentCommandKinds = ['configure', 'policy', 'collect-logs', 'update'] as const satisfies AgentCommandKind[]

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
  agent_revoked: 'say so, stop, exit 3; never enrol again by itself',
  agent_unknown: 'say so, go on as before, ask again slowly; only a new token enrols anew',
  enrolment_refused: 'say so, exit 2',
  agent_report_invalid: 'drop what was refused, log it, send the full inventory next',
} as const
