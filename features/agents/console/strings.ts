import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  waitingHost: 'Waiting for the host…',
  tokenExpired: 'The token expired. Create another command.',
  tokenRevokedHint: 'The token was revoked. Create another command.',
  enrolledAt: 'enrolled {time}',
  earlierHosts: 'and {count, number} earlier',
  commandKey: 'Command key',
  commandKeyText:
    'This key signs every command to hosts. Rotate it on the server with <code>portcullis command-key rotate</code>. Hosts that have not followed a rotation obey commands only until the old key retires. Update their agents before then.',
  unknownKeys:
    '{count, plural, one {# host has} other {# hosts have}} a key that this server does not have. Restore the newest copy of the key file.',
  commandKeys: 'Command keys',
  retires: 'Retires',
  notFollowed: 'Not followed yet',
  noCommandKeys: 'No command keys.',
  revokeTitle: 'Revoke enrolment token',
  revokeConsequence: 'no further hosts can enrol with it. Enrolled hosts stay.',
  intro:
    'Hosts enrol with a token that is valid for a limited time and a limited number of hosts. Create a token, then use it to install the agent on Linux, Windows or macOS.',
  tokens: 'Tokens',
  enrolmentTokens: 'Enrolment tokens',
  usesOf: '{uses, number} of {maxUses, number}',
  createdBy: '{time} by {name}',
  noEnrolmentTokensYet: 'No enrolment tokens yet.',
  noHostTitle: 'No hosts yet',
  noHostText: 'Ask an Administrator to add the first host. It appears here automatically.',
  firstHost: 'First host',
  firstHostTitle: 'Add your first host',
  firstHostText:
    'One command installs the agent on a Linux, Windows or macOS host. Its USB devices appear here within a minute.',
  createInstallCommand: 'Create install command',
  step1:
    '1. Run this command as root on {maxUses, plural, one {the Linux host} other {each Linux host}}. It asks for the token.',
  step2:
    '2. Paste the token when the command asks for it. The token enrols {maxUses, plural, one {# host} other {up to # hosts}} until {time}. It is shown only once.',
  windowsValidity:
    'The token in these commands enrols {maxUses, plural, one {# host} other {up to # hosts}} until {time}. It is shown only once.',
  noInstaller:
    'This server has no Windows installer. Download it from a release, or run <code>npm run build:msi</code> in the checkout and restart the server.',
  byHand: 'Manual installation',
  downloadPlain: 'Download installer without token',
  byHandText: 'Run this command as Administrator in the folder of the installer.',
  intuneText: 'Add the installer without token as a line-of-business app, and enter these command-line arguments.',
  intuneArguments: 'Arguments',
  groupPolicy: 'Group Policy',
  groupPolicyText:
    'Group Policy cannot pass values to an installer, so the installer must contain them. Copy it to a share that only the target computers can read. Then assign it under Computer Configuration, Software Settings, Software installation. Windows keeps a copy on each host that every user of the host can read, so use a token with few hosts and a short validity, and delete it after the installation.',
  downloadInstaller: 'Download installer with token',
  installerIsSecret:
    'Everyone who can read this file can enrol hosts with the token until it expires or is used up. The file is not signed.',
  macosStep1:
    '1. Unpack the macOS package of the release on the Mac, and run this command in its folder. It asks for the token.',
  localOnly:
    'The server listens on this computer only, so the command works only here. To add other hosts, start the server with <code>PORTCULLIS_HOST=0.0.0.0</code>.',
  newHosts: '{count, plural, one {New host} other {# new hosts}}',
  createAnotherCommand: 'Create another command',
  validForHours: 'Valid for (hours)',
  maximumHosts: 'Host limit',
  onlyTheseHosts: 'Only these hosts (optional)',
  onlyTheseHostsHelp:
    'Host names, one per line, as the command <code>hostname</code> prints them. Each name can enrol once.',
  invalidHostNames: 'These host names are invalid: {names}',
  tooManyHostNames: 'Enter at most {max, number} host names.',
  notEnrolledYet: '{missing, plural, one {# listed host has} other {# listed hosts have}} not enrolled: {names}',
  tagsToAssign: 'Tags for its hosts',
  allowTakeOver: 'Allow a reinstalled host to reclaim its record',
  waitingHosts: 'Waiting for hosts ({uses, number} of {max, number})…',
  atFirstStart: 'at the first start',
})
