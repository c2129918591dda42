import { detected, needsApprover, possible, type Row, refused } from '../cell.ts'
import type { ControlId } from '../controls.ts'

const ownAccounts =
  'Managers may disable and change accounts of profile User. The audit trail records every change, and disabling or deleting an account raises an event.'
const onlyKnown =
  'A rule that newly allows devices on no more hosts than the limit takes effect at once. A rule with a serial number is measured by the hosts that have seen such a device, so one that no host has seen takes effect at once, on every host. Every other rule counts all hosts in its scope.'
const slowed =
  'Thousands of connections and the largest bodies of one account can delay requests of others by a few hundred milliseconds, and by seconds on a busy machine (`npm run bench -- strangers`). Metrics and the log name the limit. Suspend the account. Hosts keep enforcing their last policy.'

/** One person alone cannot newly allow devices on more hosts than the limit. */
const ruleGate = [
  'approverForRules',
  'approverForUnseen',
  'unseenBehindDeny',
  'hiddenAllows',
  'laterHosts',
  'guardedDevices',
  'lateOrders',
  'approverForTags',
] as const satisfies readonly ControlId[]
const secrets = [
  'activatedWorkers',
  'confirmedComputers',
  'confirmedKeys',
  'maskedSecrets',
  'maskedWebhooks',
  'sealedConnections',
  'noKeysOverHttp',
] as const satisfies readonly ControlId[]
const bodies = ['countedBodies', 'bodyTurns', 'boundedBodies'] as const satisfies readonly ControlId[]

export const userSession: Row = {
  runProgram: refused(['profile']),
  freeHost: refused(['profile']),
  allowDevice: refused(['profile']),
  readSecret: refused(['maskedSecrets', 'maskedWebhooks', 'profile']),
  impersonateHost: refused(['profile']),
  forgeEvent: refused(['profile']),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: detected([...bodies, 'ownedConnections', 'minimumRate', 'namedLimits'], slowed),
  lockOut: refused(['profile', 'managerAccounts']),
}

export const managerSession: Row = {
  runProgram: refused(['profile', 'agentReleaseKey', 'countedUpdate', 'approverForPackage']),
  freeHost: needsApprover(['approverForFree', 'countedRevert'], 'Up to the limit, a Manager can free hosts alone.'),
  allowDevice: needsApprover([...ruleGate, 'shownChange', 'approverForDrivers'], onlyKnown),
  readSecret: refused(['maskedSecrets', 'maskedWebhooks', 'sealedConnections']),
  impersonateHost: refused(['profile']),
  forgeEvent: detected(
    ['auditWithChange'],
    'No operation changes an event. The audit trail records who dismissed an alert.',
  ),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: detected(
    ['auditWithChange', ...bodies, 'rejectedByApprovers'],
    'A Manager can arm hosts, deny devices and quarantine hosts, and so keep devices of others from working. The audit trail records each step, and an Administrator can undo it.',
  ),
  lockOut: detected(['withdrawalEvents', 'auditWithChange', 'managerAccounts'], ownAccounts),
}

export const administratorSession: Row = {
  runProgram: needsApprover(
    ['serverReleaseKey', 'agentReleaseKey', 'approverForPackage', 'approverForWorker'],
    'With a second approver, an Administrator can roll out a build that is signed with the release key, and activate a worker process, which can run programs on polled hosts.',
  ),
  freeHost: needsApprover(
    [
      'approverForFree',
      'countedRevert',
      'latchedGate',
      'independentApprover',
      'approverForLinks',
      'approverForFactors',
      'mailedLinkHold',
      'linkHold',
      'queuedLinks',
      'exactSettings',
      'shownChange',
      'sealedTitle',
    ],
    'Up to the limit, an Administrator can free hosts alone. Set the limit below the number of hosts. A person who knows the password of the account that switched the gate on can act as both people.',
  ),
  allowDevice: needsApprover(
    [...ruleGate, 'shownChange', 'approverForDrivers', 'approverForKnowledge', 'approverForKnowledgeKey'],
    onlyKnown,
  ),
  readSecret: needsApprover(
    ['approverForWorker', ...secrets],
    'The server gives stored passwords of polled hosts to activated worker processes only. A backup contains account passwords as argon2id hashes, and other secrets encrypted.',
  ),
  impersonateHost: detected(
    ['auditWithChange', 'armedPredecessor', 'namedTakeOver'],
    'An Administrator can create an enrolment token and enrol a machine as a Free host that is disconnected. The takeover raises an event.',
  ),
  forgeEvent: detected(
    ['auditWithChange', 'versionedSettings'],
    'The audit trail records deleted hosts and shortened retention.',
  ),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: detected(
    ['auditWithChange', 'versionedSettings'],
    'An Administrator can change settings that others depend on. Settings have versions and can be restored.',
  ),
  lockOut: detected(
    ['withdrawalEvents', 'suspensions', 'auditWithChange', 'approverForAdministrator'],
    'An Administrator can disable, demote or delete any number of accounts of profile Manager and User alone, and can suspend another Administrator for 24 hours again and again. Each step raises an event and an alert. Disabling, demoting or deleting another Administrator needs a second approver. The server’s command line can lift a suspension.',
  ),
}

