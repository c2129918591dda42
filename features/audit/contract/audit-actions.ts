import type { BulkAction } from '#features/hosts/contract/bulk.ts'

/** The groups of actions in the audit trail, with their names. */
export const auditAreaNames = {
  policy: 'Devices and policy',
  hosts: 'Hosts and agents',
  tags: 'Tags',
  agentless: 'Agentless hosts',
  quarantine: 'Quarantine',
  accounts: 'Accounts and tokens',
  signIn: 'Sign-in',
  approvals: 'Second approver',
  outputs: 'Alerts and outputs',
  reports: 'Reports',
  server: 'Server and settings',
} as const
export type AuditArea = keyof typeof auditAreaNames
export const auditAreas = Object.keys(auditAreaNames) as AuditArea[]

/** The kinds of objects that a record names. */
export const auditObjectKinds = [
  'host',
  'device',
  'rule',
  'account',
  'tag',
  'token',
  'connection',
  'feed',
  'report',
  'rollout',
  'package',
  'alert',
  'setting',
] as const
export type AuditObjectKind = (typeof auditObjectKinds)[number]

interface AuditActionDefinition {
  readonly area: AuditArea
  /** Type of the entity of a record with one object; absent: the entity is a description. */
  readonly object: AuditObjectKind | undefined
  /** Name in the filter. */
  readonly name: string
  /**
   * ICU message about a record. `who` acted, `what` is the object or the number of objects, `where` the hosts, `tags` the
   * tags, and `entity` a title that the record states.
   */
  readonly sentence: string
  /** The sentences of records with a variant. */
  readonly variants: Readonly<Record<string, string>>
}
type Texts = readonly [name: string, sentence: string, variants?: Readonly<Record<string, string>>]

const actions = <const T extends Record<string, Texts>>(area: AuditArea, object: AuditObjectKind | undefined, all: T) =>
  Object.fromEntries(
    Object.entries<Texts>(all).map(([code, [name, sentence, variants = {}]]) => [
      code,
      { area, object, name, sentence, variants },
    ]),
  ) as { readonly [K in keyof T]: AuditActionDefinition }

