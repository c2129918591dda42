/** People who run a system that the server relies on, and users of the machine that the server runs on. */
import { detected, possible, type Row, refused } from '../cell.ts'

const asSession = 'The same as with a session of an Administrator.'
const localAdministrators =
  'Keep Administrators as local accounts with a second factor, and map groups of the directory to Manager at most.'
const asAdministrators =
  'The operator of the directory or identity provider decides who is in its groups, and so can sign in as two Administrators, one of whom approves the requests of the other. '
const asTwo = possible(`${asAdministrators}The audit trail records both.`, localAdministrators, ['auditWithChange'])

export const identityProvider: Row = {
  runProgram: possible(
    'Only on polled hosts: as two Administrators, the operator activates a worker of their own, which receives their accounts. Hosts with an agent install only builds that are signed with the release key.',
    `${localAdministrators} Poll with accounts that may only read.`,
    ['agentReleaseKey', 'serverReleaseKey'],
  ),
  freeHost: asTwo,
  allowDevice: asTwo,
  readSecret: possible(
    `${asAdministrators}As both, the operator can activate a worker of their own, which receives the passwords of polled hosts. The server sends no other secret.`,
    `${localAdministrators} Change the passwords of polled hosts.`,
    ['maskedSecrets', 'noKeysOverHttp'],
  ),
  impersonateHost: detected(['auditWithChange', 'armedPredecessor', 'namedTakeOver'], asSession),
  forgeEvent: detected(['auditWithChange', 'versionedSettings'], asSession),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: detected(['auditWithChange', 'versionedSettings'], asSession),
  lockOut: possible(
    'Accounts of the directory can be refused or withdrawn. Local accounts keep working.',
    'Sign in with a local account, and change the directory settings.',
    ['localAccounts'],
  ),
}

const newAccount =
  'The operator can use the set-password link of a new account before its owner does. The owner then cannot use it. The account cannot approve for 24 hours, so until then the operator acts alone, within the limit. '
const twoNewAccounts =
  'After 24 hours, two such accounts of Administrators can approve the requests of each other. Hand over links yourself, and reset an account at once if its owner cannot use the link.'

export const mailServer: Row = {
  runProgram: detected(
    ['agentReleaseKey', 'approverForWorker', 'mailedLinkHold', 'auditWithChange'],
    `Only on polled hosts, by a worker that two new Administrators activate. ${newAccount}${twoNewAccounts}`,
  ),
  freeHost: detected(['mailedLinkHold', 'auditWithChange'], `${newAccount}${twoNewAccounts}`),
  allowDevice: detected(['mailedLinkHold', 'auditWithChange'], 'The same as for freeing hosts.'),
  readSecret: detected(
    ['approverForWorker', 'mailedLinkHold', 'auditWithChange', 'maskedSecrets', 'noKeysOverHttp'],
    'The same as for running a program. Mails contain alerts and reports, so the operator reads names of hosts and devices.',
  ),
  impersonateHost: detected(
    ['auditWithChange', 'armedPredecessor', 'namedTakeOver'],
    'The new account of an Administrator can create an enrolment token.',
  ),
  forgeEvent: possible(
    'The operator can drop, delay and forge mails. The console and the other channels are not affected.',
    'Send alerts through a second channel, and read alerts in the console.',
  ),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: detected(['auditWithChange', 'versionedSettings'], 'Only with a new account of an Administrator.'),
  lockOut: detected(
    ['auditWithChange', 'withdrawalEvents', 'suspensions', 'approverForAdministrator'],
    'Owners of new accounts cannot use their links. With a new account of an Administrator, the same as with a session of one.',
  ),
}

const otherSources = 'Install the agent on hosts where that matters. Compare with other sources.'

export const worker: Row = {
  runProgram: possible(
    'Only on polled hosts, with the accounts that the worker received. Hosts with an agent install only builds that are signed with the release key.',
    'Poll with accounts that may only read. Deactivate the worker, and change its passwords and keys.',
    ['agentReleaseKey'],
  ),
  freeHost: refused(['commandSignature', 'audiences']),
  allowDevice: refused(['policySignature', 'audiences']),
  readSecret: possible(
    'An activated worker receives the passwords and keys of the hosts that it polls, as long as it polls them.',
    'Deactivate the worker, and change these passwords and keys. Use one worker, and one account, for each network.',
    ['activatedWorkers', 'audiences'],
  ),
  impersonateHost: possible(
    'The worker decides what is reported about polled hosts. It cannot report for hosts with an agent.',
    otherSources,
    ['leasedPolls', 'agentSession'],
  ),
  forgeEvent: possible('The worker decides what is reported about polled hosts.', otherSources, ['leasedPolls']),
  forgeTrail: refused(['audiences']),
  denyService: possible(
    'The worker can leave its polled hosts unpolled, or report failures. A poll that it keeps goes to another worker. Hosts with an agent are not affected.',
    'Deactivate the worker, and activate another one.',
    ['leasedPolls', 'ownedConnections'],
  ),
  lockOut: refused(['audiences']),
}

const ownDatabase = 'With your own PostgreSQL, its access rules decide who reads and writes the database.'

export const serverUser: Row = {
  runProgram: refused(['authentication', 'databasePeer', 'privateKeyFile', 'agentReleaseKey']),
  freeHost: refused(['authentication', 'databasePeer', 'privateKeyFile', 'commandSignature']),
  allowDevice: refused(['authentication', 'databasePeer', 'privateKeyFile', 'policySignature'], ownDatabase),
  readSecret: refused(['authentication', 'databasePeer', 'privateKeyFile', 'sealedSecrets'], ownDatabase),
  impersonateHost: refused(['agentSession', 'databasePeer', 'privateKeyFile']),
  forgeEvent: refused(['agentSession', 'databasePeer']),
  forgeTrail: refused(['authentication', 'databasePeer'], ownDatabase),
  denyService: possible(
    'A user of the machine can use up its processors, memory and disk. Hosts keep enforcing their last signed policy.',
    'Let nobody else sign in to the server. Limit users with systemd (`user.slice`) and disk quotas.',
  ),
  lockOut: refused(['fairSignIn', 'accountGuesses']),
}
