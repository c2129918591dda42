/** People who run a system that the server relies on, and users of the machine that the server runs on. */
import { detected, notApplicable, possible, type Row, refused } from '../cell.ts'

const ownAdministrators =
  'Keep Administrators as local accounts with a second factor, and map groups of the directory to Manager at most.'
const asAdministrators =
  'The operator of the directory or identity provider decides who is in its groups, so they can sign in as two Administrators, and one approves the requests of the other. '

export const identityProvider: Row = {
  runProgram: possible(
    'Only on polled hosts: as two Administrators, the operator activates a worker of their own, which receives their accounts. Hosts with an agent install only builds that are signed with the release key.',
    `${ownAdministrators} Poll with accounts that may only read.`,
    ['agentReleaseKey', 'serverReleaseKey'],
  ),
  freeHost: possible(`${asAdministrators}The audit trail records both.`, ownAdministrators),
  allowDevice: possible(`${asAdministrators}The audit trail records both.`, ownAdministrators),
  readSecret: possible(
    `${asAdministrators}They can activate a worker of their own, which receives the passwords of polled hosts. The server sends no other secret.`,
    `${ownAdministrators} Change the passwords of polled hosts.`,
  ),
  impersonateHost: detected(['auditWithChange', 'armedPredecessor'], 'The same as with a session of an Administrator.'),
  forgeEvent: detected(['auditWithChange'], 'The same as with a session of an Administrator.'),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: detected(['auditWithChange'], 'The same as with a session of an Administrator.'),
  lockOut: possible(
    'Accounts of the directory can be refused or withdrawn. Local accounts keep working.',
    'Sign in with a local account, and change the directory settings.',
  ),
}

export const mailServer: Row = {
  runProgram: refused(['agentReleaseKey']),
  freeHost: detected(
    ['mailedLinkHold', 'auditWithChange'],
    'The operator can use the set-password link of a new account before its owner does. The owner then cannot use it. The account does not approve for 24 hours, so the operator acts alone, within the limit.',
  ),
  allowDevice: detected(['mailedLinkHold', 'auditWithChange'], 'The same as for freeing hosts.'),
  readSecret: refused(
    ['maskedSecrets', 'noKeysOverHttp'],
    'Mails contain alerts and reports, so the operator reads names of hosts and devices.',
  ),
  impersonateHost: detected(
    ['auditWithChange', 'armedPredecessor'],
    'The new account of an Administrator can create an enrolment token.',
  ),
  forgeEvent: possible(
    'The operator can drop, delay and forge mails. The console and the other channels are not affected.',
    'Send alerts through a second channel, and read alerts in the console.',
  ),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: notApplicable,
  lockOut: detected(
    ['auditWithChange'],
    'Only owners of new accounts. Create their links again, and hand them over yourself.',
  ),
}

export const worker: Row = {
  runProgram: possible(
    'Only on polled hosts, with the accounts that the worker received. Hosts with an agent install only builds that are signed with the release key.',
    'Poll with accounts that may only read. Deactivate the worker, and change its passwords and keys.',
    ['agentReleaseKey'],
  ),
  freeHost: refused(['commandSignature']),
  allowDevice: refused(['policySignature', 'profile']),
  readSecret: possible(
    'An activated worker receives the passwords and keys of the hosts that it polls, as long as it polls them.',
    'Deactivate the worker, and change these passwords and keys. Use one worker, and one account, for each network.',
  ),
  impersonateHost: possible(
    'The worker decides what is reported about polled hosts. It cannot report for hosts with an agent.',
    'Install the agent on hosts where that matters.',
  ),
  forgeEvent: possible(
    'The worker decides what is reported about polled hosts.',
    'Install the agent on hosts where that matters. Compare with other sources.',
  ),
  forgeTrail: refused(['profile']),
  denyService: refused(['pollBounds']),
  lockOut: refused(['profile']),
}

export const serverUser: Row = {
  runProgram: refused(['authentication', 'agentReleaseKey']),
  freeHost: refused(['authentication', 'databasePeer', 'commandSignature']),
  allowDevice: refused(['authentication', 'databasePeer', 'policySignature']),
  readSecret: refused(['authentication', 'databasePeer', 'sealedSecrets']),
  impersonateHost: refused(['agentSession', 'databasePeer']),
  forgeEvent: refused(['agentSession', 'databasePeer']),
  forgeTrail: refused(['databasePeer']),
  denyService: possible(
    'A user of the machine can use up its processors, memory and disk. Hosts keep enforcing their last signed policy.',
    'Let nobody else sign in to the server. Limit users with systemd (`user.slice`) and disk quotas.',
  ),
  lockOut: refused(['fairSignIn', 'accountGuesses']),
}
