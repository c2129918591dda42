/**
 * Lists the measured pages of the agents list: every sortable column, every kind of filter, searches and deep pages.
 */

export interface Combination {
  name: string
  query: string
  /** True if the page excludes some hosts. */
  isFiltered: boolean
}

/** Columns whose order the product reads from an index or sorts in narrow rows. */
const sorts =
  `hostIdentifier localIpAddress uuid operationalStatus connectionStatus displayStatusCombined approvedAndPresent
  approvedAndDisconnected notApproved serviceVersion lastUpdated licenseStatus expirationDate lastConfiguered severity
  hasUnapprovedPeripherals hasVulnerablePeripherals hasKnownAttackTools inAction containsVulnerablePeripheralOrWLV osVersion
  ethernetsCount hashtags deploymentMode riskScore firstSeen`.split(/\s+/)

const filters: readonly (readonly [string, string])[] = [
  ['search, 1 character', 'GlobalSearch=7'],
  ['search, 2 characters', 'GlobalSearch=12'],
  ['search, 3 characters', 'GlobalSearch=lat'],
  ['search, a host name', 'GlobalSearch=kiosk-0042'],
  ['search, an address', 'GlobalSearch=10.30.7.'],
  ['search, a word of most hosts', 'GlobalSearch=ubuntu'],
  ['search, nothing found', 'GlobalSearch=zzzzzz'],
  ['search, two words', 'GlobalSearch=latitude%207420'],
  ['Hashtags=kiosk', 'Hashtags=kiosk'],
  ['Hashtags=office,project-007', 'Hashtags=office,project-007'],
  ['Hashtags=project-007', 'Hashtags=project-007'],
  ['HostIdentifier=042', 'HostIdentifier=042'],
  ['IpAddress=10.30', 'IpAddress=10.30'],
  ['Status=Disconnected', 'Status=Disconnected'],
  ['Status=Armed,Pending', 'Status=Armed,Pending'],
  ['Severity>=30', 'Severity=%3E%3D30'],
  ['HasKnownAttackTools', 'HasKnownAttackTools=true'],
  ['HasVulnerablePeripherals', 'HasVulnerablePeripherals=true'],
  ['ContainsVulnerablePeripheralOrWLV', 'ContainsVulnerablePeripheralOrWLV=Vulnerable,WLV'],
  ['Version=0.0.', 'Version=0.0.'],
  ['OsVersion=debian', 'OsVersion=debian'],
  ['License=Invalid', 'License=Invalid'],
  ['DeploymentMode=Agentless', 'DeploymentMode=Agentless'],
  ['LastUpdated=..now', 'LastUpdated=..2026-01-01'],
  ['LastConfiguration=this year', 'LastConfiguration=2026-01-01..'],
]

const mixes: readonly (readonly [string, string])[] = [
  ['page 100', 'PageNumber=100'],
  ['page in the middle', 'PageNumber=1000'],
  ['host, page in the middle', 'PageNumber=1000&SortBy=hostIdentifier_desc'],
  ['os + armed, by host', 'OsVersion=ubuntu&Status=Armed&SortBy=hostIdentifier_asc'],
  ['tag + vulnerable, by risk', 'Hashtags=engineering&HasVulnerablePeripherals=true&SortBy=riskScore_desc'],
  ['search + connected, by last check-in', 'GlobalSearch=latitude&Status=Connected&SortBy=lastUpdated_desc'],
  ['search + tag + severity', 'GlobalSearch=off-&Hashtags=office&Severity=30&SortBy=firstSeen_desc'],
  ['disconnected, by last check-in', 'Status=Disconnected&SortBy=lastUpdated_asc'],
]

/** All measured pages, 50 rows each. */
export const combinations: readonly Combination[] = [
  { name: 'default', query: '' },
  ...sorts.map((key) => ({ name: `by ${key}`, query: `SortBy=${key}_desc` })),
  ...[...filters, ...mixes].map(([name, query]) => ({ name, query })),
].map(({ name, query }) => ({
  name,
  query: `PageSize=50${query === '' ? '' : `&${query}`}`,
  isFiltered: query.split('&').some((one) => one !== '' && !/^(?:SortBy|PageNumber)=/.test(one)),
}))
