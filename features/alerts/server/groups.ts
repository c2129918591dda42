import {
  type Alert,
  type AlertKind,
  alertCatalogue,
  alertKinds,
  type Channel,
  eventCatalogue,
  eventCategories,
  type NotificationGroup,
  subsystemNames,
  subsystemOf,
} from '#features/contract.ts'

/** The stored configuration of a group, without the secret. */
export type GroupConfig = Omit<
  NotificationGroup,
  'id' | 'groupName' | 'description' | 'kind' | 'notifications' | 'updatedAt' | 'updatedBy'
> & {
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
  /** Time of the last change; null: it was never changed. */
  updatedAt: Date | null
  updatedBy: string
}

/** Returns the code of the event that raises alerts of a kind. */
const codeOfKind = (kind: AlertKind): number => Number(alertCatalogue[kind].code)
export const kindOfCode: ReadonlyMap<number, AlertKind> = new Map(alertKinds.map((kind) => [codeOfKind(kind), kind]))

/** Code of the event that closes the alert of a disconnected host. */
export const heardAgainCode = Number(eventCatalogue.heardAgain.code)

/** Codes of the events about subsystem health. */
export const healthCodes = {
  degraded: Number(eventCatalogue.degraded.code),
  recovered: Number(eventCatalogue.recovered.code),
}

/** Returns the part of a definition that groups of alerts about hosts, devices and accounts share. */
const risk = (groupName: Alert['group']) =>
  ({
    groupName,
    kind: 'Risk',
    of: 'notices',
    switches: Object.values(alertCatalogue)
      .filter(({ group }) => group === groupName)
      .toSorted((a, b) => (a.switchOrder ?? a.order) - (b.switchOrder ?? b.order))
      .map(({ kind, title }) => ({ id: kind, name: title })),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  }) as const

const health = (isConnected: boolean) =>
  ({
    kind: 'SystemHealth',
    of: 'subsystems',
    switches: subsystemNames
      .filter((name) => (subsystemOf(name).isConnected ?? false) === isConnected)
      .map((id) => ({ id, name: id })),
    channels: ['email', 'webhook', 'syslog'],
    minimumSeverity: 'Warning',
  }) as const

/** The fixed groups, by team: security, user support and server operations. */
export const groupDefinitions: readonly GroupDefinition[] = [
  {
    id: 1,
    description:
      'Attack tools, devices that are not what they claim to be, copied agent keys, and possible duplicates.',
    ...risk('Attacks'),
  },
  {
    id: 2,
    description: 'Devices that are vulnerable, uncommon, blocked, or not on the allowlist, and unknown drivers.',
    ...risk('Devices'),
  },
  {
    id: 3,
    description: 'Hosts that have not checked in for a long time.',
    ...risk('Disconnected hosts'),
  },
  {
    id: 4,
    groupName: 'This server',
    description: 'Database, disk, queues, clock, licence and backups of this server.',
    ...health(false),
  },
  {
    id: 5,
    groupName: 'Connected systems',
    description:
      'Mail, directories, network access control, the agentless worker, and receivers of events and messages.',
    ...health(true),
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
    description: 'API tokens that expire soon, and suspended accounts.',
    ...risk('Accounts and tokens'),
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
    return on.flatMap((id) => [codeOfKind(id as AlertKind), ...(id === 'agentSilent' ? [heardAgainCode] : [])])
  return Object.values(eventCatalogue)
    .filter(({ category }) => on.includes(category))
    .map(({ code }) => Number(code))
}
