/** Explains every event to the person who reads it. `docs/reference/events.md` is generated from this table. */
import type { EventKind } from './events.ts'

/** The explanation of an event or an alert. The text is plain English without markup other than `code`. */
export interface Guidance {
  /** What happened. */
  readonly meaning: string
  /** Why it happens. */
  readonly cause: string
  /** What a person should do. */
  readonly cure: string
  /** Page of docs/guide with the details, with its anchor. */
  readonly guide?: string
}

const nothing = 'No action is needed.'

/** Explains each event by its kind. */
export const eventGuide: Readonly<Record<EventKind, Guidance>> = {
  attached: {
    meaning: 'A USB device was attached to a host.',
    cause: 'Somebody plugged the device in, or the host found it after a restart or a poll.',
    cure: nothing,
  },
  gone: {
    meaning: 'A USB device is no longer attached to a host.',
    cause: 'Somebody unplugged the device, or its hub or port lost power.',
    cure: nothing,
  },
  attackTool: {
    meaning: 'A device that is made to attack hosts is attached. The event names the host and the device.',
    cause:
      'The ids of the device are on the list of attack tools (suspected), or it behaves like one (confirmed). The server also raises the event if newer knowledge identifies a device that is already attached.',
    cure: 'Ask the user of the host where the device comes from, unplug it and keep it as evidence. If the host is Free, arm it: an armed host blocks attack tools. If the finding is wrong, an Administrator can explicitly allow the device.',
    guide: 'operator.md#findings',
  },
  blocked: {
    meaning: 'An armed host blocked a device. The event gives the reason and the case number that the user sees.',
    cause: 'No rule allows the device, a deny rule matches it, or it is an attack tool.',
    cure: 'If the device belongs there, approve it for the host, a tag or all hosts. Otherwise leave it blocked.',
    guide: 'troubleshooting.md#a-device-is-blocked-and-should-work',
  },
  vulnerable: {
    meaning: 'A device with a published vulnerability is attached.',
    cause: 'An advisory names the model of the device. The alert and the page of the device list the advisories.',
    cure: 'Install the firmware update of the vendor, or replace the device. If you accept the risk, dismiss the alert.',
    guide: 'operator.md#findings',
  },
  uncommon: {
    meaning: 'A device is attached whose model and interfaces only few hosts have.',
    cause:
      'The number of hosts with the model is below the threshold under Settings, Product. A new model starts as uncommon.',
    cure: 'Check that the device belongs to its user. If you buy more of the model, the finding ends automatically.',
    guide: 'operator.md#findings',
  },
  violation: {
    meaning: 'An armed host lets a device work that no rule allows.',
    cause:
      'The device was attached before the host was armed, its rule or grant has ended, or an exception applies, such as the last keyboard.',
    cure: 'Allow or deny the model under Device approvals. A deny rule blocks it at once.',
    guide: 'policy.md#rules',
  },
  driverMismatch: {
    meaning: 'The driver of a device contradicts what the device claims to be. The event shows the evidence.',
    cause:
      'The device hides a second function, or it has the ids of another device. An armed host holds the port. A Free host only reports it.',
    cure: 'Unplug the device and inspect it. Then release the port on the page of the host. Choose Accept drivers only if you know why the driver differs.',
    guide: 'policy.md#driver-mismatches',
  },
  unknownDriver: {
    meaning: 'The kernel bound a driver that the server does not know. The event names the driver and the kernel.',
    cause: 'The kernel is newer than the list of drivers, or the driver comes from another package of the host.',
    cure: 'Check where the driver comes from. The device works if a rule names its product id or fingerprint. If only a rule by kind or vendor id allows it, the host holds the port. Write a rule with the product id, or choose Accept drivers on the page of the host.',
    guide: 'policy.md#unknown-drivers',
  },
  changesDropped: {
    meaning:
      'A host could not reach the server, and the devices below one USB port changed more often than the agent can store. The agent kept the newest change of each port, and the first ones as long as it could. It dropped removals and repetitions first, then other identities. The event names the root port, the number and the time.',
    cause:
      'A device appears with a new identity again and again, which is unusual. Devices that return with the same identity are only counted.',
    cure: 'Inspect what is connected to this port. Changes of other devices below it, for example at the same docking station, may be among the dropped ones. Changes of other root ports are complete.',
    guide: 'operations.md#floods',
  },
  eventsMerged: {
    meaning:
      'A host raised more than 500 events in one hour. After that, the server stores the first event of each kind and device, and merges the others into summaries with the number, the first time and the last time. The severity is the highest of the merged events.',
    cause:
      'A device or connection is loose, a device appears with a new identity again and again, or a program on the host floods the server.',
    cure: 'Inspect the device and the port of the host. If the device is unknown, deny it.',
    guide: 'operations.md#floods',
  },
  inventory: {
    meaning: 'The server received the first inventory of a host.',
    cause: 'The host was enrolled, or its record was created again.',
    cure: nothing,
  },
  enrolled: {
    meaning: 'A host enrolled with the token that the event names.',
    cause: 'Somebody ran the install command on the host.',
    cure: 'If nobody of your team installed this host, remove it and revoke the enrolment token.',
    guide: 'operator.md#add-hosts',
  },
  removed: {
    meaning: 'A host was removed. Its agent can no longer sign in.',
    cause: 'A person removed the host. The audit trail names them.',
    cure: 'If the removal was a mistake, enrol the host with a new token.',
  },
  tookOver: {
    meaning: 'A new enrolment continues the record of a known host. Its rules and history are kept.',
    cause:
      'The agent was installed again on the same system, and its enrolment token allows a host to reclaim its record.',
    cure: 'If nobody did this, remove the host and revoke the token: another computer may claim to be this one.',
    guide: 'operator.md#cloned-and-reinstalled-hosts',
  },
  armed: {
    meaning: 'A host changed to Armed. It now blocks devices that the policy does not allow.',
    cause: 'A person or a rollout armed the host.',
    cure: nothing,
    guide: 'policy.md#modes-and-grades',
  },
  freed: {
    meaning: 'A host changed to Free. It reports devices and blocks nothing.',
    cause: 'A person freed the host, or a rollout was reverted. The audit trail names the person.',
    cure: 'If nobody on your team freed the host, find out who did, and arm it again.',
    guide: 'policy.md#modes-and-grades',
  },
  reverted: {
    meaning: 'A host changed to Free without a command from the server. The event gives the reason.',
    cause:
      'The host did not reach the server within the time that its arming order set, or somebody ran `portcullis-agent release` as root.',
    cure: 'Fix the connection of the host, or find out who released it. Then arm it again.',
    guide: 'troubleshooting.md#a-host-cannot-be-armed-or-goes-back-to-free',
  },
  commandFailed: {
    meaning: 'A command for a host failed or expired. The event names the command and the reason.',
    cause: 'The host refused the command, could not complete it, or was offline until it expired.',
    cure: 'Fix the cause that the event names, then repeat the action. For an offline host, first restore its connection.',
    guide: 'troubleshooting.md#a-host-is-disconnected',
  },
  updated: {
    meaning: 'The agent of a host runs another version.',
    cause: 'An update command or a rollout installed the build, or somebody installed it on the host.',
    cure: nothing,
    guide: 'agent-updates.md',
  },
  keyClone: {
    meaning: 'Two machines use the key of the same agent.',
    cause: 'The disk or the key file of the host was copied, or the host was restored from a snapshot.',
    cure: 'If you restored a snapshot, remove the host and enrol it again. Otherwise find the second machine: whoever runs it can pose as this host.',
    guide: 'troubleshooting.md#a-host-is-disconnected',
  },
  agentError: {
    meaning: 'An agent reported an error. The event has its code and text.',
    cause:
      'The agent could not read a device, change the kernel, or store its data. Insights, Errors lists the errors of all hosts.',
    cure: 'Read the log of the agent on the host, or choose Collect logs. Fix the cause that the event names.',
    guide: 'troubleshooting.md',
  },
  duplicate: {
    meaning: 'A host looks like the same machine as another one. The event says what both have in common.',
    cause: 'Its system was reinstalled, it was cloned, or an image gave its machine ID to several computers.',
    cure: 'Open the host. Choose Same computer for a reinstalled computer, or Different computers for a clone. Reset the machine ID of each clone.',
    guide: 'operator.md#cloned-and-reinstalled-hosts',
  },
  silent: {
    meaning: 'A host has not checked in for longer than the setting allows.',
    cause:
      'The host is off or was retired, its agent stopped, or the path to the server is blocked. The limit is `VENDORA_SILENT_HOURS` under Settings, Product.',
    cure: 'Start the host or its agent, or fix the connection. If the host is retired, remove it.',
    guide: 'troubleshooting.md#a-host-is-disconnected',
  },
  heardAgain: {
    meaning: 'A host that was disconnected for long checks in again. Its alert ends.',
    cause: 'The host, its agent or the connection works again.',
    cure: nothing,
  },
  updateRefused: {
    meaning: 'A host refused an agent build that its release key did not sign. Nothing was installed.',
    cause:
      'The server refuses such builds, so somebody may hold the command key or write to the database. Or the host still trusts an earlier release key.',
    cure: 'Compare the fingerprint in the event with your release keys. If it is not yours, check who can reach the server, and rotate the command key.',
    guide: 'agent-updates.md#lost-or-stolen-keys',
  },
  heldPortsFull: {
    meaning: 'A host holds as many USB ports as it can. It authorises no further device at any port.',
    cause: 'Driver mismatches occurred at 64 ports, and nobody released them.',
    cure: 'Open the host and release ports. The host then judges the waiting devices again.',
    guide: 'policy.md#driver-mismatches',
  },
  polled: {
    meaning: 'The worker polled an agentless host for the first time.',
    cause: 'A person added the connection, and its first poll succeeded.',
    cure: nothing,
    guide: 'agentless.md',
  },
  pollFailing: {
    meaning: 'The polls of an agentless host fail. Its devices are those of the last successful poll.',
    cause: 'The computer is off, the network blocks SSH, or the credentials are refused. The event gives the cause.',
    cure: 'Open the connection under Agentless hosts and choose Run test. It shows the step that fails.',
    guide: 'agentless.md#when-a-poll-fails',
  },
  pollRecovered: {
    meaning: 'An agentless host is polled again after failures.',
    cause: 'The cause of the failures is fixed.',
    cure: nothing,
  },
  hostKeyChanged: {
    meaning: 'An agentless host presents another SSH host key. The worker does not sign in to it.',
    cause: 'The computer was reinstalled, or another machine answers at its address.',
    cure: 'If the computer was reinstalled, enter the new fingerprint. Otherwise find the machine that answers in its place.',
    guide: 'agentless.md#when-a-poll-fails',
  },
  observed: {
    meaning: 'A feed contained a USB device of a host that has no agent and is not polled.',
    cause: 'An event collector or SIEM sent an event of this host.',
    cure: nothing,
    guide: 'feeds.md',
  },
  rollout: {
    meaning: 'A rollout changed its state: a ring started or finished, or a person paused, resumed or reverted it.',
    cause: 'The rollout follows its plan, or a person changed it.',
    cure: nothing,
    guide: 'agent-updates.md#update-in-rings',
  },
  rolloutHalted: {
    meaning: 'A rollout stopped and cancelled its open commands. The event gives the reason.',
    cause:
      'More hosts failed, or more hosts blocked unexpected devices, than the plan allows. Or its build was withdrawn or is not signed by the release key.',
    cure: 'Open the rollout and check the hosts that failed. Then resume the rollout, revert it or start a new one.',
    guide: 'agent-updates.md#update-in-rings',
  },
  degraded: {
    meaning: 'A part of the server changed to Warning or Error. The event names the part.',
    cause: 'The probe of the part failed twice in a row. The event has the result of the probe.',
    cure: 'Follow the advice for the part under Settings, Health and version.',
    guide: 'health.md#parts',
  },
  recovered: {
    meaning: 'A part of the server works again.',
    cause: 'The probes of the part succeed again.',
    cure: nothing,
    guide: 'health.md#changes',
  },
  tokenExpiring: {
    meaning: 'An API token expires soon. The event names the token, its account and the time.',
    cause: 'API tokens have an end. The server raises the event 14 days and again 3 days before it.',
    cure: 'Create a new token, give it to the program that uses the old one, then revoke the old one.',
    guide: 'operator.md#api-tokens',
  },
  accountSuspended: {
    meaning: 'An Administrator suspended an account: its sessions, API tokens and approvals stop for 24 hours.',
    cause: 'The Administrator suspects that somebody else uses the account.',
    cure: 'Talk to the owner of the account and to the Administrator. Then lift the suspension, or disable the account.',
    guide: 'operator.md#suspend-an-account',
  },
  approvalLifted: {
    meaning: 'Changes do not need a second approver until the time that the event names.',
    cause: 'Somebody ran `portcullis admin lift-second-approver` on the machine of the server.',
    cure: 'If nobody of your team did this, treat the machine of the server as compromised. To end it early, choose Require second approver now.',
    guide: 'policy.md#second-approver',
  },
  accountDisabled: {
    meaning: 'A person disabled or deleted the account of another person, or lowered its profile.',
    cause: 'The owner left or changed roles, or somebody tries to lock them out. The event names who did it.',
    cure: 'If the change is not expected, ask the person who made it, and restore the account.',
    guide: 'operator.md#accounts',
  },
  quarantined: {
    meaning: 'A host was quarantined by network access control.',
    cause: 'A person requested it, or a confirmed attack tool stayed attached. The event gives the reason.',
    cure: 'Remove the cause, then release the quarantine.',
    guide: 'integrations.md#quarantines',
  },
  quarantineCleared: {
    meaning: 'A quarantine ended, and the host is back on the network.',
    cause: 'A person released it, its time was over, or the device that caused it is gone.',
    cure: nothing,
    guide: 'integrations.md#quarantines',
  },
  quarantineFailed: {
    meaning: 'A quarantine could not be applied or verified. The host may still be on the network.',
    cause: 'Cisco ISE or CounterACT refused the request or does not show its effect. The event has the answer.',
    cure: 'Take the host off the network by other means if that is urgent. Fix the cause that the event names, and request the quarantine again.',
    guide: 'integrations.md#when-it-fails',
  },
  quarantineWaiting: {
    meaning: 'An automatic quarantine waits for a decision.',
    cause:
      'Too many addresses would be quarantined within ten minutes, the host has more than four addresses, or another host reports the same address.',
    cure: 'Approve or dismiss it under Quarantines.',
    guide: 'integrations.md#automatic-quarantine',
  },
}
