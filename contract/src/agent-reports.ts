/** Reports of hosts about themselves and their devices. Shapes are closed and bounded, because a USB device chooses many of these strings. */

import { type Static, Type } from 'typebox'
import { agentLimits } from './agent-limits.ts'
import { policyKinds } from './policy-kinds.ts'
import { boundedText } from './shapes.ts'

/** Guards: reasons why a device works although the policy blocks it. */
export const enforcementGuards = [
  'present',
  'recent',
  'last-keyboard',
  'last-pointing-device',
  'bluetooth-input',
  'boot-disk',
  'unblockable',
] as const

/** Sources of decisions, strongest first. `default` is the implicit block of an armed host. */
export const policySourceNames = ['hub', 'attack-tool', 'deny', 'grant', 'host', 'tag', 'global', 'default'] as const

/** Kernel drivers that are bound to a device but not allowed for its kind. */
export const DriverMismatch = Type.Object(
  {
    bound: Type.Array(
      Type.Object(
        {
          interface: Type.Integer({ minimum: 0, maximum: 255, description: 'bInterfaceNumber.' }),
          claims: Type.Enum(policyKinds, { description: 'Kind that the interface claims to be.' }),
          driver: boundedText(64, 'Driver that the kernel bound on the USB or HID bus, for example `rtl8150`.'),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 16 },
    ),
    kernel: Type.Optional(
      boundedText(120, 'Kernel release. Present if the agent does not know one of the drivers. Older agents omit it.'),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Evidence that a device is not what it claims to be, or drivers that neither the agent nor the server knows.',
  },
)
export type DriverMismatch = Static<typeof DriverMismatch>

/** The decision of an armed host on a device. */
export const Enforced = Type.Object(
  {
    effect: Type.Enum(['allow', 'block'], { description: 'Decision of the policy on the host, before guards.' }),
    source: Type.Enum(policySourceNames),
    ruleId: Type.Union([Type.Null(), Type.String({ maxLength: 64 })]),
    policyVersion: Type.Integer({ minimum: 0 }),
    guard: Type.Optional(
      Type.Enum(enforcementGuards, {
        description:
          'Why the device works although the decision is block. `present`: it was attached when the host was armed. `recent`: it worked at this port a moment ago. `last-keyboard`, `boot-disk` and, on Windows, `last-pointing-device` and `bluetooth-input` (a Bluetooth adapter with paired keyboards or pointing devices): the host never blocks these. `unblockable`: the operating system refused to block it.',
      }),
    ),
    held: Type.Optional(
      Type.Boolean({
        description:
          'True while the port is held because of a driver mismatch, or while the host is at its limit of held ports. The device is then blocked regardless of the decision.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type Enforced = Static<typeof Enforced>

/** Reasons why an interface of an allowed device stays closed. */
export const closedReasons = ['no-driver', 'not-described', 'closed-before'] as const

/** The self-description of a USB device, as read from sysfs. Only `domain/` interprets it. */
export const DeviceReport = Type.Object(
  {
    portPath: Type.String({
      pattern: '^[0-9]{1,3}-[0-9]{1,3}(\\.[0-9]{1,3}){0,7}$',
      maxLength: 48,
      description:
        'Port path, which is the sysfs device name: the bus and the chain of hub ports, for example `1-3.2`.',
    }),
    controller: Type.Optional(
      boundedText(
        agentLimits.controller,
        'Location of the USB controller and its root hub, for example `pci0000:00/14.0 usb2`. Unlike the bus number, it stays the same when controllers are added or removed. Absent if the agent or the system does not report it.',
      ),
    ),
    descriptors: Type.String({
      pattern: '^[A-Za-z0-9+/]*={0,2}$',
      minLength: 24,
      maxLength: agentLimits.descriptors,
      description: 'Base64 of the sysfs file `descriptors`: device descriptor and all configurations.',
    }),
    manufacturer: Type.Optional(
      boundedText(agentLimits.string, 'String descriptor iManufacturer. Absent if the device has none.'),
    ),
    product: Type.Optional(
      boundedText(agentLimits.string, 'String descriptor iProduct. Absent if the device has none.'),
    ),
    serial: Type.Optional(
      boundedText(agentLimits.string, 'String descriptor iSerialNumber. Absent if the device has none.'),
    ),
    configuration: Type.Optional(
      boundedText(
        agentLimits.string,
        'String of the active configuration. Some vendors put the firmware version here.',
      ),
    ),
    configurationValue: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description:
          'bConfigurationValue of the active configuration; 0 if the kernel configured none. Absent if the host does not show it.',
      }),
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
        description:
          'Whether a person can reach the port, according to hub descriptor bits and ACPI. `fixed` behind a hub only if the hub is `fixed` too, because anyone can bring a hub.',
      }),
    ),
    authorized: Type.Optional(Type.Boolean({ description: 'False if the kernel blocks the device.' })),
    closedInterfaces: Type.Optional(
      Type.Array(
        Type.Object(
          {
            interface: Type.Integer({ minimum: 0, maximum: 255, description: 'bInterfaceNumber.' }),
            reason: Type.Enum(closedReasons, {
              description:
                '`no-driver`: no allowed driver bound to it. `not-described`: the descriptors do not contain it. `closed-before`: another program closed it before the host was armed.',
            }),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 32,
          description: 'Interfaces that stay closed although the host allows the device. Older agents omit it.',
        },
      ),
    ),
    isOverNetwork: Type.Optional(
      Type.Boolean({ description: 'True if the host imports the device over the network (USB/IP). Otherwise absent.' }),
    ),
    enforced: Type.Optional(Enforced),
    mismatch: Type.Optional(DriverMismatch),
    reportDescriptors: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$', maxLength: 5464 }), {
        maxItems: 16,
        description:
          'Base64 of the HID report descriptors in interface order, if the kernel exposes them. They distinguish a keyboard from a FIDO key behind 03:00:00.',
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

/**
 * How an armed host can enforce the policy.
 *
 * - `before-driver`: the kernel holds back every new device. No driver binds before the agent allows the device.
 * - `after-attach`: the agent blocks a device a moment after it was attached. The device may act until then.
 * - `before-install` (Windows, preview): Windows installs no driver for a denied device instance that it has not
 *   installed yet. This also applies while the agent is stopped and after a restart. Not guaranteed: instances that
 *   Windows installed before arming and that could not be removed, clones of allowed ids, changes by administrators,
 *   and the time before Windows starts.
 * - `observe`: the host reports devices and cannot block them. It cannot be armed.
 */
export const enforcementGrades = ['before-driver', 'after-attach', 'before-install', 'observe'] as const
export const EnforcementGrade = Type.Enum(enforcementGrades, {
  description:
    'How this host enforces when armed. `before-driver`: no driver binds to a new device before the agent allows it. `after-attach`: a device is blocked a moment after it was attached. `before-install` (Windows, preview): Windows installs no driver for a denied device instance that it has not installed yet. This also applies while the agent is stopped and after a restart. Not covered: instances that were installed before arming and could not be removed, clones of allowed ids, changes by administrators, and the time before Windows starts. `observe`: the host cannot block.',
})
export type EnforcementGrade = Static<typeof EnforcementGrade>

/** Build of Windows: major, minor, build and revision. */
export const osBuildPattern = '^[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,6}\\.[0-9]{1,6}$'

/** Facts about a host. The agent sends them with every full inventory and when `factsHash` changes. */
export const HostFacts = Type.Object(
  {
    hostname: Type.String({ minLength: 1, maxLength: 255, description: 'Host name that the host reports.' }),
    address: boundedText(64, 'Local address of the connection to the server. Empty if unknown.'),
    osName: boundedText(120, 'Operating system and version for display, for example `Debian GNU/Linux 12 (bookworm)`.'),
    osVersion: boundedText(120, 'Version of the operating system, for example `12.8`.'),
    kernel: boundedText(120, 'Kernel release.'),
    architecture: boundedText(
      32,
      'Architecture of the builds that the agent installs: `x64` or `arm64` on Linux, `windows-x64`, `macos-x64` or `macos-arm64`.',
    ),
    vendor: boundedText(120, 'SMBIOS system vendor. Empty if unknown.'),
    model: boundedText(120, 'SMBIOS product name. Empty if unknown.'),
    chassis: boundedText(64, 'SMBIOS chassis type as text. Empty if unknown.'),
    sku: boundedText(120, 'SMBIOS SKU. Empty if unknown.'),
    nics: Type.Array(NicReport, { maxItems: agentLimits.nics }),
    agentVersion: boundedText(64, 'Version of the agent.'),
    osBuild: Type.Optional(
      Type.String({
        pattern: osBuildPattern,
        maxLength: 21,
        examples: ['10.0.22631.4317'],
        description:
          'Build of Windows: major, minor, build and revision. The limit of armed hosts applies to each third number. Other systems omit this field.',
      }),
    ),
    enforcement: EnforcementGrade,
    enforcementReason: Type.Optional(
      boundedText(200, 'Why the agent cannot enforce more, for display: another program, or an error from the kernel.'),
    ),
    releaseKey: Type.Optional(
      Type.String({
        pattern: '^([0-9a-f]{64})?$',
        examples: ['7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069'],
        description:
          'Fingerprint of the release key whose builds this agent installs. Empty if the agent was built without one. Older agents omit it.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type HostFacts = Static<typeof HostFacts>

/** Members of every change. */
const changeTime = {
  at: Type.Integer({
    minimum: 0,
    description: 'Time of the change on the scale of `clock` of the check-in, in ms since 1970.',
  }),
  beforeRestart: Type.Optional(
    Type.Literal(true, {
      description: 'The host restarted after the change. `at` is then the uncorrected host clock at that time.',
    }),
  ),
  repeated: Type.Optional(
    Type.Object(
      {
        count: Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'How often the change happened again.',
        }),
        at: Type.Integer({ minimum: 0, description: 'Time of the last repetition, on the same scale.' }),
        beforeRestart: Type.Optional(Type.Literal(true, { description: 'The host restarted after `at`.' })),
      },
      {
        additionalProperties: false,
        description:
          'Repetitions that the agent merged into this change while it could not send. Between them, the device was removed or changed. Older agents omit it.',
      },
    ),
  ),
}

/** A change of a device between two check-ins. Changes are in order of time. */
export const DeviceChange = Type.Union([
  Type.Object(
    {
      op: Type.Literal('attached'),
      ...changeTime,
      device: DeviceReport,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      op: Type.Literal('removed'),
      ...changeTime,
      portPath: DeviceReport.properties.portPath,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      op: Type.Literal('changed'),
      ...changeTime,
      device: DeviceReport,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      op: Type.Literal('dropped'),
      ...changeTime,
      portPath: DeviceReport.properties.portPath,
    },
    {
      additionalProperties: false,
      description:
        'Changes that the agent dropped because the devices below this root port filled its spool. `repeated` counts all but the first. Older agents drop all changes of all ports instead.',
    },
  ),
])
export type DeviceChange = Static<typeof DeviceChange>

/** A port that the agent keeps disabled because the kernel bound a driver that is not allowed for the kind of the device. */
export const HeldPort = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'ID (UUID) of the held port. A release refers to it.' }),
    portPath: DeviceReport.properties.portPath,
    at: Type.Integer({
      minimum: 0,
      description: 'Time at which the port was disabled, by the host clock, in ms since 1970.',
    }),
    mismatch: DriverMismatch,
    vid: Type.String({ pattern: '^[0-9A-F]{4}$' }),
    pid: Type.String({ pattern: '^[0-9A-F]{4}$' }),
    serial: boundedText(agentLimits.escapedString, 'Escaped serial number. Empty if the device has none.'),
    name: boundedText(80, 'Cleaned product or manufacturer name, otherwise the kind, VID and PID.'),
    fingerprint: Type.String({
      pattern: '^[0-9a-f]{32}$',
      description: 'Fingerprint for rules, without the revision. Older agents send the exact fingerprint.',
    }),
  },
  { additionalProperties: false },
)
export type HeldPort = Static<typeof HeldPort>

/** Mode and policy version of the host. Sent in the first check-in of a boot and after every change. */
export const EnforcementState = Type.Object(
  {
    mode: Type.Enum(['Free', 'Armed'], { description: 'Current mode of the host.' }),
    policyVersion: Type.Integer({ minimum: 0, description: 'Version of the policy on the host. 0 before the first.' }),
    reason: boundedText(
      500,
      'Reason for a mode that no command set: the host reverted because it lost contact after arming, or root released it. Otherwise empty.',
    ),
    held: Type.Optional(
      Type.Array(HeldPort, {
        maxItems: agentLimits.heldPorts,
        description:
          'Held ports. They stay disabled until a person releases them. Agents that do not compare drivers omit this field.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type EnforcementState = Static<typeof EnforcementState>
