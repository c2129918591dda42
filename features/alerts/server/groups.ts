import {
  alertGuide,
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

/** Returns the code of the event that raises alerts of a kind. */
export const codeOfKind = (kind: NoticeKind): number => Number(eventCodes[alertGuide[kind].event].code)
export const kindOfCode: ReadonlyMap<number, NoticeKind> = new Map(noticeKinds.map((kind) => [codeOfKind(kind), kind]))

/** Code of the event that closes the alert of a disconnected host. */
export const heardAgainCode = Number(eventCodes.heardAgain.code)

/** Codes of the events about subsystem health. */
export const healthCodes = { degraded: Number(eventCodes.degraded.code), recovered: Number(eventCodes.recovered.code) }

const kinds = (...ids: NoticeKind[]) => ids.map((id) => ({ id, name: alertGuide[id].title }))
const connected: readonly string[] = ['agentless worker', 'mail', 'LDAP', 'ISE', 'CACT', 'asset stream', 'deliveries']
const subsystems = (wanted: boolean) =>
  subsystemNames.filter((name) => connected.includes(name) === wanted).map((id) => ({ id, name: id }))

/** The fixed groups, by team: security, user support and server operations. */
export const groupDefinitions: readonly GroupDefinition[] = [
  {
    id: 1,
    groupName: 'Attacks',
    description:
      'Attack tools, devices that are not what they claim to be, copied agent keys, and possible duplicates.',
    kind: 'Risk',
    of: 'notices',
    switches: kinds('attackTool', 'driverMismatch', 'keyClone', 'duplicate'),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  },
  {
    id: 2,
    groupName: 'Devices',
    description: 'Devices that are vulnerable, uncommon, blocked, or not on the allowlist, and unknown drivers.',
    kind: 'Risk',
    of: 'notices',
    switches: kinds('vulnerable', 'uncommon', 'whitelistViolation', 'blocked', 'unknownDriver'),
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
    return on.flatMap((id) => [codeOfKind(id as NoticeKind), ...(id === 'agentSilent' ? [heardAgainCode] : [])])
  return Object.values(eventCodes)
    .filter(({ category }) => on.includes(category))
    .map(({ code }) => Number(code))
}
