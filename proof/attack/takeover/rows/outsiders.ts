import { detected, notApplicable, possible, type Row, refused } from '../cell.ts'

export const stranger: Row = {
  runProgram: refused(['authentication', 'agentReleaseKey']),
  freeHost: refused(['authentication', 'commandSignature']),
  allowDevice: refused(['authentication', 'policySignature']),
  readSecret: refused(['authentication']),
  impersonateHost: refused(['agentSession', 'enrolmentToken']),
  forgeEvent: refused(['agentSession', 'enrolmentToken']),
  forgeTrail: refused(['authentication']),
  denyService: detected(
    [
      'machineCredentialFirst',
      'boundedConnections',
      'countedReaders',
      'minimumRate',
      'boundedRequests',
      'countedLastReaders',
      'unreadBytes',
      'boundedDownloads',
      'survivedShortages',
      'namedLimits',
    ],
    'Thousands of slow readers from many addresses slow the server for others, and some requests of others fail (`npm run bench -- strangers`). For up to two seconds, clients that do not read can fill the kernel with up to 4 MB for each connection (for longer on other systems than Linux). Downloads of the agent can be used up; hosts retry, and packages come from a mirror. Metrics and the log name the limit. Filter floods in front of the server. Meanwhile, hosts keep enforcing their last policy.',
  ),
  lockOut: refused(['fairSignIn', 'accountGuesses']),
}

export const middle: Row = {
  runProgram: refused(['pinnedServer', 'agentReleaseKey', 'pinnedHosts']),
  freeHost: detected(
    ['pinnedServer', 'commandSignature', 'staysArmed', 'reportedRevert'],
    'If its arming order says so, a host whose network is cut before its first check-in after arming becomes Free. The default says so while at most 25 hosts are armed. Agents up to 0.2 always do so after 10 minutes. The host reports the reason when it is connected again.',
  ),
  allowDevice: possible(
    'A device can stay allowed longer than a person decided: if the host restarts without a connection, forged time (NTP) extends a grant by the time that the host was off. Agents up to 0.2 follow the host clock. No device is allowed that no rule allows, and permanent rules do not change.',
    'Update agents, protect time with NTS, and prefer short grants.',
    ['pinnedServer', 'policySignature', 'grantTime', 'storedTime'],
  ),
  readSecret: refused(
    ['pinnedServer', 'confirmedKeys', 'withheldPassword', 'verifiedPeers'],
    'Browsers rely on HTTPS: install the server’s CA or a certificate they trust, and do not bypass browser warnings.',
  ),
  impersonateHost: refused(
    ['pinnedServer', 'agentSession', 'boundedProofs'],
    'A session request of an agent before 0.3.0 stays valid until the server accepts a later one. Only TLS protects them.',
  ),
  forgeEvent: detected(
    ['pinnedServer', 'spooledChanges', 'silentHosts'],
    'The attacker can delay reports. The console shows the host as disconnected, and its changes arrive once the path is open again.',
  ),
  forgeTrail: notApplicable,
  denyService: possible(
    'An attacker on the path can drop the traffic of the hosts and people behind it. Hosts keep enforcing their last signed policy, and their agents store changes until the path is open again.',
    'Restore the path. Disconnected hosts raise an alert; watch for many at once.',
    ['spooledChanges', 'silentHosts'],
  ),
  lockOut: possible(
    'Only people whose traffic passes the attacker lose access.',
    'Sign in from another network or on the server itself.',
  ),
}

const installers =
  'Windows keeps a copy of each installer, and every user of the host can read it. An installer with a token contains it until the token expires, is used up or is revoked.'
const shortTokens =
  'Give the token in an installer a short validity and few hosts, and revoke it after the installation.'

const installed = ['privateState', 'linuxInstall', 'windowsUpdates', 'macosInstallFolder', 'macosStartFolder'] as const

export const localUser: Row = {
  runProgram: refused([...installed, 'agentReleaseKey']),
  freeHost: refused(['privateState', 'commandSignature']),
  allowDevice: refused(['policySignature', 'privateState']),
  readSecret: possible(`Only the enrolment token. ${installers}`, shortTokens, [
    'enrolmentTokenHidden',
    'privateState',
    'enrolmentToken',
  ]),
  impersonateHost: detected(
    [...installed, 'enrolmentToken', 'armedPredecessor', 'namedTakeOver'],
    `${installers} With it, the user can enrol a machine as a Free host that is disconnected. The takeover raises an event.`,
  ),
  forgeEvent: refused([...installed, 'agentSession']),
  forgeTrail: notApplicable,
  denyService: possible(
    'Only on this host: the user can use up its processors, memory and disk, and delay the reports of its agent. Other hosts and the server are not affected.',
    'Limit users with systemd (`user.slice`) and disk quotas. Disconnected hosts raise an alert.',
    ['silentHosts'],
  ),
  lockOut: notApplicable,
}

