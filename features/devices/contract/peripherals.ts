import { evidenceGaps, type MissingEvidence } from '@portcullis/contract/missing-evidence.ts'
import {
  booleanFilter,
  numberFilter,
  tagsFilter,
  textFilter,
  timeFilter,
  vendorFilter,
} from '@portcullis/platform/contract/filters.ts'
import { closed, listQuery, nullable, operation, page, zonelessTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { Acceptance } from './accepted-findings.ts'
import { policyStateLabels, policyStates } from './policy-state.ts'

/** Icon numbers and names. They are fixed. */
export const icons = {
  0: 'NO_DEV',
  1: 'Keyboard',
  2: 'Mouse',
  3: 'Mass Storage',
  4: 'Hub',
  5: 'Network',
  6: 'Audio',
  7: 'Video',
  8: 'Printer',
  9: 'Wireless',
  10: 'Smart Card',
  11: 'Phone',
  12: 'Communication',
  13: 'Imaging',
  14: 'HID',
  15: 'Biometric',
  16: 'Billboard',
  17: 'Firmware Update',
  18: 'Tablet',
  19: 'Touchscreen',
  20: 'Modem',
  21: 'Security Key',
  22: 'Game Controller',
  23: 'UPS',
  24: 'Sensor',
  25: 'Media Control',
  26: 'Barcode Scanner',
  98: 'Unknown',
} as const

/** Labels of the highest finding of a host, device or model. */
export const findingLabels: Readonly<Record<string, string>> = {
  50: 'Confirmed attack tool',
  40: 'Suspected attack tool',
  30: 'Vulnerable',
  20: 'Not on the allowlist',
  10: 'No findings',
}

/** Labels of `devIconDescription`. */
export const kindCodes: Readonly<Record<string, string>> = { NO_DEV: 'None' }

/** The filter by the kind of a device. */
const kindFilter = numberFilter('devIcon', {
  label: 'Kind',
  values: Object.keys(icons).filter((icon) => icon !== '0'),
  labels: icons,
})

const hex4 = (description: string, options: Record<string, unknown>) =>
  Type.String({ pattern: '^[0-9A-F]{4}$', description: `${description}, four upper-case hex digits.`, ...options })

export const Vulnerability = closed({
  id: Type.String({ description: 'CVE ID or advisory.' }),
  weakness: Type.String(),
  cvss: Type.Union([Type.Number(), Type.Null()], { description: 'CVSS base score. `null` if the source gives none.' }),
  confidence: Type.Enum(['firmware', 'model', 'family'], {
    description: 'Basis of the match: the firmware revision, the model, or its family.',
  }),
  firmwareCondition: Type.String({ description: 'Affected firmware, as text. Empty if all versions are affected.' }),
  source: Type.String(),
})
export type Vulnerability = Static<typeof Vulnerability>

export const RiskFactor = closed({
  factor: Type.String({ description: 'Factor that increases the risk.' }),
  points: Type.Integer({ description: 'Points that the factor adds to the score.' }),
  evidence: Type.String({ description: 'Evidence, as text.' }),
})
export type RiskFactor = Static<typeof RiskFactor>

/** A device on a host. Keys up to `hashtags` are fixed. */
export const Peripheral = closed({
  uuid: Type.String({ 'x-label': 'Host ID', description: 'UUID of the host.' }),
  hostIdentifier: Type.String({ 'x-label': 'Host' }),
  hostIp: Type.String({ 'x-label': 'Address' }),
  deviceID: Type.String({
    'x-label': 'Device ID',
    description:
      'ID of the device, unique on its host: `USB\\VID_vvvv&PID_pppp\\` and the serial number or, without one, a hash of the location of the USB controller and the chain of ports. A stored device keeps its ID.',
  }),
  description: Type.String(),
  status: Type.String({ 'x-labels': { OK: 'Attached', Gone: 'Detached' }, description: '`OK`, `Blocked` or `Gone`.' }),
  manufacturer: Type.String({ description: 'Manufacturer that the device reports.' }),
  caption: Type.String({
    'x-label': 'Device',
    description: 'Product name that the device reports, otherwise the name in usb.ids.',
  }),
  vid: hex4('Vendor ID (VID)', { 'x-label': 'Vendor ID', 'x-form': 'hex' }),
  pid: hex4('Product ID (PID)', { 'x-label': 'Product ID', 'x-form': 'hex' }),
  serialNumber: Type.String({
    description: 'Serial number, with hidden characters as `%07` or `%u200B`. Empty if the device has none.',
  }),
  classCode: Type.String({
    'x-label': 'Class',
    'x-form': 'hex',
    description: 'Class of the interface that determined the kind, two hex digits.',
  }),
  subclassCode: Type.String({ 'x-label': 'Subclass', 'x-form': 'hex' }),
  uniqueSerial: Type.Boolean({
    'x-label': 'Serial number is unique',
    description:
      'True if the serial number is unique. It is not a placeholder (`000000`, `1.0`), and no device of any model has it on another host.',
  }),
  guiSerial: Type.String({ 'x-label': 'Serial number (displayed)', description: 'Serial number for display.' }),
  devIcon: Type.Integer({ 'x-label': 'Kind (number)', description: 'Number of the icon.' }),
  devIconDescription: Type.String({ 'x-label': 'Kind', 'x-labels': kindCodes, description: 'Name of the icon.' }),
  protocolCode: Type.String({ 'x-label': 'Protocol', 'x-form': 'hex' }),
  hierarchy: Type.String({ 'x-label': 'Port', description: 'Port path, for example `1-3.2`.' }),
  isDisabled: Type.Boolean({ 'x-label': 'Disabled', description: 'True if the kernel blocks the device.' }),
  approved: Type.Boolean(),
  present: Type.Boolean({ 'x-label': 'Attached' }),
  guiVid: Type.String({ 'x-label': 'Vendor', description: 'Vendor name.' }),
  guiPid: Type.String({ 'x-label': 'Product', description: 'Product name.' }),
  parentDeviceID: nullable(Type.String(), {
    'x-label': 'Parent device ID',
    description: '`deviceID` of the hub that the device is attached to. `null` for a device at a root port.',
  }),
  isUnapprovedPeripherals: Type.Boolean({
    'x-label': 'Not on the allowlist',
    description:
      'True if the device is attached, an allowlist applies to its host (it is armed, or a rule allows devices on it), and the policy does not allow the device. The spelling is fixed.',
  }),
  isVulnerablePeripheral: Type.Boolean({ 'x-label': 'Vulnerable' }),
  isKnownAttackTool: Type.Boolean({
    'x-label': 'Attack tool',
    description: 'True if the device is a suspected or confirmed attack tool.',
  }),
  severity: Type.Integer({
    'x-label': 'Finding',
    'x-labels': findingLabels,
    description:
      '10 no finding, 20 not on the allowlist, 30 vulnerable, 40 suspected attack tool, 50 confirmed attack tool.',
  }),
  inAction: Type.Boolean({ 'x-label': 'Command pending' }),
  vulnerability: Type.String({
    'x-label': 'Findings',
    description: 'Findings as text, separated by `; `. Empty if there are none.',
  }),
  configManagerErrorCode: Type.Integer({
    'x-label': 'Error code (Windows)',
    description: 'Always -1 outside Windows.',
  }),
  adminStatus: Type.Enum(['', 'WLM', 'WLA', 'BLM'], {
    'x-label': 'Approval',
    'x-labels': { WLM: 'Approved', WLA: 'Allowed by a rule', BLM: 'Denied' },
    description: '`WLM`: approved manually. `WLA`: allowed by a rule. `BLM`: denied manually.',
  }),
  fpData: Type.String({ 'x-label': 'Exact fingerprint', description: 'Exact fingerprint.' }),
  lesserFpData: Type.String({
    'x-label': 'Fingerprint without revision',
    description: 'Fingerprint without the revision.',
  }),
  agentServiceVersion: Type.String({ 'x-label': 'Agent version' }),
  hashtags: Type.String({ 'x-label': 'Tags', 'x-form': 'tags', description: 'Names of tags, separated by commas.' }),
  decision: Type.Enum(['allow', 'block'], {
    'x-labels': { allow: 'Allowed', block: 'Not allowed' },
    description: 'Decision of the policy. A Free host blocks nothing, but the decision is still recorded.',
  }),
  policyState: Type.Enum(policyStates, {
    'x-label': 'Policy state',
    'x-labels': policyStateLabels,
    description:
      'What the policy does with the device on its host. `allowed`: it may work. `blocked`: the host keeps it from working. Otherwise, the policy does not allow it, because it is an attack tool (`attackTool`), a rule denies it (`denied`), no rule allows it (`notListed`), or no allowlist applies to its Free host (`noAllowlist`). The suffix says what happens to it. No suffix: the host is Free and blocks nothing. `Waiting`: an armed host has not fetched the newest rules. `Works`: an armed host lets it work, see `guard`. `Gone`: it is detached.',
  }),
  decisionReason: Type.String({ description: 'Reason for the decision, as a sentence.' }),
  rule: Type.String({ description: 'Rule, grant or default that made the decision.' }),
  firstSeen: zonelessTime('Time of the first attachment.'),
  lastSeen: zonelessTime('Time of the last attachment or, for a detached device, of its removal.'),
  interfaces: Type.String({ description: 'USB interfaces, each as class:subclass:protocol.' }),
  bcdDevice: Type.String({
    'x-label': 'Revision',
    'x-form': 'hex',
    pattern: '^[0-9A-F]{4}$',
    description: 'Revision that the device reports, four hex digits.',
  }),
  speed: Type.Number({ 'x-label': 'Speed (Mbit/s)', description: 'Speed in Mbit/s. 0 if unknown.' }),
  fingerprint: Type.String({
    description:
      'Fingerprint for rules, without the revision. It covers only data that the kernel exposes before a device is authorised.',
  }),
  reportedManufacturer: Type.String({
    'x-label': 'Manufacturer (as reported)',
    description:
      'Manufacturer with the hidden characters that the device reports, as `%07` or `%u200B`. Empty if there are none.',
  }),
  reportedProduct: Type.String({
    'x-label': 'Product name (as reported)',
    description:
      'Product name with the hidden characters that the device reports, as `%07` or `%u200B`. Empty if there are none.',
  }),
  caseNumber: Type.String({
    description: 'Case number that the user of the host sees if the device is blocked. Empty before that.',
  }),
  guard: Type.String({
    'x-labels': {
      present: 'Attached before the host was armed',
      recent: 'Worked at the same port a moment ago',
      'last-keyboard': 'Last keyboard of the host',
      'last-pointing-device': 'Last pointing device of the host',
      'bluetooth-input': 'Bluetooth adapter of keyboards or pointing devices',
      'boot-disk': 'Boot disk of the host',
      unblockable: 'The operating system refused to block it',
    },
    description:
      'Why the device works on an armed host although the decision is block: present, recent, last-keyboard, last-pointing-device, bluetooth-input, boot-disk or unblockable. Otherwise empty.',
  }),
  driverMismatch: Type.String({
    description:
      'Contradiction between the kind that the device claims and the driver that the kernel bound, for example `claims hub, bound rtl8150`. Otherwise empty.',
  }),
  unknownDriver: Type.String({
    description:
      'Drivers that the server does not know, with the kernel release of the host, for example `claims keyboard, bound the unknown driver hid-new (kernel 7.4.1)`. Otherwise empty.',
  }),
  notWorking: Type.String({
    description:
      'Why a device that the host does not block does not work: the kernel did not configure it, or interfaces stay closed. Otherwise empty.',
  }),
  isOverNetwork: Type.Boolean({
    description: 'True if the host imports the device over the network (USB/IP).',
  }),
  enforcedVersion: Type.Union([Type.Integer(), Type.Null()], {
    'x-label': 'Policy version on the host',
    description: 'Version of the policy with which the host decided. `null` if the host enforces nothing.',
  }),
  policyVersion: Type.Integer({
    description:
      'Version of the policy for the decision: the version on the host if it enforces, otherwise the newest.',
  }),
  attackTool: Type.String({
    'x-label': 'Attack tool confidence',
    'x-labels': { suspected: 'Suspected', confirmed: 'Confirmed' },
    description: 'Empty, `suspected` or `confirmed`.',
  }),
  evidence: Type.Array(Type.String(), {
    description:
      'Evidence that the device is an attack tool, as text. Without a finding: warnings about what the device claims to be.',
  }),
  acceptance: Type.Union([Acceptance, Type.Null()], {
    description: 'The acceptance of a suspected finding about this device. `null` if none was accepted.',
  }),
  missingEvidence: Type.Array(Type.Enum(Object.keys(evidenceGaps) as MissingEvidence[]), {
    'x-label': 'Not examined',
    uniqueItems: true,
    description: `Evidence that the verdict could not examine, because the report of the host does not contain it. Empty if everything was examined. ${Object.entries(
      evidenceGaps,
    )
      .map(([key, text]) => `\`${key}\`: ${text}`)
      .join(' ')}`,
  }),
  vulnerabilities: Type.Array(Vulnerability),
  riskScore: Type.Integer({
    'x-label': 'Risk',
    minimum: 0,
    maximum: 100,
    description: 'Sum of the risk factors, at most 100.',
  }),
  riskFactors: Type.Array(RiskFactor, { description: 'Risk factors, highest first.' }),
})
export type Peripheral = Static<typeof Peripheral>

/** Filters of the list of devices. */
export const peripheralFilters = {
  hostIdentifier: textFilter('hostIdentifier', { label: 'Host name' }),
  ipAddress: textFilter('hostIp'),
  hostUuid: textFilter('uuid'),
  vendor: vendorFilter('Vendor', { of: 'guiVid' }),
  productInfo: textFilter('guiPid or the product name that the device reports', { of: 'guiPid', suggests: 'product' }),
  serialNumber: textFilter('serialNumber'),
  isUnapprovedPeripheral: booleanFilter('isUnapprovedPeripherals'),
  isVulnerablePeripheral: booleanFilter('isVulnerablePeripheral'),
  isKnownAttackTool: booleanFilter('isKnownAttackTool'),
  vid: textFilter('vid', { suggests: 'vid' }),
  pid: textFilter('pid', { suggests: 'pid' }),
  devIcon: kindFilter,
  present: booleanFilter('present'),
  firstSeen: timeFilter('firstSeen'),
  hashtags: tagsFilter('hashtags', { label: 'Tag' }),
}

/** Filters of the list of models. */
export const modelFilters = {
  vid: peripheralFilters.vid,
  pid: peripheralFilters.pid,
  vendor: peripheralFilters.vendor,
  productInfo: textFilter('guiPid', { suggests: 'product' }),
  devIcon: peripheralFilters.devIcon,
  isVulnerablePeripheral: peripheralFilters.isVulnerablePeripheral,
  isKnownAttackTool: peripheralFilters.isKnownAttackTool,
}

const lowerPaging = {
  PageNumber: listQuery.PageNumber,
  PageSize: listQuery.PageSize,
  SortBy: listQuery.SortBy,
  globalSearch: listQuery.GlobalSearch,
  query: listQuery.Query,
}

export const getPeripherals = operation({
  id: 'getPeripherals',
  method: 'GET',
  path: '/prime/webui/peripherals',
  tag: 'Peripherals',
  summary: 'Lists attached and detached devices of all hosts',
  description: 'The default order is `lastSeen_desc`.',
  permission: 'fleet:read',
  query: closed({ ...peripheralFilters, ...lowerPaging }),
  response: page(Peripheral),
  responseKind: 'list',
})

export const getAgentPeripherals = operation({
  id: 'getAgentPeripherals',
  method: 'GET',
  path: '/prime/webui/peripherals/{uuid}',
  tag: 'Peripherals',
  summary: 'Lists the devices of a host',
  permission: 'fleet:read',
  params: closed({ uuid: Type.String({ minLength: 1, maxLength: 128 }) }),
  query: closed({ ...peripheralFilters, ...lowerPaging }),
  response: page(Peripheral),
  responseKind: 'list',
})

export const PeripheralModel = closed({
  vid: hex4('Vendor ID (VID)', { 'x-label': 'Vendor ID', 'x-form': 'hex' }),
  pid: hex4('Product ID (PID)', { 'x-label': 'Product ID', 'x-form': 'hex' }),
  guiVid: Type.String({ 'x-label': 'Vendor' }),
  guiPid: Type.String({ 'x-label': 'Product' }),
  devIcon: Type.Integer({ 'x-label': 'Kind (number)' }),
  devIconDescription: Type.String({ 'x-label': 'Kind', 'x-labels': kindCodes }),
  agentsCount: Type.Integer({ 'x-label': 'Hosts', description: 'Number of hosts that the model is attached to.' }),
  peripheralsCount: Type.Integer({ 'x-label': 'Devices', description: 'Number of attached devices.' }),
  isVulnerablePeripheral: Type.Boolean({ 'x-label': 'Vulnerable' }),
  isKnownAttackTool: Type.Boolean({ 'x-label': 'Attack tool' }),
  severity: Type.Integer({ 'x-label': 'Finding', 'x-labels': findingLabels }),
  firstSeen: zonelessTime('First attachment on any host.'),
  lastSeen: zonelessTime('Last attachment on any host.'),
})
export type PeripheralModel = Static<typeof PeripheralModel>

export const getPeripheralModels = operation({
  id: 'getPeripheralModels',
  method: 'GET',
  path: '/prime/webui/peripherals/models',
  tag: 'Peripherals',
  summary: 'Lists devices by model (VID and PID)',
  description: 'The default order is `agentsCount_desc`.',
  permission: 'fleet:read',
  query: closed({ ...modelFilters, ...lowerPaging }),
  response: page(PeripheralModel),
  responseKind: 'list',
})
