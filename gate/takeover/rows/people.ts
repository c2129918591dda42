import { detected, needsApprover, type Row, refused } from '../cell.ts'

const ownAccounts =
  'Disabling or changing accounts of profile User is a Manager’s task; every change is in the audit trail.'

export const userSession: Row = {
  runProgram: refused(['profile']),
  freeHost: refused(['profile']),
  allowDevice: refused(['profile']),
  readSecret: refused(['maskedSecrets', 'profile']),
  impersonateHost: refused(['profile']),
  forgeEvent: refused(['profile']),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: refused(['boundedBodies']),
  lockOut: refused(['profile', 'managerAccounts']),
}

export const managerSession: Row = {
  runProgram: refused(['profile', 'agentReleaseKey']),
  freeHost: needsApprover(['approverForFree'], 'Up to the limit of hosts a Manager acts alone.'),
  allowDevice: needsApprover(
    ['approverForRules'],
    'A rule that newly allows no more than the limit takes effect at once.',
  ),
  readSecret: refused(['maskedSecrets']),
  impersonateHost: refused(['profile']),
  forgeEvent: detected(
    ['auditWithChange'],
    'No operation changes an event. Dismissing an alert is in the audit trail.',
  ),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: refused(['boundedBodies']),
  lockOut: detected(['auditWithChange', 'managerAccounts'], ownAccounts),
}

export const administratorSession: Row = {
  runProgram: refused(
    ['serverReleaseKey', 'agentReleaseKey', 'approverForPackage'],
    'A build signed with the release key can be published and rolled out with fresh authentication and a second approver.',
  ),
  freeHost: needsApprover(
    ['approverForFree', 'latchedGate', 'independentApprover'],
    'Up to the limit of hosts an Administrator acts alone.',
  ),
  allowDevice: needsApprover(
    ['approverForRules'],
    'A rule that newly allows no more than the limit takes effect at once.',
  ),
  readSecret: refused(['maskedSecrets', 'noKeysOverHttp']),
  impersonateHost: detected(
    ['auditWithChange', 'armedPredecessor'],
    'An Administrator can create an enrolment token and enrol a machine under the name of a silent host in Free mode. The take-over is an event.',
  ),
  forgeEvent: detected(['auditWithChange'], 'Deleting a host or shortening retention is in the audit trail.'),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: detected(
    ['auditWithChange'],
    'An Administrator can change settings that others depend on. Settings have versions and can be restored.',
  ),
  lockOut: needsApprover(
    ['approverForAdministrator'],
    'Suspending another Administrator for 24 hours needs no approver; the server’s command line ends it.',
  ),
}

const noFleet = 'An API token cannot free more hosts than the limit, because that needs fresh authentication.'

export const userToken: Row = { ...userSession, lockOut: refused(['profile', 'tokenScope']) }

export const managerToken: Row = {
  ...managerSession,
  freeHost: refused(
    ['tokenCannotMoveFleet', 'tokenScope'],
    `${noFleet} Up to the limit it acts alone, if its scopes allow it.`,
  ),
  allowDevice: refused(
    ['approverForRules', 'tokenScope'],
    'Above the limit a token cannot even request an approval. Up to the limit it changes rules alone, if its scopes allow it.',
  ),
  lockOut: detected(['auditWithChange', 'tokenScope'], ownAccounts),
}

export const administratorToken: Row = {
  ...administratorSession,
  runProgram: refused(['tokenCannotMoveFleet', 'serverReleaseKey', 'agentReleaseKey']),
  freeHost: refused(
    ['tokenCannotMoveFleet', 'tokenScope'],
    `${noFleet} Up to the limit it acts alone, if its scopes allow it.`,
  ),
  allowDevice: refused(
    ['approverForRules', 'tokenScope'],
    'Above the limit a token cannot even request an approval. Up to the limit it changes rules alone, if its scopes allow it.',
  ),
  readSecret: refused(['maskedSecrets', 'noKeysOverHttp', 'tokenScope']),
  lockOut: refused(['tokenCannotMoveFleet']),
}
