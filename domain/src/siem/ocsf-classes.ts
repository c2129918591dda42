import type { EventKind } from '@portcullis/contract'

/** Version of the schema that `ocsf.ts` uses. It is the first with Peripheral Activity. */
export const ocsfVersion = '1.7.0'

/** The classes by number. The thousands digit is the category. */
export const ocsfClasses = {
  0: 'Base Event',
  1010: 'Peripheral Activity',
  2004: 'Detection Finding',
  3004: 'Entity Management',
  5001: 'Device Inventory Info',
  5019: 'Device Config State Change',
  6002: 'Application Lifecycle',
  6008: 'Application Error',
  7001: 'Remediation Activity',
} as const
export type OcsfClass = keyof typeof ocsfClasses

export const ocsfCategories: Readonly<Record<number, string>> = {
  0: 'Uncategorized',
  1: 'System Activity',
  2: 'Findings',
  3: 'Identity & Access Management',
  5: 'Discovery',
  6: 'Application Activity',
  7: 'Remediation',
}

interface Mapping {
  class: OcsfClass
  activity: number
  activityName: string
  /** Status of the activity, for classes with a status. */
  status?: readonly [id: number, name: string]
  /** Device Config State Change: current protection of the host. */
  state?: readonly [id: number, name: string]
  /** Security Control: action that was taken. */
  control?: { action: readonly [id: number, name: string]; disposition: readonly [id: number, name: string] }
}

const finding: Mapping = { class: 2004, activity: 1, activityName: 'Create', status: [1, 'New'] }
const inventory: Mapping = { class: 5001, activity: 2, activityName: 'Collect' }
const failure: Mapping = { class: 6008, activity: 1, activityName: 'General Error' }
const other = (activityName: string): Mapping => ({ class: 0, activity: 99, activityName })

/** Maps the kinds of events to classes of the schema. */
const ocsfMappings = {
  attached: { class: 1010, activity: 1, activityName: 'Connect' },
  gone: { class: 1010, activity: 2, activityName: 'Disconnect' },
  // The device is attached, but its host does not use it.
  blocked: {
    class: 1010,
    activity: 4,
    activityName: 'Disable',
    control: { action: [2, 'Denied'], disposition: [2, 'Blocked'] },
  },
  attackTool: finding,
  driverMismatch: finding,
  unknownDriver: finding,
  changesDropped: finding,
  eventsMerged: finding,
  vulnerable: finding,
  keyClone: finding,
  updateRefused: finding,
  heldPortsFull: finding,
  duplicate: finding,
  hostKeyChanged: finding,
  uncommon: finding,
  violation: finding,
  silent: other('Stopped checking in'),
  heardAgain: other('Checks in again'),
  inventory,
  polled: inventory,
  observed: inventory,
  enrolled: { class: 3004, activity: 6, activityName: 'Enroll' },
  removed: { class: 3004, activity: 7, activityName: 'Unenroll' },
  tookOver: { class: 3004, activity: 3, activityName: 'Update' },
  armed: { class: 5019, activity: 1, activityName: 'Log', state: [2, 'Enabled'] },
  freed: { class: 5019, activity: 1, activityName: 'Log', state: [1, 'Disabled'] },
  reverted: { class: 5019, activity: 1, activityName: 'Log', state: [1, 'Disabled'] },
  updated: { class: 6002, activity: 8, activityName: 'Update' },
  commandFailed: failure,
  agentError: failure,
  pollFailing: failure,
  pollRecovered: other('Poll recovered'),
  rollout: other('Rollout'),
  rolloutHalted: other('Rollout halted'),
  degraded: failure,
  recovered: other('Subsystem recovered'),
  tokenExpiring: other('API token expires soon'),
  accountSuspended: other('Account suspended'),
  accountDisabled: other('Account disabled, demoted or deleted'),
  approvalLifted: other('Second approver requirement lifted'),
  quarantined: { class: 7001, activity: 1, activityName: 'Isolate', status: [1, 'Success'] },
  quarantineCleared: { class: 7001, activity: 3, activityName: 'Restore', status: [1, 'Success'] },
  quarantineFailed: { class: 7001, activity: 1, activityName: 'Isolate', status: [2, 'Failure'] },
  quarantineWaiting: { class: 7001, activity: 1, activityName: 'Isolate', status: [99, 'Waits for a person'] },
} as const satisfies Record<EventKind, Mapping>

/** The mapping for unknown kinds. */
const unknown = other('Other')

export const ocsfMapping = (kind: EventKind | null): Mapping => (kind === null ? unknown : ocsfMappings[kind])

/** OCSF severity of each syslog severity. Notice is for normal activity such as attaching and detaching devices. */
export const ocsfSeverities = [
  [6, 'Fatal'],
  [5, 'Critical'],
  [5, 'Critical'],
  [4, 'High'],
  [3, 'Medium'],
  [2, 'Low'],
  [1, 'Informational'],
  [1, 'Informational'],
] as const

/** Type of a device by its icon number. The schema has few types; all other devices have the name of their kind. */
export const ocsfPeripheralTypes: Readonly<Record<string, readonly [id: number, name: string]>> = {
  1: [2, 'Keyboard'],
  2: [3, 'Mouse'],
  3: [1, 'External Storage'],
  7: [7, 'Webcam'],
  8: [4, 'Printer'],
}