const noFleet =
  'A token with the scope fleet:write can free hosts up to the limit. The audit trail records it. Above the limit the server refuses, because that needs fresh authentication.'
const namedOnly =
  'Up to the limit, a token with the scope fleet:write can allow devices on named hosts, and devices with a serial number, counted by the hosts that have seen such a device. The audit trail records each rule. The server refuses everything else, and a token cannot request an approval.'
const tokenRules = ['auditWithChange', ...ruleGate, 'namedHostsForTokens', 'freshOverride', 'tokenScope'] as const
const freeByToken = detected(['auditWithChange', 'approverForFree', 'tokenCannotMoveFleet', 'tokenScope'], noFleet)

export const userToken: Row = { ...userSession, lockOut: refused(['profile', 'tokenScope']) }

export const managerToken: Row = {
  ...managerSession,
  freeHost: freeByToken,
  allowDevice: detected(tokenRules, namedOnly),
  lockOut: detected(['withdrawalEvents', 'auditWithChange', 'tokenScope'], ownAccounts),
}

export const administratorToken: Row = {
  ...administratorSession,
  runProgram: refused(['tokenCannotMoveFleet', 'serverReleaseKey', 'agentReleaseKey']),
  freeHost: freeByToken,
  allowDevice: detected(
    [...tokenRules, 'tokenCannotMoveFleet'],
    `${namedOnly} A token cannot change the knowledge in force.`,
  ),
  readSecret: refused(
    [...secrets, 'tokenScope'],
    'A token with the scope config:write can download a backup. It contains account passwords as argon2id hashes, and other secrets encrypted.',
  ),
  denyService: detected(
    ['auditWithChange', 'versionedSettings', 'freshForBackups'],
    'A token with the scope config:write can change settings that others depend on, but no settings of backups. Settings have versions and can be restored.',
  ),
  lockOut: detected(
    [
      'withdrawalEvents',
      'auditWithChange',
      'tokenCannotMoveFleet',
      'freshForAccounts',
      'freshForEmail',
      'freshForTokens',
    ],
    'A token can disable accounts of profile User and revoke their API tokens and its own. It cannot change an account above User.',
  ),
}

export const feedToken: Row = {
  runProgram: refused(['tokenScope']),
  freeHost: refused(['tokenScope']),
  allowDevice: refused(['tokenScope']),
  readSecret: refused(['tokenScope']),
  impersonateHost: refused(
    ['feedCoversNoAgent', 'feedToken', 'feedNeverArmed'],
    'The token can invent hosts without an agent. They are marked as observed by feed, cannot be armed, and give way to an agent.',
  ),
  forgeEvent: possible(
    'The token can add events of devices to hosts without an agent, and hide none. The server limits new hosts per hour.',
    'Revoke the token and delete its feed. The hosts that only this feed observes disappear.',
    ['feedCoversNoAgent', 'feedLimits'],
  ),
  forgeTrail: refused(['tokenScope']),
  denyService: possible(
    'Large feeds in quick succession can delay requests of others. The server limits new hosts and lines, and reads the bodies of feeds one at a time.',
    'Revoke the token.',
    ['feedLimits'],
  ),
  lockOut: refused(['tokenScope']),
}
