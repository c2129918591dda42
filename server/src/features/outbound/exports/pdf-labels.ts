/**
 * Labels in PDFs, which people read without the console: the console's heading if it has the column, else one in the
 * same style. A key without an entry is split into its words.
 */
const headings: Readonly<Record<string, string>> = {
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
  hasUnapprovedPeripherals: 'Has unapproved devices',
  hasVulnerablePeripherals: 'Has vulnerable devices',
  hasKnownAttackTools: 'Has attack tools',
  displayStatusCombined: 'Status',
  inAction: 'Command pending',
  pcModel: 'Computer',
  nicsText: 'Network interfaces',
  modelToolTip: 'Full model name',
  containsVulnerablePeripheralOrWLV: 'Vulnerable or not on the allowlist',
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
  isUnapprovedPeripherals: 'Not approved',
  isVulnerablePeripheral: 'Vulnerable',
  isKnownAttackTool: 'Attack tool',
  attackTool: 'Attack tool confidence',
  configManagerErrorCode: 'Error code (Windows)',
  adminStatus: 'List',
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
  vulnerabilities: 'Advisories',
  hosts: 'Host names',
  // Events and the audit trail.
  eventID: 'Event',
  auditTrailID: 'Record',
  creationTime: 'Time',
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
  statusString: 'Status',
  statusDescription: 'Status description',
  statusErrorDescription: 'Error',
  prevRunningErrors: 'Previous errors',
  startTime: 'Started',
  endTime: 'Ended',
  durationMs: 'Duration (ms)',
  failures: 'Consecutive failures',
}

/** Returns the heading of a column. `graded`: the severity rates a host or device, not an event. */
export const headingOf = (key: string, graded: boolean): string => {
  if (key === 'severity') return graded ? 'Finding' : 'Severity (number)'
  const known = headings[key]
  if (known !== undefined) return known
  const text = key.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase()
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Ratings of a host or device by their number. */
const grades: Readonly<Record<string, string>> = {
  50: 'confirmed attack tool',
  40: 'suspected attack tool',
  30: 'vulnerable',
  20: 'not approved',
  10: 'none',
}
export const gradeText = (number: string): string => grades[number] ?? number

/** Format of a cell for people. */
export type CellForm = 'plain' | 'time' | 'share' | 'grade' | 'truth'

const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z?$/

/** Formats a cell for people. Text of another form stays unchanged. */
export const cellText = (form: CellForm, text: string): string => {
  if (text === '') return text
  switch (form) {
    case 'time': {
      const [, day, at] = time.exec(text) ?? []
      return day === undefined ? text : `${day} ${at}`
    }
    case 'share': {
      const share = Number(text)
      // A fleet of a million hosts has shares below a tenth of a percent.
      return Number.isFinite(share) ? `${Number((share * 100).toPrecision(share < 0.001 ? 1 : 3))} %` : text
    }
    case 'grade':
      return gradeText(text)
    case 'truth':
      return text === 'true' ? 'yes' : text === 'false' ? 'no' : text
    default:
      return text
  }
}