/** Every action of the audit trail. A record with another action does not compile. */
export const auditActions = {
  ...actions('policy', undefined, {
    'knowledge.applied': ['Knowledge activated', '{who} activated {entity}'],
    'knowledge.key_trusted': ['Knowledge key trusted', '{who} trusted a new signing key for knowledge'],
    'knowledge.rolled_back': ['Knowledge rolled back', '{who} rolled back {entity}'],
    'knowledge.uploaded': ['Knowledge uploaded', '{who} uploaded {entity}'],
    'peripheral.allApproved': ['Attached devices approved', '{who} approved the attached devices of {where}'],
    'peripheral.approved': [
      'Device approved',
      '{who} approved {what} on {where}',
      { grant: '{who} granted {what} on {where}' },
    ],
    'peripheral.attackToolApproved': [
      'Attack tool approved',
      '{who} approved {what} on {where}, despite an attack-tool finding',
      { grant: '{who} granted {what} on {where}, despite an attack-tool finding' },
    ],
    'peripheral.denied': ['Device denied', '{who} denied {what} on {where}'],
    'policy.grant.changed': ['Grant changed', '{who} changed the grant {what}'],
    'policy.grant.created': ['Grant added', '{who} added the grant {what}'],
    'policy.grant.deleted': ['Grant ended', '{who} ended the grant {what}'],
    'policy.group.changed': ['Rule group changed', '{who} changed the rule group {entity}'],
    'policy.group.created': ['Rule group added', '{who} added the rule group {entity}'],
    'policy.group.deleted': ['Rule group deleted', '{who} deleted the rule group {entity}'],
    'policy.group.rulesMoved': [
      'Rules moved to a group',
      '{who} moved {what} to the rule group {entity}',
      { none: '{who} removed {what} from their rule groups' },
    ],
    'policy.imported': ['Rules added from a list', '{who} added rules from a list: {what}'],
    'policy.replaced': ['Rules replaced', '{who} replaced rules by a document: {what}'],
    'policy.restored': ['Policy version restored', '{who} restored an earlier version of the policy: {what}'],
    'policy.rule.changed': ['Rule changed', '{who} changed the rule {what}'],
    'policy.rule.created': ['Rule added', '{who} added the rule {what}'],
    'policy.rule.deleted': ['Rule deleted', '{who} deleted the rule {what}'],
    'policy.rulesSealed': ['Set of rules sealed', '{who} sealed the set of rules'],
    'policy.settingsChanged': ['Policy settings changed', '{who} changed the policy settings'],
    'policy.test.changed': ['Rule test changed', '{who} changed the rule test {entity}'],
    'policy.test.created': ['Rule test added', '{who} added the rule test {entity}'],
    'policy.test.deleted': ['Rule test deleted', '{who} deleted the rule test {entity}'],
    'policy.undone': ['Policy change undone', '{who} undid a change of the policy: {what}'],
    'windows.verificationImported': ['Windows verification imported', '{who} imported the verification of {what}'],
    'windows.verificationRemoved': ['Windows verification removed', '{who} removed the verification of {what}'],
  }),
  ...actions('policy', 'host', {
    'heldPorts.released': ['Held USB port released', '{who} released a held USB port on {what}'],
  }),
  ...actions('policy', 'device', {
    'finding.accepted': ['Finding accepted', '{who} accepted the suspected finding about {what}'],
    'finding.closed': ['Finding closed', '{who} closed the finding about {what}'],
    'finding.reopened': ['Finding reopened', '{who} reopened the finding about {what}'],
    'finding.revoked': ['Acceptance revoked', '{who} revoked the acceptance of the finding about {what}'],
  }),
  ...actions('hosts', undefined, {
    'bulk.ordered': [
      'Action on many hosts started',
      '{who} started an action on {what}',
      {
        approveAll: '{who} started to approve the devices on {what}',
        arm: '{who} started to arm {what}',
        cancelCommands: '{who} started to cancel the commands for {what}',
        collectLogs: '{who} started to collect the logs of {what}',
        delete: '{who} started to delete {what}',
        free: '{who} started to free {what}',
        tag: '{who} started to tag {what}',
        untag: '{who} started to remove tags from {what}',
        update: '{who} started to update the agents on {what}',
      } satisfies Record<BulkAction, string>,
    ],
  }),
  ...actions('hosts', 'host', {
    'agent.duplicate_decided': ['Possible duplicate decided', '{who} decided on a possible duplicate of {what}'],
    'agent.enrolled': ['Host enrolled', 'Host {what} enrolled'],
    'agent.owner_changed': ['Owner or notes changed', '{who} changed the owner or the notes of {what}'],
    'agent.removed': ['Host removed', '{who} removed {what}'],
    'agent.taken_over': ['Host taken over', 'A new enrolment took over host {what}'],
    'command.ordered': [
      'Command sent',
      '{who} sent a command to {what}',
      {
        approveAll: '{who} approved the attached devices of {what}',
        arm: '{who} armed {what}',
        cancelCommands: '{who} cancelled the commands for {what}',
        collectLogs: '{who} requested the logs of {what}',
        delete: '{who} deleted {what}',
        free: '{who} freed {what}',
        tag: '{who} tagged {what}',
        untag: '{who} removed tags from {what}',
        update: '{who} updated the agent on {what}',
      } satisfies Record<BulkAction, string>,
    ],
    'debuglogs.downloaded': ['Logs downloaded', '{who} downloaded the logs of {what}'],
  }),
  ...actions('hosts', 'token', {
    'enrolment_token.created': ['Enrolment token created', '{who} created enrolment token {what}'],
    'enrolment_token.installer_created': [
      'Windows installer created',
      '{who} created a Windows installer with enrolment token {what}',
    ],
    'enrolment_token.revoked': ['Enrolment token revoked', '{who} revoked enrolment token {what}'],
  }),
  ...actions('hosts', 'rollout', {
    'rollout.cancelled': ['Rollout cancelled', '{who} cancelled the rollout {what}'],
    'rollout.completed': ['Rollout completed', 'The rollout {what} completed'],
    'rollout.halted': ['Rollout halted', 'The rollout {what} was halted'],
    'rollout.paused': ['Rollout paused', '{who} paused the rollout {what}'],
    'rollout.planned': ['Rollout planned', '{who} planned the rollout {what}'],
    'rollout.reverted': ['Rollout reverted', '{who} reverted the rollout {what}'],
    'rollout.running': ['Rollout started', '{who} started the rollout {what}'],
  }),
  ...actions('hosts', 'package', {
    'agent_package.discarded': [
      'Agent build discarded',
      '{who} discarded agent build {what}, because nobody approved it in time',
    ],
    'agent_package.published': ['Agent build published', '{who} published agent build {what}'],
    'agent_package.refused': ['Agent build refused', 'The upload of agent build {what} by {who} was refused'],
    'agent_package.uploaded': ['Agent build uploaded', '{who} uploaded agent build {what}'],
    'agent_package.withdrawn': ['Agent build withdrawn', '{who} withdrew agent build {what}'],
  }),
  ...actions('tags', undefined, {
    'tags.added': ['Tags added', '{who} added {tags} to {where}'],
    'tags.created': ['Tags created', '{who} created {tags}'],
    'tags.deleted': ['Tags deleted', '{who} deleted {tags}'],
    'tags.imported': ['Tags imported', '{who} imported {count, plural, one {# line} other {# lines}} of tags'],
    'tags.removed': ['Tags removed', '{who} removed {tags} from {where}'],
    'tags.set': ['Tags replaced', '{who} replaced the tags of {where}'],
  }),
  ...actions('agentless', undefined, {
    'connection.defaultsChanged': [
      'Default credentials changed',
      '{who} changed the default credentials of agentless hosts',
    ],
    'connections.imported': [
      'Agentless hosts imported',
      '{who} imported {count, plural, one {# agentless host} other {# agentless hosts}} from a file',
    ],
    'worker.activated': ['Worker activated', '{who} activated the worker for agentless hosts'],
    'worker.deactivated': ['Worker deactivated', '{who} deactivated the worker for agentless hosts'],
    'worker.deleted': ['Worker deleted', '{who} deleted the worker for agentless hosts'],
    'worker.registered': ['Worker registered', 'A process registered as worker for agentless hosts'],
    'worker.tokenCreated': ['Worker token created', '{who} created a worker token'],
  }),
  ...actions('agentless', 'connection', {
    'connection.added': ['Agentless host added', '{who} added {what}'],
    'connection.changed': ['Agentless host changed', '{who} changed agentless host {what}'],
    'connection.deleted': ['Agentless host deleted', '{who} deleted {what}'],
    'connection.host_key_confirmed': ['Host key confirmed', '{who} confirmed the host key of {what}'],
    'connection.registered': ['Polling started', '{who} started to poll {what}'],
    'connection.tested': ['Connection to agentless host tested', '{who} tested the connection to {what}'],
    'connection.unregistered': ['Polling stopped', '{who} stopped polling {what}'],
  }),
  ...actions('agentless', 'feed', {
    'feed.changed': ['Feed changed', '{who} changed feed {what}'],
    'feed.created': ['Feed created', '{who} created feed {what}'],
    'feed.deleted': ['Feed deleted', '{who} deleted feed {what}'],
  }),
  ...actions('quarantine', 'host', {
    'nac.clearAsked': ['Release from quarantine requested', '{who} requested the release of {what} from quarantine'],
    'nac.quarantineApproved': ['Quarantine approved', '{who} approved the quarantine of {what}'],
    'nac.quarantineAsked': ['Quarantine requested', '{who} requested the quarantine of {what}'],
    'nac.quarantineCleared': ['Quarantine released', '{who} released {what} from quarantine'],
    'nac.quarantineDismissed': ['Quarantine dismissed', '{who} dismissed the quarantine of {what}'],
    'nac.quarantineFailed': ['Quarantine failed', 'The quarantine of {what} failed'],
    'nac.quarantineWaiting': ['Quarantine awaits approval', 'The quarantine of {what} waits for a person'],
    'nac.quarantined': ['Host quarantined', '{who} quarantined {what}'],
  }),
  ...actions('accounts', 'account', {
    'account.changed': ['Account changed', '{who} changed account {what}'],
    'account.created': ['Account created', '{who} created account {what}'],
    'account.deleted': ['Account deleted', '{who} deleted account {what}'],
    'account.linkCreated': [
      'Password link created on the server',
      '{who} created a password link for {what} on the server',
    ],
    'account.passwordChanged': ['Password changed', 'The password of {what} was changed'],
    'account.suspended': ['Account suspended', '{who} suspended account {what}'],
    'account.suspensionLifted': ['Suspension lifted', '{who} lifted the suspension of {what}'],
    'account.tokensRevoked': ['API tokens revoked', '{who} revoked the API tokens of {what}'],
    'account.withdrawn': [
      'Account disabled by its directory',
      '{who} disabled account {what}, because its directory withdrew it',
    ],
  }),
  ...actions('accounts', 'token', {
    'apiToken.created': ['API token created', '{who} created API token {what}'],
    'apiToken.deleted': ['API token deleted', '{who} deleted API token {what}'],
    'apiToken.expired': ['API token expired', 'API token {what} expired'],
    'apiToken.limited': ['API token limited', '{who} limited the lifetime of API token {what}'],
  }),
  ...actions('signIn', undefined, {
    'session.refreshTokenReused': [
      'Refresh token used twice',
      'A session was ended, because its refresh token was used twice',
    ],
  }),
  ...actions('signIn', 'account', {
    'mfa.codesRenewed': ['Recovery codes renewed', '{who} renewed the recovery codes of {what}'],
    'mfa.exempted': ['Second factor exempted', '{who} exempted {what} from the second factor for a limited time'],
    'mfa.passkeyAdded': ['Passkey added', '{who} added a passkey to account {what}'],
    'mfa.passkeyRemoved': ['Passkey removed', '{who} removed a passkey from account {what}'],
    'mfa.refused': ['Second factor refused', 'An incorrect second factor of {what} was refused'],
    'mfa.reset': ['Second factors removed', '{who} removed the second factors of {what}'],
    'mfa.totpAdded': ['Authenticator app added', '{who} added an authenticator app to account {what}'],
    'mfa.totpRemoved': ['Authenticator app removed', '{who} removed the authenticator app of account {what}'],
    'session.ended': ['Session ended', '{who} ended a session of {what}'],
    'session.opened': ['Signed in', '{what} signed in'],
    'session.reauthenticated': ['Identity confirmed', '{what} confirmed their identity'],
    'session.reauthenticationRefused': ['Identity not confirmed', '{what} failed to confirm their identity'],
    'session.refused': [
      'Sign-in refused',
      '{count, plural, =0 {Sign-in of {entity} was refused} one {Sign-in of {entity} was refused} other {Sign-in of {entity} was refused # times}}',
    ],
  }),
  ...actions('approvals', undefined, {
    'approvals.liftEnded': ['Exception ended', '{who} ended the exception from the second approver'],
    'approvals.lifted': ['Second approver lifted', '{who} lifted the second approver for a limited time'],
    'change.approved': ['Request approved', '{who} approved the request of {what}: {entity}'],
    'change.rejected': ['Request rejected', '{who} rejected the request of {what}: {entity}'],
    'change.requested': ['Second approver requested', '{who} requested a second approver: {entity}'],
  }),
  ...actions('outputs', undefined, {
    'assets.consumerForgotten': ['Asset consumer removed', '{who} removed a consumer of the asset stream'],
    'assets.oldLocationsSent': [
      'Previous locations published',
      '{who} published {count, plural, one {# previous location} other {# previous locations}} on the asset stream',
    ],
    'assets.replayed': [
      'Assets sent again',
      '{who} started to send {count, plural, one {# asset} other {# assets}} again',
    ],
    'delivery.dropped': [
      'Delivery discarded',
      '{who} discarded {count, plural, one {# delivery} other {# deliveries}}',
    ],
    'delivery.retried': ['Delivery retried', '{who} retried {count, plural, one {# delivery} other {# deliveries}}'],
    'mail.dropped': ['Mail discarded', '{who} discarded a mail: {entity}'],
    'notification.channel.tested': ['Test notification sent', '{who} sent a test notification of the group {entity}'],
    'notification.group.updated': ['Notification group changed', '{who} changed the notification group {entity}'],
    'output.retried': ['Output retried', '{who} retried a paused output'],
    'output.skipped': ['Events skipped', '{who} skipped events of a paused output'],
  }),
  ...actions('outputs', 'alert', {
    'notice.assigned': ['Alert assigned', '{who} changed the owner of {what}'],
    'notice.closed': ['Alert closed', '{who} closed {what} with a verdict'],
    'notice.commented': ['Comment added to alert', '{who} commented on {what}'],
    'notice.dismissed': ['Alert closed without a verdict', '{who} closed {what} without a verdict'],
    'notice.muted': ['Alerts muted', '{who} muted {what}'],
    'notice.reopened': ['Alert reopened', '{who} reopened {what}'],
    'notice.snoozed': ['Alert snoozed', '{who} changed the snooze of {what}'],
    'notice.unmuted': ['Mute ended', '{who} ended the mute of {entity}'],
  }),
  ...actions('reports', undefined, {
    'view.deleted': ['View deleted', '{who} deleted the view {entity}'],
    'view.saved': ['View saved', '{who} saved the view {entity}'],
  }),
  ...actions('reports', 'report', {
    'report.cancelled': ['Report cancelled', 'The report {what} was cancelled'],
    'report.downloaded': ['Report downloaded', '{who} downloaded the report {what}'],
    'report.failed': ['Report failed', 'The report {what} failed'],
    'report.made': ['Report made', '{who} made the report {what}'],
    'report.ordered': ['Report started', '{who} started the report {what}'],
    'report_schedule.changed': ['Report schedule changed', '{who} changed the report schedule {what}'],
    'report_schedule.created': ['Report schedule created', '{who} created the report schedule {what}'],
    'report_schedule.deleted': ['Report schedule deleted', '{who} deleted the report schedule {what}'],
  }),
  ...actions('server', undefined, {
    'audit_anchor.set': ['Audit anchor set', '{who} set the anchor of the audit trail to {entity}'],
    'audit_checkpoints.begun': ['Audit checkpoints started', '{who} started to sign checkpoints of the audit trail'],
    'audit_key.changed': ['Audit key changed', '{who} changed the signing key of the audit trail'],
    'backup.made': ['Backup downloaded', '{who} downloaded a backup'],
    'backup.ordered': ['Backup started', '{who} started a backup'],
    'backup.refused': ['Backup refused', 'A backup with the key file was refused to {who}'],
    'command_key.rotated': ['Command key rotated', '{who} rotated the command key'],
    'config.changed': ['Settings changed', '{who} changed {what}'],
    'config.rolledBack': ['Settings restored', '{who} restored {what} from an earlier version'],
    'config.tested': [
      'Connection tested',
      '{who} tested a connection',
      {
        cact: '{who} tested the connection to Forescout CounterACT',
        ise: '{who} tested the connection to Cisco ISE',
        ldap: '{who} tested the connection to the LDAP directory',
        oidc: '{who} tested the connection to the OpenID Connect provider',
        smtp: '{who} tested the connection to the mail server',
      },
    ],
    'job.cancelled': ['Job cancelled', '{who} cancelled the job {entity}'],
    'keys.rotated': ['Key for stored secrets rotated', '{who} rotated the key for stored secrets'],
  }),
}

export type AuditAction = keyof typeof auditActions

/** The codes of all actions, in alphabetical order. */
export const auditActionCodes = Object.keys(auditActions).toSorted() as AuditAction[]

/** Returns the definition of an action. Records of earlier releases can have actions that it lacks. */
export const auditActionOf = (code: string): AuditActionDefinition | undefined =>
  Object.hasOwn(auditActions, code) ? auditActions[code as AuditAction] : undefined
