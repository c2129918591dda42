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
import { evidenceGaps, type MissingEvidence } from './missing-evidence.ts'

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

const hex4 = (description: string) =>
  Type.String({ pattern: '^[0-9A-F]{4}$', description: `${description}, four upper-case hex digits.` })

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
  uuid: Type.String({ description: 'UUID of the host.' }),
  hostIdentifier: Type.String(),
  hostIp: Type.String(),
  deviceID: Type.String({
    description:
      'ID of the device, unique on its host: `USB\\VID_vvvv&PID_pppp\\` and the serial number or, without one, a hash of the location of the USB controller and the chain of ports. A stored device keeps its ID.',
  }),
  description: Type.String(),
  status: Type.String({ description: '`OK`, `Blocked` or `Gone`.' }),
  manufacturer: Type.String({ description: 'Manufacturer that the device reports.' }),
  caption: Type.String({ description: 'Product name that the device reports, otherwise the name in usb.ids.' }),
  vid: hex4('Vendor ID (VID)'),
  pid: hex4('Product ID (PID)'),
  serialNumber: Type.String({
    description: 'Serial number, with hidden characters as `%07` or `%u200B`. Empty if the device has none.',
  }),
  classCode: Type.String({ description: 'Class of the interface that determined the kind, two hex digits.' }),
  subclassCode: Type.String(),
  uniqueSerial: Type.Boolean({
    description:
      'True if the serial number is unique. It is not a placeholder (`000000`, `1.0`), and no device of any model has it on another host.',
  }),
  guiSerial: Type.String({ description: 'Serial number for display.' }),
  devIcon: Type.Integer({ description: 'Number of the icon.' }),
  devIconDescription: Type.String({ description: 'Name of the icon.' }),
  protocolCode: Type.String(),
  hierarchy: Type.String({ description: 'Port path, for example `1-3.2`.' }),
  isDisabled: Type.Boolean({ description: 'True if the kernel blocks the device.' }),
  approved: Type.Boolean(),
  present: Type.Boolean(),
  guiVid: Type.String({ description: 'Vendor name.' }),
  guiPid: Type.String({ description: 'Product name.' }),
  parentDeviceID: nullable(Type.String(), {
    description: '`deviceID` of the hub that the device is attached to. `null` for a device at a root port.',
  }),
  isUnapprovedPeripherals: Type.Boolean({
    description: 'True if the device is not on the allowlist. The spelling is fixed.',
  }),
  isVulnerablePeripheral: Type.Boolean(),
  isKnownAttackTool: Type.Boolean({ description: 'True if the device is a suspected or confirmed attack tool.' }),
  severity: Type.Integer({
    description:
      '10 no finding, 20 not on the allowlist, 30 vulnerable, 40 suspected attack tool, 50 confirmed attack tool.',
  }),
  inAction: Type.Boolean(),
  vulnerability: Type.String({ description: 'Findings as text, separated by `; `. Empty if there are none.' }),
  configManagerErrorCode: Type.Integer({ description: 'Always -1 outside Windows.' }),
  adminStatus: Type.Enum(['', 'WLM', 'WLA', 'BLM'], {
    description: '`WLM`: approved manually. `WLA`: allowed by a rule. `BLM`: denied manually.',
  }),
  fpData: Type.String({ description: 'Exact fingerprint.' }),
  lesserFpData: Type.String({ description: 'Fingerprint without the revision.' }),
  agentServiceVersion: Type.String(),
  hashtags: Type.String({ description: 'Names of tags, separated by commas.' }),
  decision: Type.Enum(['allow', 'block'], {
    description: 'Decision of the policy. A Free host blocks nothing, but the decision is still recorded.',
  }),
  decisionReason: Type.String({ description: 'Reason for the decision, as a sentence.' }),
  rule: Type.String({ description: 'Rule, grant or default that made the decision.' }),
  firstSeen: zonelessTime('Time of the first attachment.'),
  lastSeen: zonelessTime('Time of the last attachment or, for a detached device, of its removal.'),
  interfaces: Type.String({ description: 'USB interfaces, each as class:subclass:protocol.' }),
  bcdDevice: Type.String({
    pattern: '^[0-9A-F]{4}$',
    description: 'Revision that the device reports, four hex digits.',
  }),
  speed: Type.Number({ description: 'Speed in Mbit/s. 0 if unknown.' }),
  fingerprint: Type.String({
    description:
      'Fingerprint for rules, without the revision. It covers only data that the kernel exposes before a device is authorised.',
  }),
  caseNumber: Type.String({
    description: 'Case number that the user of the host sees if the device is blocked. Empty before that.',
  }),
  guard: Type.String({
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
    description: 'Version of the policy with which the host decided. `null` if the host enforces nothing.',
  }),
  policyVersion: Type.Integer({
    description:
      'Version of the policy for the decision: the version on the host if it enforces, otherwise the newest.',
  }),
  attackTool: Type.String({ description: 'Empty, `suspected` or `confirmed`.' }),
  evidence: Type.Array(Type.String(), {
    description:
      'Evidence that the device is an attack tool, as text. Without a finding: warnings about what the device claims to be.',
  }),
  acceptance: Type.Union([Acceptance, Type.Null()], {
    description: 'The acceptance of a suspected finding about this device. `null` if none was accepted.',
  }),
  missingEvidence: Type.Array(Type.Enum(Object.keys(evidenceGaps) as MissingEvidence[]), {
    uniqueItems: true,
    description: `Evidence that the verdict could not examine, because the report of the host does not contain it. Empty if everything was examined. ${Object.entries(
      evidenceGaps,
    )
      .map(([key, text]) => `\`${key}\`: ${text}`)
      .join(' ')}`,
  }),
  vulnerabilities: Type.Array(Vulnerability),
  riskScore: Type.Integer({ minimum: 0, maximum: 100, description: 'Sum of the risk factors, at most 100.' }),
  riskFactors: Type.Array(RiskFactor, { description: 'Risk factors, highest first.' }),
})
export type Peripheral = Static<typeof Peripheral>

/** Filters of the list of devices. */
export const peripheralFilters = {
  hostIdentifier: textFilter('hostIdentifier'),
  ipAddress: textFilter('hostIp'),
  hostUuid: textFilter('uuid'),
  vendor: vendorFilter('Vendor'),
  productInfo: textFilter('guiPid or the product name that the device reports'),
  serialNumber: textFilter('serialNumber'),
  isUnapprovedPeripheral: booleanFilter('isUnapprovedPeripherals'),
  isVulnerablePeripheral: booleanFilter('isVulnerablePeripheral'),
  isKnownAttackTool: booleanFilter('isKnownAttackTool'),
  vid: textFilter('vid'),
  pid: textFilter('pid'),
  devIcon: numberFilter('devIcon'),
  present: booleanFilter('present'),
  firstSeen: timeFilter('firstSeen'),
  hashtags: tagsFilter('hashtags'),
}

const lowerPaging = {
  PageNumber: listQuery.PageNumber,
  PageSize: listQuery.PageSize,
  SortBy: listQuery.SortBy,
  globalSearch: listQuery.GlobalSearch,
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
  vid: hex4('Vendor ID (VID)'),
  pid: hex4('Product ID (PID)'),
  guiVid: Type.String(),
  guiPid: Type.String(),
  devIcon: Type.Integer(),
  devIconDescription: Type.String(),
  agentsCount: Type.Integer({ description: 'Number of hosts that the model is attached to.' }),
  peripheralsCount: Type.Integer({ description: 'Number of attached devices.' }),
  isVulnerablePeripheral: Type.Boolean(),
  isKnownAttackTool: Type.Boolean(),
  severity: Type.Integer(),
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
  query: closed({
    vid: peripheralFilters.vid,
    pid: peripheralFilters.pid,
    vendor: peripheralFilters.vendor,
    productInfo: textFilter('guiPid'),
    devIcon: peripheralFilters.devIcon,
    isVulnerablePeripheral: peripheralFilters.isVulnerablePeripheral,
    isKnownAttackTool: peripheralFilters.isKnownAttackTool,
    ...lowerPaging,
  }),
  response: page(PeripheralModel),
  responseKind: 'list',
})
