import { type EventKind, eventCatalogue, type OcsfActivity } from '#features/contract.ts'

/** Version of the schema that `ocsf.ts` uses. It is the first with Peripheral Activity. */
export const ocsfVersion = '1.7.0'

export const ocsfCategories: Readonly<Record<number, string>> = {
  0: 'Uncategorized',
  1: 'System Activity',
  2: 'Findings',
  3: 'Identity & Access Management',
  5: 'Discovery',
  6: 'Application Activity',
  7: 'Remediation',
}

/** The mapping for unknown kinds. */
const unknown: OcsfActivity = { class: 0, activity: 99, activityName: 'Other' }

export const ocsfMapping = (kind: EventKind | null): OcsfActivity =>
  kind === null ? unknown : eventCatalogue[kind].ocsf

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