export const hostRoot: Row = {
  runProgram: refused(['agentAudience', 'agentReleaseKey'], 'Root already runs programs on this host.'),
  freeHost: possible(
    'Only on this host, which the console then shows as Free or disconnected.',
    'Reinstall the host, and enrol and arm it again.',
    ['agentAudience', 'ownAcknowledgements'],
  ),
  allowDevice: possible('Only on this host.', 'Reinstall the host, and enrol and arm it again.', ['agentAudience']),
  readSecret: refused(['agentAudience'], 'Root can read the key of this host.'),
  impersonateHost: detected(
    ['agentSession', 'copiedKey', 'armedPredecessor', 'namedTakeOver'],
    'With a reusable enrolment token that was left on the host, root can enrol as a Free host that is disconnected. The takeover raises an event. Use tokens once.',
  ),
  forgeEvent: possible(
    'Root controls what this host reports, but not what other hosts report.',
    'Do not trust a compromised host: remove it, reinstall it and enrol it again. Compare its last reports with network logs.',
    ['agentAudience', 'agentSession'],
  ),
  forgeTrail: refused(['agentAudience']),
  denyService: detected(
    [
      'agentQuota',
      'hourlyEvents',
      'oneWakeSocket',
      'ownedConnections',
      'machineCredentialFirst',
      'nacSeesHost',
      'nacSeesOneMachine',
      'nacOneAddressOneHost',
      'recordedQuarantine',
    ],
    'With automatic quarantine, root can take over the IPv4 address of a neighbour and have this one machine quarantined. The audit trail records it. IP source guard on the switches prevents it.',
  ),
  lockOut: refused(['fairSignIn']),
}

const typedCommands =
  'A keyboard can type commands with the rights of the person at the host: on a Free host every keyboard, on an armed host one that copies an approved keyboard.'

export const device: Row = {
  runProgram: possible(
    `${typedCommands} An armed host blocks devices whose drivers contradict their claim, and attack tools.`,
    'Arm hosts, allow keyboards by host, and check “spoofed” in Insights.',
    ['driverMismatch', 'heldPortsKept', 'hubShape', 'attackToolNeverSpared'],
  ),
  freeHost: possible(
    `Only through a person with root rights. ${typedCommands} No report of a device frees a host.`,
    'Allow keyboards by host, and do not work as root at armed hosts.',
    ['driverMismatch', 'hubShape', 'attackToolNeverSpared', 'commandSignature'],
  ),
  allowDevice: possible(
    'A device can copy the descriptors and the serial number of an approved device. It then gets only the drivers of that kind, and only on hosts that allow that device.',
    'Check “spoofed” in Insights, allow devices by host instead of fleet-wide, and prefer short grants.',
    ['driverMismatch', 'attackToolNeverSpared'],
  ),
  readSecret: notApplicable,
  impersonateHost: notApplicable,
  forgeEvent: detected(
    ['deviceText', 'mergedChanges', 'firstSights', 'changesPerPort', 'reportedDrops'],
    'While the host has no connection, a device that returns with more than a thousand identities, or pretends to be a hub with many ports, displaces changes of its root port. These include changes of other devices at the same docking station or hub. The newest state of each port and the changes of other root ports stay. The server raises an event with the port, and the number and time of the dropped changes.',
  ),
  forgeTrail: refused(['deviceText']),
  denyService: detected(
    ['heldPortsKept', 'heldPortsAlert', 'agentQuota', 'hourlyEvents'],
    'A device that claims 64 false identities at 64 ports keeps new devices of its host from working until a person releases a port. The server raises a critical event.',
  ),
  lockOut: notApplicable,
}

export const polledHost: Row = {
  runProgram: refused(['fixedCommands', 'fixedDestination', 'deviceText', 'pollBounds']),
  freeHost: notApplicable,
  allowDevice: notApplicable,
  readSecret: possible(
    'A host that is polled with a password learns that password once a person has confirmed its host key.',
    'Poll with keys, or with a separate password for each group of hosts. Change the password when a polled host is compromised.',
    ['confirmedKeys', 'withheldPassword'],
  ),
  impersonateHost: refused(['polledIdentity', 'withheldPassword']),
  forgeEvent: possible(
    'A polled host controls what it reports about its own devices.',
    'Install the agent on hosts where that matters. Compare with other sources.',
    ['polledIdentity', 'fixedDestination'],
  ),
  forgeTrail: notApplicable,
  denyService: refused(['pollBounds', 'pollTurns']),
  lockOut: notApplicable,
}
