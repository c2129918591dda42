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
} as const

const text = (max: number, description: string) => Type.String({ maxLength: max, description })

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
  agent_revoked: 'say so, stop, exit 3; never enrol again by itself',
  agent_unknown: 'say so, stop, exit 3; never enrol again by itself',
  enrolment_refused: 'say so, exit 2',
  agent_report_invalid: 'drop what was refused, log it, send the full inventory next',
} as const
