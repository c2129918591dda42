/**
 * Every event that the server can append, and the alert that it raises. Guides, alerts, notification groups, SIEM formats
 * and the console derive from this table.
 */
import { base, event, type OcsfActivity } from './event-definition.ts'

const finding: OcsfActivity = { class: 2004, activity: 1, activityName: 'Create', status: [1, 'New'] }
const handling = (activity: number, activityName: string, ...status: [number, string]): OcsfActivity => ({
  class: 2004,
  activity,
  activityName,
  status,
})
const inventory: OcsfActivity = { class: 5001, activity: 2, activityName: 'Collect' }
const failure: OcsfActivity = { class: 6008, activity: 1, activityName: 'General Error' }
const peripheral = (activity: number, activityName: string) => ({ class: 1010, activity, activityName }) as const
/** The device is attached, but its host does not use it. */
const disabled: OcsfActivity = {
  ...peripheral(4, 'Disable'),
  control: { action: [2, 'Denied'], disposition: [2, 'Blocked'] },
}
const entity = (activity: number, activityName: string) => ({ class: 3004, activity, activityName }) as const
const protection = (...state: [number, string]): OcsfActivity => ({
  class: 5019,
  activity: 1,
  activityName: 'Log',
  state,
})
const remediation = (activity: number, activityName: string, ...status: [number, string]): OcsfActivity => ({
  class: 7001,
  activity,
  activityName,
  status,
})

