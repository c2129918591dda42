import { type Static, Type } from 'typebox'
import { booleanFilter, numberFilter, tagsFilter, textFilter, vendorFilter } from './filters.ts'
import { closed, listQuery, nullable, operation, page, zonelessTime } from './operation.ts'

/** Icon numbers and their names, fixed. */
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
  id: Type.String({ description: 'CVE or advisory.' }),
  weakness: Type.String(),
  cvss: Type.Union([Type.Number(), Type.Null()], { description: 'Base score where the source gives one.' }),
  confidence: Type.Enum(['firmware', 'model', 'family'], {
    description: 'What the match rests on: the firmware revision, the model, or its family.',
  }),
  firmwareCondition: Type.String({ description: 'Which firmware is affected, in words; empty when all.' }),
  source: Type.String(),
})
export type Vulnerability = Static<typeof Vulnerability>

export const RiskFactor = closed({
  factor: Type.String({ description: 'What raises the risk.' }),
  points: Type.Integer({ description: 'Its share of the score.' }),
  evidence: Type.String({ description: 'What was seen, in words.' }),
})
export type RiskFactor = Static<typeof RiskFactor>

/** One attachment point on a host with what its descriptors say. Keys up to `hashtags` are fixed. */
export const Peripheral = closed({
  uuid: Type.String({ description: 'uuid of its agent.' }),
  hostIdentifier: Type.String(),
  hostIp: Type.String(),
  deviceID: Type.String({ description: 'USB\\VID_vvvv&PID_pppp\\<serial, else port path>; unique on its host.' }),
  description: Type.String(),
  status: Type.String({ description: '`OK`, `Blocked` or `Gone`.' }),
  manufacturer: Type.String({ description: 'As the device says.' }),
  caption: Type.String({ description: 'Product as the device says, else by usb.ids.' }),
  vid: hex4('Vendor id'),
  pid: hex4('Product id'),
  serialNumber: Type.String({ description: 'Empty when the device has none.' }),
  classCode: Type.String({ description: 'Class of the interface that decided the kind, two hex digits.' }),
  subclassCode: Type.String(),
  uniqueSerial: Type.Boolean({
    description:
      'The device has a unique serial number. It is not a placeholder (`000000`, `1.0`), and no device with the same ids has it on another host.',
  }),
  guiSerial: Type.String({ description: 'Serial number for people.' }),
  devIcon: Type.Integer({ description: 'Number of the icon.' }),
  devIconDescription: Type.String({ description: 'Name of the icon.' }),
  protocolCode: Type.String(),
  hierarchy: Type.String({ description: 'Port path as text, for example `1-3.2`.' }),
  isDisabled: Type.Boolean({ description: 'The kernel keeps it from being used.' }),
  approved: Type.Boolean(),
  present: Type.Boolean(),
  guiVid: Type.String({ description: 'Vendor name.' }),
  guiPid: Type.String({ description: 'Product name.' }),
  parentDeviceID: nullable(Type.String(), {
    description: 'deviceID of the hub it is attached to; null when it has no parent.',
  }),
  isUnapprovedPeripherals: Type.Boolean({ description: 'The spelling is fixed.' }),
  isVulnerablePeripheral: Type.Boolean(),
  isKnownAttackTool: Type.Boolean({ description: 'Suspected or confirmed.' }),
  severity: Type.Integer({
    description: '10 nothing to see, 20 unapproved, 30 vulnerable, 40 suspected attack tool, 50 confirmed.',
  }),
  inAction: Type.Boolean(),
  vulnerability: Type.String({ description: 'Findings in words, `; ` between them; empty when none.' }),
  configManagerErrorCode: Type.Integer({ description: 'Always -1 outside Windows.' }),
  adminStatus: Type.Enum(['', 'WLM', 'WLA', 'BLM'], {
    description: 'WLM approved by hand, WLA by a rule, BLM denied by hand.',
  }),
  fpData: Type.String({ description: 'Exact fingerprint.' }),
  lesserFpData: Type.String({ description: 'Fingerprint without revision.' }),
  agentServiceVersion: Type.String(),
  hashtags: Type.String({ description: 'Tag names joined by commas.' }),
  decision: Type.Enum(['allow', 'block'], {
    description:
      'What an armed host does with it; a free host blocks nothing, and the decision is recorded all the same.',
  }),
  decisionReason: Type.String({ description: 'Why, in a sentence.' }),
  rule: Type.String({ description: 'Rule, grant or default that decided.' }),
  firstSeen: zonelessTime('First attachment seen.'),
  lastSeen: zonelessTime('When it was attached last or, once gone, when it was seen to be gone.'),
  interfaces: Type.String({ description: 'class:subclass:protocol of each interface.' }),
  bcdDevice: Type.String({ pattern: '^[0-9A-F]{4}$', description: 'Revision the device states, four hex digits.' }),
  speed: Type.Number({ description: 'Mbit/s; 0 when unknown.' }),
  fingerprint: Type.String({
    description:
      'Fingerprint that rules name: without revision, of what the kernel shows before a device is authorised.',
  }),
  caseNumber: Type.String({ description: 'What the user of the host reads when it is blocked; empty before.' }),
  guard: Type.String({
    description:
      'Why it works on an armed host although the decision is block: present, recent, last-keyboard, boot-disk, unblockable; else empty.',
  }),
  driverMismatch: Type.String({
    description:
      'What the device claims to be and which driver the kernel bound, if they contradict each other (`claims hub, bound rtl8150`); otherwise empty.',
  }),
  enforcedVersion: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Version of the policy the host decided by; null where it enforces nothing.',
  }),
  policyVersion: Type.Integer({
    description:
      'Version of the policy by which the decision holds: that of the host where it enforces, else the newest.',
  }),
  attackTool: Type.String({ description: 'Empty, `suspected` or `confirmed`.' }),
  evidence: Type.Array(Type.String(), { description: 'Why it is taken for an attack tool, in words.' }),
  vulnerabilities: Type.Array(Vulnerability),
  riskScore: Type.Integer({ minimum: 0, maximum: 100, description: 'Sum of its risk factors, at most 100.' }),
  riskFactors: Type.Array(RiskFactor, { description: 'The weightiest first.' }),
})
export type Peripheral = Static<typeof Peripheral>

