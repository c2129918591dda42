/**
 * Words of a PDF, which people read without the interface beside it: the headings of the console where it has the column,
 * else words of the same kind. A key that is not here is split into its words.
 */
const headings: Readonly<Record<string, string>> = {
  // Hosts.
  uuid: 'Id of the host',
  hostIdentifier: 'Host',
  localIpAddress: 'Address',
  hostIp: 'Address',
  operationalStatus: 'Mode',
  approvedAndPresent: 'Approved, attached',
  approvedAndDisconnected: 'Approved, gone',
  latestMinus1EventText: 'Event before',
  latestMinus2EventText: 'Second event before',
  latestEventText: 'Latest event',
  serviceVersion: 'Agent version',
  agentServiceVersion: 'Agent version',
  lastUpdated: 'Last seen',
  licenseStatus: 'Licence',
  licenseAccountId: 'Licence account id',
  licenseAccountName: 'Licence account',
  expirationDate: 'Licence ends',
  lastConfiguered: 'Last configured',
  kbDriverVersion: 'Driver version',
  hasUnapprovedPeripherals: 'Has not approved devices',
  hasVulnerablePeripherals: 'Has vulnerable devices',
  hasKnownAttackTools: 'Has attack tools',
  displayStatusCombined: 'Status',
  inAction: 'Command pending',
  pcModel: 'Computer',
  nicsText: 'Network interfaces',
  modelToolTip: 'Model, in full',
  containsVulnerablePeripheralOrWLV: 'Vulnerable or whitelist violation',
  osVersion: 'Operating system',
  connectedSwitchIp: 'Switch address',
  connectedSwitchName: 'Switch',
  connectedPortId: 'Switch port',
  connectedPortName: 'Switch port name',
  ethernetsCount: 'Network interfaces, count',
  hashtags: 'Tags',
  deploymentMode: 'Deployment',
  riskScore: 'Risk',
  clockSkewSeconds: 'Clock off by (s)',
  lastErrorTime: 'Last error at',
  // Devices and models.
  deviceID: 'Device id',
  caption: 'Device',
  vid: 'Vendor id',
  pid: 'Product id',
  guiVid: 'Vendor',
  guiPid: 'Product',
  serial: 'Serial number',
  guiSerial: 'Serial number, shown',
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
  parentDeviceID: 'Parent device id',
  isUnapprovedPeripherals: 'Not approved',
  isVulnerablePeripheral: 'Vulnerable',
  isKnownAttackTool: 'Attack tool',
  attackTool: 'Attack tool, how sure',
  configManagerErrorCode: 'Error code (Windows)',
  adminStatus: 'List',
  fpData: 'Fingerprint, exact',
  lesserFpData: 'Fingerprint without revision',
  bcdDevice: 'Revision',
  speed: 'Speed (Mbit/s)',
  enforcedVersion: 'Policy version of the host',
  agentsCount: 'Hosts',
  peripheralsCount: 'Devices',
  approvedCount: 'Approved',
  share: 'Share of hosts',
  enforced: 'Kept from working',
  vulnerability: 'Findings in words',
  vulnerabilities: 'Advisories',
  hosts: 'Names of hosts',
  // Events and the trail.
  eventID: 'Event',
  auditTrailID: 'Record',
  creationTime: 'Time',
  eventCode: 'Code',
  eventEntityID: 'About',
  entity: 'About',
  severityString: 'Severity',
  userName: 'User',
  sourceIp: 'From address',
  // Rules.
  id: 'Rule',
  host: 'Host id',
  expiresAt: 'Ends',
  overrideAttackTool: 'Lets an attack tool in',
  // Computers without an agent.
  computerName: 'Computer',
  hasPassword: 'Password set',
  hasPrivateKey: 'Private key set',
  hasPassphrase: 'Passphrase set',
  hostKeyFingerprint: 'Host key',
  intervalMinutes: 'Polled every (min)',
  isOverrideDefaults: 'Own credentials',
  isRegistered: 'Has a host',
  isConfirmed: 'Confirmed',
  statusString: 'Status',
  statusDescription: 'Status in words',
  statusErrorDescription: 'Error',
  prevRunningErrors: 'Errors before',
  startTime: 'Began',
  endTime: 'Ended',
  durationMs: 'Duration (ms)',
  failures: 'Failures in a row',
}

/** Heading of a column. `graded`: its severity is what was found on a host or device, not that of an event. */
export const headingOf = (key: string, graded: boolean): string => {
  if (key === 'severity') return graded ? 'Finding' : 'Severity (number)'
  const known = headings[key]
  if (known !== undefined) return known
  const words = key.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase()
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** What is found on a host or device, by its number. */
const grades: Readonly<Record<string, string>> = {
  50: 'confirmed attack tool',
  40: 'suspected attack tool',
  30: 'vulnerable',
  20: 'not approved',
  10: 'nothing',
}
export const gradeWords = (number: string): string => grades[number] ?? number

/** How a cell is written for people. */
export type CellForm = 'plain' | 'time' | 'share' | 'grade' | 'truth'

const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z?$/

/** A cell in words; what is not of the form stays as it is. */
export const cellWords = (form: CellForm, text: string): string => {
  if (text === '') return text
  switch (form) {
    case 'time': {
      const [, day, at] = time.exec(text) ?? []
      return day === undefined ? text : `${day} ${at}`
    }
    case 'share': {
      const share = Number(text)
      // A fleet of a million has shares below a tenth of a percent.
      return Number.isFinite(share) ? `${Number((share * 100).toPrecision(share < 0.001 ? 1 : 3))} %` : text
    }
    case 'grade':
      return gradeWords(text)
    case 'truth':
      return text === 'true' ? 'yes' : text === 'false' ? 'no' : text
    default:
      return text
  }
}
