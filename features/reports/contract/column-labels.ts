/**
 * Labels of columns and values in files for people: CSV in the readable form, PDF, and the editor of reports. Programs
 * read the keys and values of the API instead.
 */
import type { TObject, TSchema } from 'typebox'
import { pollCauses } from '#features/agentless/contract/worker-protocol.ts'

/** How a value becomes readable. */
export type CellForm =
  | 'plain'
  /** `true` or `false`. */
  | 'truth'
  /** A time without a zone, which is in UTC. */
  | 'zoneless'
  /** A time with `Z`. */
  | 'time'
  /** MM/dd/yyyy. */
  | 'date'
  /** A time in UTC without a zone, followed by a text. */
  | 'timedText'
  /** The text of an event. */
  | 'eventText'
  /** Parts separated by `||`. */
  | 'parts'
  /** Items separated by `**`, each with parts separated by `||`. */
  | 'items'
  /** Hex digits, which a spreadsheet would read as a number (`05E3`, `0012`). */
  | 'hex'
  /** A number that the API sends as text. */
  | 'number'
  /** A share, 0 to 1. */
  | 'share'
  /** A code with a label. */
  | 'code'

/** A column in a file for people. */
export interface ColumnLabel {
  /** Name of the column. */
  name: string
  /** Heading: the name, with the zone or unit of its values. */
  heading: string
  form: CellForm
  /** Labels of the values of the form `code`. Other values stay unchanged. */
  labels: Readonly<Record<string, string>>
}

/** Names of columns. A key without an entry is split into its words. */
const names: Readonly<Record<string, string>> = {
  // Hosts.
  uuid: 'Host ID',
  hostIdentifier: 'Host',
  localIpAddress: 'Address',
  hostIp: 'Address',
  operationalStatus: 'Mode',
  approvedAndPresent: 'Approved, attached',
  approvedAndDisconnected: 'Approved, detached',
  latestMinus1EventText: 'Previous event',
  latestMinus2EventText: 'Second previous event',
  latestEventText: 'Latest event',
  serviceVersion: 'Agent version',
  agentServiceVersion: 'Agent version',
  lastUpdated: 'Last seen',
  licenseStatus: 'Licence',
  licenseAccountId: 'Licence account ID',
  licenseAccountName: 'Licence account',
  expirationDate: 'Licence expires',
  lastConfiguered: 'Last configured',
  kbDriverVersion: 'Driver version',
  notApproved: 'Not on the allowlist',
  hasUnapprovedPeripherals: 'Has devices not on the allowlist',
  hasVulnerablePeripherals: 'Has vulnerable devices',
  hasKnownAttackTools: 'Has attack tools',
  displayStatusCombined: 'Status',
  inAction: 'Command pending',
  pcModel: 'Computer',
  nicsText: 'Network interfaces',
  modelToolTip: 'Model',
  containsVulnerablePeripheralOrWLV: 'Findings',
  osVersion: 'Operating system',
  connectedSwitchIp: 'Switch address',
  connectedSwitchName: 'Switch',
  connectedPortId: 'Switch port',
  connectedPortName: 'Switch port name',
  ethernetsCount: 'Network interface count',
  hashtags: 'Tags',
  deploymentMode: 'Deployment',
  riskScore: 'Risk',
  clockSkewSeconds: 'Clock skew (s)',
  lastErrorTime: 'Last error at',
  // Devices and models.
  deviceID: 'Device ID',
  caption: 'Device',
  vid: 'Vendor ID',
  pid: 'Product ID',
  guiVid: 'Vendor',
  guiPid: 'Product',
  serial: 'Serial number',
  guiSerial: 'Serial number (displayed)',
  uniqueSerial: 'Serial number is unique',
  devIcon: 'Kind (number)',
  devIconDescription: 'Kind',
  peripheralIcon: 'Kind (number)',
  classCode: 'Class',
  subclassCode: 'Subclass',
  protocolCode: 'Protocol',
  hierarchy: 'Port',
  isDisabled: 'Disabled',
  present: 'Attached',
  parentDeviceID: 'Parent device ID',
  isUnapprovedPeripherals: 'Not on the allowlist',
  isVulnerablePeripheral: 'Vulnerable',
  isKnownAttackTool: 'Attack tool',
  attackTool: 'Attack tool confidence',
  configManagerErrorCode: 'Error code (Windows)',
  adminStatus: 'Approval',
  fpData: 'Exact fingerprint',
  lesserFpData: 'Fingerprint without revision',
  bcdDevice: 'Revision',
  speed: 'Speed (Mbit/s)',
  enforcedVersion: 'Policy version on the host',
  agentsCount: 'Hosts',
  peripheralsCount: 'Devices',
  approvedCount: 'Approved',
  share: 'Share of hosts',
  enforced: 'Blocked',
  vulnerability: 'Findings',
  missingEvidence: 'Not examined',
  vulnerabilities: 'Advisories',
  hosts: 'Host names',
  hostUuid: 'Host ID',
  productInfo: 'Product',
  isUnapprovedPeripheral: 'Not on the allowlist',
  // Filters.
  globalSearch: 'Any text',
  ipAddress: 'Address',
  version: 'Agent version',
  license: 'Licence',
  lastConfiguration: 'Last configured',
  model: 'Model (VID:PID)',
  minimumSeverity: 'Lowest severity',
  fromDate: 'From',
  toDate: 'To',
  occurredFrom: 'Happened from',
  occurredTo: 'Happened until',
  // Events and the audit trail.
  eventID: 'Event',
  auditTrailID: 'Record',
  creationTime: 'Time',
  occurredAt: 'Happened',
  occurredUncertaintyMs: 'Uncertainty (ms)',
  eventCode: 'Code',
  eventEntityID: 'About',
  entity: 'About',
  severityString: 'Severity',
  userName: 'User',
  sourceIp: 'Source address',
  // Rules.
  id: 'Rule',
  host: 'Host ID',
  expiresAt: 'Expires',
  overrideAttackTool: 'Overrides attack-tool finding',
  // Agentless hosts.
  computerName: 'Computer',
  hasPassword: 'Password set',
  hasPrivateKey: 'Private key set',
  hasPassphrase: 'Passphrase set',
  hostKeyFingerprint: 'Host key',
  intervalMinutes: 'Poll interval (min)',
  isOverrideDefaults: 'Own credentials',
  isRegistered: 'Has a host',
  isConfirmed: 'Confirmed',
  hostKeyTrust: 'Trust in host key',
  statusString: 'Status',
  statusDescription: 'Status description',
  statusErrorDescription: 'Error',
  prevRunningErrors: 'Previous errors',
  startTime: 'Started',
  endTime: 'Ended',
  durationMs: 'Duration (ms)',
  failures: 'Consecutive failures',
}

