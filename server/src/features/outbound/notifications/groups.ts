import {
  type Channel,
  eventCategories,
  eventCodes,
  type NoticeKind,
  type NotificationGroup,
  noticeKinds,
  subsystemNames,
} from '@portcullis/contract'

/** The stored configuration of a group, without the secret. */
export type GroupConfig = Omit<NotificationGroup, 'id' | 'groupName' | 'description' | 'kind' | 'notifications'> & {
  /** Ids of switches that are off, so that switches of later releases are on. */
  off: readonly string[]
}

export interface GroupDefinition {
  id: number
  groupName: string
  description: string
  kind: 'Risk' | 'SystemHealth'
  /** Meaning of its switches: categories of events, or kinds of alerts. */
  of: 'notices' | 'subsystems' | 'events'
  switches: readonly { id: string; name: string }[]
  /** Channels that the group supports. */
  channels: readonly Channel[]
  minimumSeverity: GroupConfig['minimumSeverity']
}

/** A group with its current configuration. */
export interface Group {
  definition: GroupDefinition
  config: GroupConfig
  secret: Buffer | null
}

/** Name of each kind of alert and the rule that raises it. */
export const kindTexts: Readonly<Record<NoticeKind, { name: string; why: string }>> = {
  attackTool: {
    name: 'Attack tool',
    why: 'A device was attached that is on the list of attack tools or behaves like one.',
  },
  driverMismatch: {
    name: 'Driver mismatch',
    why: 'The kernel bound a driver that is not allowed for this kind of device. An armed host holds the port until someone releases it.',
  },
  vulnerable: { name: 'Vulnerable device', why: 'A device with a published vulnerability was attached.' },
  uncommon: {
    name: 'Uncommon device',
    why: 'A device is attached whose model and interfaces are on few hosts. The thresholds are under Settings, Product.',
  },
  whitelistViolation: {
    name: 'Not on the allowlist',
    why: 'An armed host lets a device work that is not on the allowlist, for example because it was attached before the host was armed.',
  },
  blocked: {
    name: 'Blocked device',
    why: 'An armed host blocked a device, because a rule denies it or no rule allows it.',
  },
  keyClone: { name: 'Copied agent key', why: 'The key of an agent was used from two places.' },
  agentSilent: {
    name: 'Disconnected host',
    why: 'A host has not checked in for longer than VENDORA_SILENT_HOURS (Settings, Product).',
  },
  tokenExpiring: {
    name: 'API token expires soon',
    why: 'An API token expires within 14 days. You are notified again 3 days before it expires.',
  },
  accountSuspended: {
    name: 'Account suspended',
    why: "An Administrator suspended another account's sessions, API tokens and approvals for 24 hours.",
  },
  accountDisabled: {
    name: 'Account disabled or deleted',
    why: 'Someone disabled or deleted the account of another person, or lowered its profile.',
  },
}

/** Code of the event that raises each kind. */
export const codesOfKind: Readonly<Record<NoticeKind, number>> = {
  attackTool: Number(eventCodes.attackTool.code),
  driverMismatch: Number(eventCodes.driverMismatch.code),
  vulnerable: Number(eventCodes.vulnerable.code),
  uncommon: Number(eventCodes.uncommon.code),
  whitelistViolation: Number(eventCodes.violation.code),
  blocked: Number(eventCodes.blocked.code),
  keyClone: Number(eventCodes.keyClone.code),
  agentSilent: Number(eventCodes.silent.code),
  tokenExpiring: Number(eventCodes.tokenExpiring.code),
  accountSuspended: Number(eventCodes.accountSuspended.code),
  accountDisabled: Number(eventCodes.accountDisabled.code),
}
export const kindOfCode: ReadonlyMap<number, NoticeKind> = new Map(noticeKinds.map((kind) => [codesOfKind[kind], kind]))

/** Code of the event that closes the alert of a disconnected host. */
export const heardAgainCode = Number(eventCodes.heardAgain.code)

