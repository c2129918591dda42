/** What a host says of itself and of its devices. Closed and bounded, because a USB device chooses many of these strings. */
import { type Static, Type } from 'typebox'
import { agentLimits, boundedText } from './agent-limits.ts'
import { policyKinds } from './agent-orders.ts'

/** Why a device works although the policy, taken alone, would block it. */
export const enforcementGuards = ['present', 'recent', 'last-keyboard', 'boot-disk', 'unblockable'] as const

/** What decided about a device, strongest first; `default` is the implicit block of an armed host. */
export const policySourceNames = ['hub', 'attack-tool', 'deny', 'grant', 'host', 'tag', 'global', 'default'] as const

/** Kernel drivers that are bound to a device but not allowed for its kind. */
export const DriverMismatch = Type.Object(
  {
    bound: Type.Array(
      Type.Object(
        {
          interface: Type.Integer({ minimum: 0, maximum: 255, description: 'bInterfaceNumber.' }),
          claims: Type.Enum(policyKinds, { description: 'What the interface claims to be.' }),
          driver: boundedText(64, 'Driver that the kernel bound, on the USB bus or on the HID bus (`rtl8150`).'),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 16 },
    ),
  },
  { additionalProperties: false, description: 'Evidence that a device is not what it claims to be.' },
)
export type DriverMismatch = Static<typeof DriverMismatch>

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
    held: Type.Optional(
      Type.Boolean({
        description:
          'True while the port is held because of a driver mismatch, or while the host has reached its limit of held ports. The device is blocked, whatever the decision.',
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
      boundedText(agentLimits.string, 'String descriptor iManufacturer; absent when the device has none.'),
    ),
    product: Type.Optional(
      boundedText(agentLimits.string, 'String descriptor iProduct; absent when the device has none.'),
    ),
    serial: Type.Optional(
      boundedText(agentLimits.string, 'String descriptor iSerialNumber; absent when the device has none.'),
    ),
    configuration: Type.Optional(
      boundedText(
        agentLimits.string,
        'String of the active configuration; some vendors put the firmware version here.',
      ),
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
    mismatch: Type.Optional(DriverMismatch),
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
    name: boundedText(64, 'Interface name.'),
    mac: Type.String({
      pattern: '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$',
      description: 'MAC address, lower case with colons.',
    }),
    addresses: Type.Array(boundedText(64, 'IP address without prefix length.'), { maxItems: 32 }),
    isUp: Type.Boolean(),
  },
  { additionalProperties: false },
)
export type NicReport = Static<typeof NicReport>

/** Slow-changing facts of the host. Sent with every full inventory and whenever `factsHash` changed. */
export const HostFacts = Type.Object(
  {
    hostname: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the host as it calls itself.' }),
    address: boundedText(64, 'The address the agent reaches the server from, as the host sees it; empty when unknown.'),
    osName: boundedText(120, 'Operating system and version for people (`Debian GNU/Linux 12 (bookworm)`).'),
    osVersion: boundedText(120, 'Version of the operating system (`12.8`).'),
    kernel: boundedText(120, 'Kernel release.'),
    architecture: boundedText(32, 'CPU architecture as Node names it (`x64`, `arm64`).'),
    vendor: boundedText(120, 'SMBIOS system vendor; empty when unknown.'),
    model: boundedText(120, 'SMBIOS product name; empty when unknown.'),
    chassis: boundedText(64, 'SMBIOS chassis type as a word; empty when unknown.'),
    sku: boundedText(120, 'SMBIOS SKU; empty when unknown.'),
    nics: Type.Array(NicReport, { maxItems: agentLimits.nics }),
    agentVersion: boundedText(64, 'Version of the agent.'),
    enforcement: Type.Enum(['before-driver', 'after-attach', 'observe'], {
      description:
        'The best this host can do when armed: stop a device before a driver binds, after it, or only watch.',
    }),
    enforcementReason: Type.Optional(
      boundedText(
        200,
        'Why the agent cannot enforce more than this, as text for people: another program, or an error from the kernel.',
      ),
    ),
    releaseKey: Type.Optional(
      Type.String({
        pattern: '^([0-9a-f]{64})?$',
        examples: ['7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069'],
        description:
          'Fingerprint of the release key whose builds this agent installs. Empty when the agent was built without one. Older agents omit it.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type HostFacts = Static<typeof HostFacts>

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

/** A port that stays closed because the kernel bound a driver that is not allowed for the kind of the device. */
export const HeldPort = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'UUID of this hold. A release refers to it.' }),
    portPath: DeviceReport.properties.portPath,
    at: Type.Integer({ minimum: 0, description: 'When the port was held, by the host clock, in ms since 1970.' }),
    mismatch: DriverMismatch,
    vid: Type.String({ pattern: '^[0-9A-F]{4}$' }),
    pid: Type.String({ pattern: '^[0-9A-F]{4}$' }),
    serial: boundedText(agentLimits.string, 'Cleaned serial number; empty when the device has none.'),
    name: boundedText(80, 'Cleaned product or manufacturer name; otherwise kind and ids.'),
    fingerprint: Type.String({ pattern: '^[0-9a-f]{32}$', description: 'Exact fingerprint, as rules name it.' }),
  },
  { additionalProperties: false },
)
export type HeldPort = Static<typeof HeldPort>

/** How the host stands to its policy; sent in the first check-in of a boot and whenever it changed. */
export const EnforcementState = Type.Object(
  {
    mode: Type.Enum(['Free', 'Armed'], { description: 'What the host does now.' }),
    policyVersion: Type.Integer({ minimum: 0, description: 'Version of the policy it holds; 0 before the first.' }),
    reason: boundedText(
      500,
      'Why it is so when nobody commanded it: reverted after arming without contact, released by root; else empty.',
    ),
    held: Type.Optional(
      Type.Array(HeldPort, {
        maxItems: agentLimits.heldPorts,
        description: 'Ports that are held until a person releases them. Agents that do not compare drivers omit it.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type EnforcementState = Static<typeof EnforcementState>