/** The events by kind. Existing codes and names never change: connectors match on them. */
export const eventCatalogue = {
  attached: event('0x110001', 5, 'New USB peripheral detected', peripheral(1, 'Connect'), {
    meaning: 'A USB device was attached to a host for the first time.',
    cause: 'Somebody plugged the device in, or the host found it after a restart or a poll.',
  }),
  attachedAgain: event('0x110004', 5, 'USB peripheral attached again', peripheral(1, 'Connect'), {
    meaning: 'A USB device was attached to a host that had it before.',
    cause: 'Somebody plugged the device in again, or the host found it after a restart or a poll.',
  }),
  moved: event('0x110005', 5, 'USB peripheral moved here', peripheral(1, 'Connect'), {
    meaning:
      'A USB device was attached to a host after it was last attached to another host, or to another port of this host. The event names that host or port. A device on two hosts is the same if its IDs and serial number are the same and at most 5 hosts have this serial number.',
    cause: 'Somebody moved the device.',
  }),
  gone: event('0x110003', 5, 'USB peripheral disconnected', peripheral(2, 'Disconnect'), {
    meaning: 'A USB device is no longer attached to a host.',
    cause: 'Somebody unplugged the device, or its hub or port lost power.',
  }),
  attackTool: event('0x110010', 2, 'Known attack tool detected', finding, {
    meaning: 'A device that is made to attack hosts is attached. The event names the host and the device.',
    cause:
      'The ids of the device are on the list of attack tools (suspected), or it behaves like one (confirmed). The server also raises the event if newer knowledge identifies a device that is already attached.',
    cure: 'Ask the user of the host where the device comes from, unplug it and keep it as evidence. If the host is Free, arm it: an armed host blocks attack tools. If the finding is wrong, an Administrator can explicitly allow the device.',
    guide: 'operator.md#findings',
    alert: {
      title: 'Attack tool',
      meaning: 'A device was attached that is on the list of attack tools or behaves like one.',
      group: 'Attacks',
      order: 1,
      subject: 'model',
      many: 'attack tools',
      spreads: true,
      steps: ['deny', 'accept', 'hosts', 'devices'],
    },
  }),
  blocked: event('0x110011', 4, 'USB peripheral blocked', disabled, {
    meaning: 'An armed host blocked a device. The event gives the reason and the case number that the user sees.',
    cause: 'No rule allows the device, a deny rule matches it, or it is an attack tool.',
    cure: 'If the device belongs there, approve it for the host, a tag or all hosts. Otherwise leave it blocked.',
    guide: 'troubleshooting.md#a-device-is-blocked-and-should-work',
    alert: {
      title: 'Blocked by policy',
      meaning: 'An armed host blocked a device, because a rule denies it or no rule allows it.',
      group: 'Devices',
      order: 7,
      subject: 'model',
      many: 'blocked devices',
      isBroad: true,
      steps: ['devices', 'approve', 'hosts'],
    },
  }),
  vulnerable: event('0x110012', 4, 'Vulnerable USB peripheral detected', finding, {
    meaning: 'A device with a published vulnerability is attached.',
    cause: 'An advisory names the model of the device. The alert and the page of the device list the advisories.',
    cure: 'Install the firmware update of the vendor, or replace the device. If you accept the risk, close the alert as benign.',
    guide: 'operator.md#findings',
    alert: {
      title: 'Vulnerable device',
      meaning: 'A device with a published vulnerability was attached.',
      group: 'Devices',
      order: 4,
      subject: 'model',
      many: 'vulnerable devices',
      isBroad: true,
      steps: ['devices', 'deny', 'hosts'],
    },
  }),
  uncommon: event('0x110013', 4, 'Uncommon USB peripheral detected', finding, {
    meaning: 'A device is attached whose model and interfaces only few hosts have.',
    cause:
      'The number of hosts with the model is below the threshold under Settings, Product. A new model starts as uncommon.',
    cure: 'Check that the device belongs to its user. If you buy more of the model, the finding ends automatically.',
    guide: 'operator.md#findings',
    alert: {
      title: 'Uncommon device',
      meaning:
        'A device is attached whose model and interfaces are on few hosts. The thresholds are under Settings, Product.',
      group: 'Devices',
      order: 5,
      subject: 'model',
      many: 'uncommon devices',
      isBroad: true,
      steps: ['devices', 'deny', 'hosts'],
    },
  }),
  violation: event('0x110014', 4, 'USB peripheral is not on the allowlist', finding, {
    meaning: 'An armed host lets a device work that no rule allows.',
    cause:
      'The device was attached before the host was armed, its rule or grant has ended, or an exception applies, such as the last keyboard.',
    cure: 'Allow or deny the model under Device approvals. A deny rule blocks it at once.',
    guide: 'policy.md#rules',
    alert: {
      kind: 'whitelistViolation',
      title: 'Not on the allowlist',
      meaning:
        'An armed host lets a device work that is not on the allowlist, for example because it was attached before the host was armed.',
      group: 'Devices',
      order: 6,
      subject: 'model',
      many: 'devices not on the allowlist',
      steps: ['devices', 'approve', 'deny', 'hosts'],
    },
  }),
  driverMismatch: event('0x110015', 2, 'USB peripheral is not what it claims to be', finding, {
    meaning: 'The driver of a device contradicts what the device claims to be. The event shows the evidence.',
    cause:
      'The device hides a second function, or it has the ids of another device. An armed host holds the port. A Free host only reports it.',
    cure: 'Unplug the device and inspect it. Then release the port on the page of the host. Choose Accept drivers only if you know why the driver differs.',
    guide: 'policy.md#driver-mismatches',
    alert: {
      title: 'Driver mismatch',
      meaning:
        'The kernel bound a driver that is not allowed for this kind of device. An armed host holds the port until someone releases it.',
      group: 'Attacks',
      order: 2,
      subject: 'model',
      many: 'driver mismatches',
      spreads: true,
      steps: ['hosts', 'devices', 'deny'],
    },
  }),
  unknownDriver: event('0x110016', 4, 'USB peripheral has an unknown driver', finding, {
    meaning: 'The kernel bound a driver that the server does not know. The event names the driver and the kernel.',
    cause: 'The kernel is newer than the list of drivers, or the driver comes from another package of the host.',
    cure: 'Check where the driver comes from. The device works if a rule names its product id or fingerprint. If only a rule by kind or vendor id allows it, the host holds the port. Write a rule with the product id, or choose Accept drivers on the page of the host.',
    guide: 'policy.md#unknown-drivers',
    alert: {
      title: 'Unknown driver',
      meaning: 'The kernel bound a driver that the server does not know. This is no evidence of an attack.',
      group: 'Devices',
      order: 3,
      switchOrder: 13,
      subject: 'model',
      many: 'unknown drivers',
      isBroad: true,
      steps: ['hosts', 'devices'],
    },
  }),
  changesDropped: event('0x110017', 3, 'USB changes of a port were dropped', finding, {
    meaning:
      'A host could not reach the server, and the devices below one USB port changed more often than the agent can store. The agent kept the newest change of each port, and the first ones as long as it could. It dropped removals and repetitions first, then other identities. The event names the root port, the number and the time.',
    cause:
      'A device appears with a new identity again and again, which is unusual. Devices that return with the same identity are only counted.',
    cure: 'Inspect what is connected to this port. Changes of other devices below it, for example at the same docking station, may be among the dropped ones. Changes of other root ports are complete.',
    guide: 'operations.md#floods',
  }),
  findingClosed: event('0x110018', 5, 'Finding closed', handling(3, 'Close', 4, 'Resolved'), {
    meaning: 'A person closed a finding about a device of a host. The event contains the verdict and the comment.',
    cause: 'The finding was handled, or it is harmless on this host.',
    guide: 'operator.md#open-findings',
  }),
  findingReopened: event('0x110019', 5, 'Finding reopened', handling(2, 'Update', 1, 'New'), {
    meaning: 'A person reopened a closed finding about a device of a host.',
    cause: 'The finding was closed by mistake, or there is new information.',
    guide: 'operator.md#open-findings',
  }),
  inventory: event('0x120001', 5, 'Inventory received', inventory, {
    meaning: 'The server received the first inventory of a host.',
    cause: 'The host was enrolled, or its record was created again.',
  }),
  enrolled: event('0x120002', 5, 'Agent enrolled', entity(6, 'Enroll'), {
    meaning: 'A host enrolled with the token that the event names.',
    cause: 'Somebody ran the install command on the host.',
    cure: 'If nobody of your team installed this host, remove it and revoke the enrolment token.',
    guide: 'operator.md#add-hosts',
  }),
  removed: event('0x120003', 5, 'Agent removed', entity(7, 'Unenroll'), {
    meaning: 'A host was removed. Its agent can no longer sign in.',
    cause: 'A person removed the host. The audit trail names them.',
    cure: 'If the removal was a mistake, enrol the host with a new token.',
  }),
  tookOver: event('0x120004', 4, 'Agent taken over by a new enrolment of the same host', entity(3, 'Update'), {
    meaning: 'A new enrolment continues the record of a known host. Its rules and history are kept.',
    cause:
      'The agent was installed again on the same system, and its enrolment token allows a host to reclaim its record.',
    cure: 'If nobody did this, remove the host and revoke the token: another computer may claim to be this one.',
    guide: 'operator.md#cloned-and-reinstalled-hosts',
  }),
  armed: event('0x120005', 5, 'Host armed', protection(2, 'Enabled'), {
    meaning: 'A host changed to Armed. It now blocks devices that the policy does not allow.',
    cause: 'A person or a rollout armed the host.',
    guide: 'policy.md#modes-and-grades',
  }),
  freed: event('0x120006', 4, 'Host freed', protection(1, 'Disabled'), {
    meaning: 'A host changed to Free. It reports devices and blocks nothing.',
    cause: 'A person freed the host, or a rollout was reverted. The audit trail names the person.',
    cure: 'If nobody on your team freed the host, find out who did, and arm it again.',
    guide: 'policy.md#modes-and-grades',
  }),
  reverted: event('0x120007', 3, 'Host reverted to Free', protection(1, 'Disabled'), {
    meaning: 'A host changed to Free without a command from the server. The event gives the reason.',
    cause:
      'The host did not reach the server within the time that its arming order set, or somebody ran `portcullis-agent release` as root.',
    cure: 'Fix the connection of the host, or find out who released it. Then arm it again.',
    guide: 'troubleshooting.md#a-host-cannot-be-armed-or-goes-back-to-free',
  }),
  commandFailed: event('0x120008', 3, 'Command failed', failure, {
    meaning: 'A command for a host failed or expired. The event names the command and the reason.',
    cause: 'The host refused the command, could not complete it, or was offline until it expired.',
    cure: 'Fix the cause that the event names, then repeat the action. For an offline host, first restore its connection.',
    guide: 'troubleshooting.md#a-host-is-disconnected',
  }),
  updated: event(
    '0x120009',
    5,
    'Agent updated',
    { class: 6002, activity: 8, activityName: 'Update' },
    {
      meaning: 'The agent of a host runs another version.',
      cause: 'An update command or a rollout installed the build, or somebody installed it on the host.',
      guide: 'agent-updates.md',
    },
  ),
  keyClone: event('0x120010', 2, 'Agent key used from two places', finding, {
    meaning: 'Two machines use the key of the same agent.',
    cause: 'The disk or the key file of the host was copied, or the host was restored from a snapshot.',
    cure: 'If you restored a snapshot, remove the host and enrol it again. Otherwise find the second machine: whoever runs it can pose as this host.',
    guide: 'troubleshooting.md#a-host-is-disconnected',
    alert: {
      title: 'Copied agent key',
      meaning: 'The key of an agent was used from two places.',
      group: 'Attacks',
      order: 8,
      subject: 'host',
      many: 'copied agent keys',
      steps: ['hosts', 'events'],
    },
  }),
  agentError: event('0x120011', 3, 'Agent reported an error', failure, {
    meaning: 'An agent reported an error. The event has its code and text.',
    cause:
      'The agent could not read a device, change the kernel, or store its data. Insights, Errors lists the errors of all hosts.',
    cure: 'Read the log of the agent on the host, or choose Collect logs. Fix the cause that the event names.',
    guide: 'troubleshooting.md',
  }),
  duplicate: event('0x120012', 4, 'Possible duplicate of a known host', finding, {
    meaning: 'A host looks like the same machine as another one. The event says what both have in common.',
    cause: 'Its system was reinstalled, it was cloned, or an image gave its machine ID to several computers.',
    cure: 'Open the host. Choose Same computer for a reinstalled computer, or Different computers for a clone. Reset the machine ID of each clone.',
    guide: 'operator.md#cloned-and-reinstalled-hosts',
    alert: {
      title: 'Possible duplicate',
      meaning: 'A host that enrolled or was polled looks like the same machine as another one.',
      group: 'Attacks',
      order: 9,
      subject: 'host',
      headline: (hosts: string) => `Possible duplicate: ${hosts}`,
      many: 'possible duplicates',
      steps: ['hosts', 'events'],
    },
  }),
  silent: event(
    '0x120013',
    4,
    'Host stopped checking in',
    { ...base, activityName: 'Stopped checking in' },
    {
      meaning: 'A host has not checked in for longer than the setting allows.',
      cause:
        'The host is off or was retired, its agent stopped, or the path to the server is blocked. The limit is `VENDORA_SILENT_HOURS` under Settings, Product.',
      cure: 'Start the host or its agent, or fix the connection. If the host is retired, remove it.',
      guide: 'troubleshooting.md#a-host-is-disconnected',
      alert: {
        kind: 'agentSilent',
        title: 'Disconnected host',
        meaning: 'A host has not checked in for longer than VENDORA_SILENT_HOURS (Settings, Product).',
        group: 'Disconnected hosts',
        order: 10,
        subject: 'host',
        headline: (hosts: string) => `${hosts === '' ? 'Many hosts' : hosts} stopped checking in`,
        steps: ['hosts', 'events'],
      },
    },
  ),
  heardAgain: event(
    '0x120014',
    5,
    'Host checks in again',
    { ...base, activityName: 'Checks in again' },
    {
      meaning: 'A host that was disconnected for long checks in again. Its alert ends.',
      cause: 'The host, its agent or the connection works again.',
    },
  ),
  eventsMerged: event('0x120015', 4, 'Repeated events of a host were merged', finding, {
    meaning:
      'A host raised more than 500 events in one hour. After that, the server stores the first event of each kind and device, and merges the others into summaries with the number, the first time and the last time. The severity is the highest of the merged events.',
    cause:
      'A device or connection is loose, a device appears with a new identity again and again, or a program on the host floods the server.',
    cure: 'Inspect the device and the port of the host. If the device is unknown, deny it.',
    guide: 'operations.md#floods',
  }),
  updateRefused: event('0x120030', 2, 'Agent refused a build that its release key did not sign', finding, {
    meaning: 'A host refused an agent build that its release key did not sign. Nothing was installed.',
    cause:
      'The server refuses such builds, so somebody may hold the command key or write to the database. Or the host still trusts an earlier release key.',
    cure: 'Compare the fingerprint in the event with your release keys. If it is not yours, check who can reach the server, and rotate the command key.',
    guide: 'agent-updates.md#lost-or-stolen-keys',
  }),
  heldPortsFull: event('0x120031', 2, 'Host reached its limit of held USB ports', finding, {
    meaning: 'A host holds as many USB ports as it can. It authorises no further device at any port.',
    cause: 'Driver mismatches occurred at 64 ports, and nobody released them.',
    cure: 'Open the host and release ports. The host then evaluates the waiting devices again.',
    guide: 'policy.md#driver-mismatches',
  }),
  polled: event('0x140001', 5, 'Computer polled for the first time', inventory, {
    meaning: 'The worker polled an agentless host for the first time.',
    cause: 'A person added the connection, and its first poll succeeded.',
    guide: 'agentless.md',
  }),
  pollFailing: event('0x140002', 4, 'Computer cannot be polled', failure, {
    meaning: 'The polls of an agentless host fail. Its devices are those of the last successful poll.',
    cause: 'The computer is off, the network blocks SSH, or the credentials are refused. The event gives the cause.',
    cure: 'Open the connection under Agentless hosts and choose Run test. It shows the step that fails.',
    guide: 'agentless.md#when-a-poll-fails',
  }),
  pollRecovered: event(
    '0x140003',
    5,
    'Computer is polled again',
    { ...base, activityName: 'Poll recovered' },
    {
      meaning: 'An agentless host is polled again after failures.',
      cause: 'The cause of the failures is fixed.',
    },
  ),
  hostKeyChanged: event('0x140004', 3, 'Host key of a polled computer changed', finding, {
    meaning: 'An agentless host presents another SSH host key. The worker does not sign in to it.',
    cause: 'The computer was reinstalled, or another machine answers at its address.',
    cure: 'If the computer was reinstalled, enter the new fingerprint. Otherwise find the machine that answers in its place.',
    guide: 'agentless.md#when-a-poll-fails',
  }),
  observed: event('0x140005', 5, 'Computer observed by a feed for the first time', inventory, {
    meaning: 'A feed contained a USB device of a host that has no agent and is not polled.',
    cause: 'An event collector or SIEM sent an event of this host.',
    guide: 'feeds.md',
  }),
  rollout: event('0x130001', 5, 'Rollout', base, {
    meaning: 'A rollout changed its state: a ring started or finished, or a person paused, resumed or reverted it.',
    cause: 'The rollout follows its plan, or a person changed it.',
    guide: 'agent-updates.md#update-in-rings',
  }),
  rolloutHalted: event('0x130002', 3, 'Rollout halted', base, {
    meaning: 'A rollout stopped and cancelled its open commands. The event gives the reason.',
    cause:
      'More hosts failed, or more hosts blocked unexpected devices, than the plan allows. Or its build was withdrawn or is not signed by the release key.',
    cure: 'Open the rollout and check the hosts that failed. Then resume the rollout, revert it or start a new one.',
    guide: 'agent-updates.md#update-in-rings',
  }),
  degraded: event('0x130010', 4, 'Subsystem degraded', failure, {
    meaning: 'A part of the server changed to Warning or Error. The event names the part.',
    cause: 'The probe of the part failed twice in a row. The event has the result of the probe.',
    cure: 'Follow the advice for the part under Settings, Health and version.',
    guide: 'health.md#parts',
  }),
  recovered: event('0x130011', 5, 'Subsystem recovered', base, {
    meaning: 'A part of the server works again.',
    cause: 'The probes of the part succeed again.',
    guide: 'health.md#changes',
  }),
  tokenExpiring: event('0x130020', 4, 'API token expires soon', base, {
    meaning: 'An API token expires soon. The event names the token, its account and the time.',
    cause: 'API tokens have an end. The server raises the event 14 days and again 3 days before it.',
    cure: 'Create a new token, give it to the program that uses the old one, then revoke the old one.',
    guide: 'operator.md#api-tokens',
    alert: {
      title: 'API token expires soon',
      meaning: 'An API token expires within 14 days. You are notified again 3 days before it expires.',
      group: 'Accounts and tokens',
      order: 11,
      subject: 'account',
      page: '/settings/tokens',
      steps: ['list'],
    },
  }),
  alertAssigned: event('0x130030', 5, 'Alert assigned', handling(2, 'Update', 2, 'In Progress'), {
    meaning:
      'A person assigned an alert to an account, or removed its owner. The event names the alert and both people.',
    cause: 'Somebody takes care of the alert.',
    guide: 'alerts.md#cases',
  }),
  alertCommented: event('0x130031', 5, 'Comment added to alert', handling(2, 'Update', 2, 'In Progress'), {
    meaning: 'A person commented on an alert. The event contains the comment.',
    cause: 'Somebody takes care of the alert.',
    guide: 'alerts.md#cases',
  }),
  alertSnoozed: event('0x130032', 5, 'Alert snoozed', handling(2, 'Update', 3, 'Suppressed'), {
    meaning: 'A person hid an alert until a time, or ended the snooze early. The event names the time.',
    cause: 'The alert can wait.',
    guide: 'alerts.md#cases',
  }),
  alertClosed: event('0x130033', 5, 'Alert closed', handling(3, 'Close', 4, 'Resolved'), {
    meaning: 'An alert was closed. The event contains the verdict and the comment, or the reason why the alert ended.',
    cause: 'A person closed the alert, or its condition ended.',
    guide: 'alerts.md#cases',
  }),
  alertReopened: event('0x130034', 5, 'Alert reopened', handling(2, 'Update', 1, 'New'), {
    meaning: 'A closed alert was reopened by a person, or because its mute ended.',
    cause: 'The alert was closed by mistake, there is new information, or the mute held back events.',
    guide: 'alerts.md#cases',
  }),
  accountSuspended: event('0x130021', 3, 'Account suspended', base, {
    meaning: 'An Administrator suspended an account: its sessions, API tokens and approvals stop for 24 hours.',
    cause: 'The Administrator suspects that somebody else uses the account.',
    cure: 'Talk to the owner of the account and to the Administrator. Then lift the suspension, or disable the account.',
    guide: 'operator.md#suspend-an-account',
    alert: {
      title: 'Account suspended',
      meaning: "An Administrator suspended another account's sessions, API tokens and approvals for 24 hours.",
      group: 'Accounts and tokens',
      order: 12,
      subject: 'account',
      page: '/settings/accounts',
      steps: ['list'],
    },
  }),
  accountDisabled: event('0x130023', 4, 'Account disabled, demoted or deleted', base, {
    meaning: 'A person disabled or deleted the account of another person, or lowered its profile.',
    cause: 'The owner left or changed roles, or somebody tries to lock them out. The event names who did it.',
    cure: 'If the change is not expected, ask the person who made it, and restore the account.',
    guide: 'operator.md#accounts',
    alert: {
      title: 'Account disabled or deleted',
      meaning: 'Someone disabled or deleted the account of another person, or lowered its profile.',
      group: 'Accounts and tokens',
      order: 13,
      subject: 'account',
      page: '/settings/accounts',
      steps: ['list'],
    },
  }),
  approvalLifted: event('0x130022', 2, 'Second approver requirement lifted', base, {
    meaning: 'Changes do not need a second approver until the time that the event names.',
    cause: 'Somebody ran `portcullis admin lift-second-approver` on the machine of the server.',
    cure: 'If nobody of your team did this, treat the machine of the server as compromised. To end it early, choose Require second approver now.',
    guide: 'policy.md#second-approver',
  }),
  quarantined: event('0x150001', 4, 'Host quarantined', remediation(1, 'Isolate', 1, 'Success'), {
    meaning: 'A host was quarantined by network access control.',
    cause: 'A person requested it, or a confirmed attack tool stayed attached. The event gives the reason.',
    cure: 'Remove the cause, then release the quarantine.',
    guide: 'integrations.md#quarantines',
  }),
  quarantineCleared: event('0x150002', 5, 'Quarantine cleared', remediation(3, 'Restore', 1, 'Success'), {
    meaning: 'A quarantine ended, and the host is back on the network.',
    cause: 'A person released it, its time was over, or the device that caused it is gone.',
    guide: 'integrations.md#quarantines',
  }),
  quarantineFailed: event('0x150003', 3, 'Quarantine failed', remediation(1, 'Isolate', 2, 'Failure'), {
    meaning: 'A quarantine could not be applied or verified. The host may still be on the network.',
    cause: 'Cisco ISE or CounterACT refused the request or does not show its effect. The event has the answer.',
    cure: 'Take the host off the network by other means if that is urgent. Fix the cause that the event names, and request the quarantine again.',
    guide: 'integrations.md#when-it-fails',
  }),
  quarantineWaiting: event(
    '0x150004',
    3,
    'Quarantine awaits approval',
    remediation(1, 'Isolate', 99, 'Waits for a person'),
    {
      meaning: 'An automatic quarantine waits for a decision.',
      cause:
        'Too many addresses would be quarantined within ten minutes, the host has more than four addresses, or another host reports the same address.',
      cure: 'Approve or dismiss it under Quarantines.',
      guide: 'integrations.md#automatic-quarantine',
    },
  ),
}
export type EventKind = keyof typeof eventCatalogue

/** The events that say that a device was attached. */
export const attachmentKinds = ['attached', 'attachedAgain', 'moved'] as const satisfies readonly EventKind[]

/** Events about one USB device. Their details begin with its ids and names, which outputs read. */
export type DeviceEventKind = Exclude<
  { [K in EventKind]: (typeof eventCatalogue)[K]['category'] extends 'USB' ? K : never }[EventKind],
  'changesDropped'
>