/** Labels of the highest finding of a host, device or model. */
export const findingLabels: Readonly<Record<string, string>> = {
  50: 'Confirmed attack tool',
  40: 'Suspected attack tool',
  30: 'Vulnerable',
  20: 'Not on the allowlist',
  10: 'No findings',
}

/** Labels of codes, by the key of their column. */
const codeLabels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: { OK: 'Attached', Gone: 'Detached' },
  decision: { allow: 'Allowed', block: 'Not allowed' },
  adminStatus: { WLM: 'Approved', WLA: 'Allowed by a rule', BLM: 'Denied' },
  attackTool: { suspected: 'Suspected', confirmed: 'Confirmed' },
  containsVulnerablePeripheralOrWLV: {
    WLV: 'Not on the allowlist',
    'Vulnerable,WLV': 'Vulnerable, not on the allowlist',
  },
  guard: {
    present: 'Attached before the host was armed',
    recent: 'Worked at the same port a moment ago',
    'last-keyboard': 'Last keyboard of the host',
    'last-pointing-device': 'Last pointing device of the host',
    'bluetooth-input': 'Bluetooth adapter of keyboards or pointing devices',
    'boot-disk': 'Boot disk of the host',
    unblockable: 'The operating system refused to block it',
  },
  devIconDescription: { NO_DEV: 'None' },
  effect: { allow: 'Allow', deny: 'Deny' },
  level: {
    grant: 'Grant',
    host: 'Host',
    tag: 'Tag',
    global: 'All hosts',
    suspected: 'Suspected',
    confirmed: 'Confirmed',
  },
  origin: { rule: 'Rule', approval: 'Approval' },
  basis: { genuine: 'Genuine product', consensus: 'Other devices in the fleet' },
  outcome: { success: 'Success', failure: 'Failure' },
  platform: { auto: 'Detect', linux: 'Linux', macos: 'macOS', windows: 'Windows' },
  cause: Object.fromEntries(Object.entries(pollCauses).map(([cause, { title }]) => [cause, title])),
}

const forms: Readonly<Record<string, CellForm>> = {
  expirationDate: 'date',
  details: 'eventText',
  latestEventText: 'timedText',
  latestMinus1EventText: 'timedText',
  latestMinus2EventText: 'timedText',
  pcModel: 'parts',
  nicsText: 'items',
  share: 'share',
  vid: 'hex',
  pid: 'hex',
  bcdDevice: 'hex',
  classCode: 'hex',
  subclassCode: 'hex',
  protocolCode: 'hex',
  peripheralIcon: 'number',
  occurredUncertaintyMs: 'number',
  intervalMinutes: 'number',
  durationMs: 'number',
  port: 'number',
}

type AnySchema = TSchema & { type?: string; anyOf?: TSchema[]; format?: string; examples?: unknown[] }

const timeForm = (schema: AnySchema): CellForm | undefined => {
  const example = String(schema.examples?.[0])
  if (schema.format === 'date-time') return 'time'
  if (/^\d{4}-\d\d-\d\dT/.test(example)) return example.endsWith('Z') ? 'time' : 'zoneless'
  return (schema.anyOf ?? []).map((one) => timeForm(one)).find((form) => form !== undefined)
}

/** Returns the name of a column. `isGraded`: its severity rates a host or device, not an event. */
export const columnName = (key: string, isGraded = true): string => {
  if (key === 'severity') return isGraded ? 'Finding' : 'Severity (number)'
  const known = names[key]
  if (known !== undefined) return known
  const text = key.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase()
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const labelOf = (key: string, schema: AnySchema, isGraded: boolean): ColumnLabel => {
  const name = columnName(key, isGraded)
  const labels = key === 'severity' && isGraded ? findingLabels : codeLabels[key]
  const form =
    labels !== undefined ? 'code' : (forms[key] ?? timeForm(schema) ?? (schema.type === 'boolean' ? 'truth' : 'plain'))
  const unit = form === 'time' || form === 'zoneless' ? ' (UTC)' : form === 'share' ? ' (%)' : ''
  return { name, heading: `${name}${unit}`, form, labels: labels ?? {} }
}

/** Returns the labels of the columns of a row, by key. */
export const columnLabels = (row: TObject): Readonly<Record<string, ColumnLabel>> => {
  // A severity with a name next to it is a syslog severity.
  const isGraded = !('severityString' in row.properties)
  return Object.fromEntries(
    Object.entries(row.properties).map(([key, schema]) => [key, labelOf(key, schema as AnySchema, isGraded)]),
  )
}