/** Filters of the peripherals list. */
export const peripheralFilters = {
  hostIdentifier: textFilter('hostIdentifier'),
  ipAddress: textFilter('hostIp'),
  hostUuid: textFilter('uuid'),
  vendor: vendorFilter('Vendor'),
  productInfo: textFilter('guiPid, or product as the device says'),
  serialNumber: textFilter('serialNumber'),
  isUnapprovedPeripheral: booleanFilter('isUnapprovedPeripherals'),
  isVulnerablePeripheral: booleanFilter('isVulnerablePeripheral'),
  isKnownAttackTool: booleanFilter('isKnownAttackTool'),
  vid: textFilter('vid'),
  pid: textFilter('pid'),
  devIcon: numberFilter('devIcon'),
  present: booleanFilter('present'),
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
  summary: 'Lists peripherals of all hosts, present and gone',
  description: 'Default order: lastSeen_desc.',
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
  summary: 'Lists peripherals of one agent',
  permission: 'fleet:read',
  params: closed({ uuid: Type.String({ minLength: 1, maxLength: 128 }) }),
  query: closed({ ...peripheralFilters, ...lowerPaging }),
  response: page(Peripheral),
  responseKind: 'list',
})

export const PeripheralModel = closed({
  vid: hex4('Vendor id'),
  pid: hex4('Product id'),
  guiVid: Type.String(),
  guiPid: Type.String(),
  devIcon: Type.Integer(),
  devIconDescription: Type.String(),
  agentsCount: Type.Integer({ description: 'Hosts it is present on.' }),
  peripheralsCount: Type.Integer({ description: 'Present devices.' }),
  isVulnerablePeripheral: Type.Boolean(),
  isKnownAttackTool: Type.Boolean(),
  severity: Type.Integer(),
  firstSeen: zonelessTime('First attachment anywhere.'),
  lastSeen: zonelessTime('Last attachment anywhere.'),
})
export type PeripheralModel = Static<typeof PeripheralModel>

export const getPeripheralModels = operation({
  id: 'getPeripheralModels',
  method: 'GET',
  path: '/prime/webui/peripherals/models',
  tag: 'Peripherals',
  summary: 'Lists peripherals by model (vendor and product id)',
  description: 'Default order: agentsCount_desc.',
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