/** Codes of the events about subsystem health. */
export const healthCodes = { degraded: Number(eventCodes.degraded.code), recovered: Number(eventCodes.recovered.code) }

const kinds = (...ids: NoticeKind[]) => ids.map((id) => ({ id, name: kindTexts[id].name }))
const connected: readonly string[] = ['agentless worker', 'mail', 'LDAP', 'ISE', 'CACT', 'asset stream', 'deliveries']
const subsystems = (wanted: boolean) =>
  subsystemNames.filter((name) => connected.includes(name) === wanted).map((id) => ({ id, name: id }))

/** The fixed groups, by team: security, user support and server operations. */
export const groupDefinitions: readonly GroupDefinition[] = [
  {
    id: 1,
    groupName: 'Attacks',
    description: 'Attack tools, devices that are not what they claim to be, and copied agent keys.',
    kind: 'Risk',
    of: 'notices',
    switches: kinds('attackTool', 'driverMismatch', 'keyClone'),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  },
  {
    id: 2,
    groupName: 'Devices',
    description: 'Devices that are vulnerable, uncommon, blocked, or not on the allowlist.',
    kind: 'Risk',
    of: 'notices',
    switches: kinds('vulnerable', 'uncommon', 'whitelistViolation', 'blocked'),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  },
  {
    id: 3,
    groupName: 'Disconnected hosts',
    description: 'Hosts that have not checked in for a long time.',
    kind: 'Risk',
    of: 'notices',
    switches: kinds('agentSilent'),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  },
  {
    id: 4,
    groupName: 'This server',
    description: 'Database, disk, queues, clock, licence and backups of this server.',
    kind: 'SystemHealth',
    of: 'subsystems',
    switches: subsystems(false),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  },
  {
    id: 5,
    groupName: 'Connected systems',
    description:
      'Mail, directories, network access control, the agentless worker, and receivers of events and messages.',
    kind: 'SystemHealth',
    of: 'subsystems',
    switches: subsystems(true),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  },
  {
    id: 6,
    groupName: 'All events',
    description:
      'Every single event, for a SIEM: by syslog, or in batches to a webhook. This group sends no mail; the other groups do.',
    kind: 'Risk',
    of: 'events',
    switches: eventCategories.map((id) => ({ id, name: `Events of category ${id}` })),
    channels: ['webhook', 'syslog'],
    minimumSeverity: 'Debug',
  },
  {
    id: 7,
    groupName: 'Accounts and tokens',
    description: 'API tokens that expire soon, and suspended accounts.',
    kind: 'Risk',
    of: 'notices',
    switches: kinds('tokenExpiring', 'accountSuspended', 'accountDisabled'),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  },
]

/** Configuration of a group that nobody changed: enabled, without channels. */
export const defaultConfig = (definition: GroupDefinition): GroupConfig => ({
  minimumSeverity: definition.minimumSeverity,
  hashtags: [],
  isEnabled: true,
  off: [],
  channels: {
    email: { isEnabled: false, recipients: [] },
    webhook: { isEnabled: false, url: '', secret: '', ca: '' },
    syslog: { isEnabled: false, address: '', protocol: 'tls', format: 'rfc5424', ca: '' },
  },
  digestMinutes: 0,
  quietHours: null,
})

/** Returns the codes of the events in a group's syslog or webhook stream. */
export const codesOf = (definition: GroupDefinition, off: readonly string[]): number[] => {
  const on = definition.switches.filter(({ id }) => !off.includes(id)).map(({ id }) => id)
  if (definition.of === 'subsystems') return on.length === 0 ? [] : Object.values(healthCodes)
  if (definition.of === 'notices')
    return on.flatMap((id) => [codesOfKind[id as NoticeKind], ...(id === 'agentSilent' ? [heardAgainCode] : [])])
  return Object.values(eventCodes)
    .filter(({ category }) => on.includes(category))
    .map(({ code }) => Number(code))
}
