/** Explains every alert to the person who handles it. `docs/reference/alerts.md` is generated from these tables. */
import { eventGuide, type Guidance } from '#features/events/contract/event-guide.ts'
import type { EventKind } from '#features/events/contract/events.ts'
import type { SubsystemName } from '#features/health/contract/health.ts'
import { subsystemGuide } from '#features/health/contract/health-guide.ts'
import type { NoticeKind } from './notifications.ts'

/** The explanation of an alert, with its name in the console. */
export interface AlertGuidance extends Guidance {
  readonly title: string
  /** The event that raises the alert. */
  readonly event: EventKind
}

const raisedBy = (event: EventKind, title: string, meaning: string): AlertGuidance => ({
  ...eventGuide[event],
  title,
  event,
  meaning,
})

/** Explains each alert about hosts, devices, accounts and tokens. Cause and cure are those of its event. */
export const alertGuide: Readonly<Record<NoticeKind, AlertGuidance>> = {
  attackTool: raisedBy(
    'attackTool',
    'Attack tool',
    'A device was attached that is on the list of attack tools or behaves like one.',
  ),
  driverMismatch: raisedBy(
    'driverMismatch',
    'Driver mismatch',
    'The kernel bound a driver that is not allowed for this kind of device. An armed host holds the port until someone releases it.',
  ),
  unknownDriver: raisedBy(
    'unknownDriver',
    'Unknown driver',
    'The kernel bound a driver that the server does not know. This is no evidence of an attack.',
  ),
  vulnerable: raisedBy('vulnerable', 'Vulnerable device', 'A device with a published vulnerability was attached.'),
  uncommon: raisedBy(
    'uncommon',
    'Uncommon device',
    'A device is attached whose model and interfaces are on few hosts. The thresholds are under Settings, Product.',
  ),
  whitelistViolation: raisedBy(
    'violation',
    'Not on the allowlist',
    'An armed host lets a device work that is not on the allowlist, for example because it was attached before the host was armed.',
  ),
  blocked: raisedBy(
    'blocked',
    'Blocked device',
    'An armed host blocked a device, because a rule denies it or no rule allows it.',
  ),
  keyClone: raisedBy('keyClone', 'Copied agent key', 'The key of an agent was used from two places.'),
  duplicate: raisedBy(
    'duplicate',
    'Possible duplicate',
    'A host that enrolled or was polled looks like the same machine as another one.',
  ),
  agentSilent: raisedBy(
    'silent',
    'Disconnected host',
    'A host has not checked in for longer than VENDORA_SILENT_HOURS (Settings, Product).',
  ),
  tokenExpiring: raisedBy(
    'tokenExpiring',
    'API token expires soon',
    'An API token expires within 14 days. You are notified again 3 days before it expires.',
  ),
  accountSuspended: raisedBy(
    'accountSuspended',
    'Account suspended',
    "An Administrator suspended another account's sessions, API tokens and approvals for 24 hours.",
  ),
  accountDisabled: raisedBy(
    'accountDisabled',
    'Account disabled or deleted',
    'Someone disabled or deleted the account of another person, or lowered its profile.',
  ),
}

const part = (name: SubsystemName, meaning: string, cause: string): Guidance => ({
  meaning,
  cause,
  cure: subsystemGuide[name].cure,
  guide: `health.md#${name.toLowerCase().replaceAll(' ', '-')}`,
})

/** Explains each alert about a part of the server or a connected system. */
export const healthAlertGuide: Readonly<Record<SubsystemName, Guidance>> = {
  database: part(
    'database',
    'The server cannot use its database, or the database is slow.',
    'PostgreSQL does not answer within 5 seconds, or answers more slowly than the threshold.',
  ),
  'agent gateway': part(
    'agent gateway',
    'Many hosts do not check in.',
    'The share of hosts that missed three check-ins is above the threshold.',
  ),
  'event processing': part(
    'event processing',
    'Reports of hosts wait to be stored, or readers of the event stream are behind.',
    'Reports arrive faster than the database stores them.',
  ),
  'job queue': part(
    'job queue',
    'Long-running work does not start, or it failed.',
    'A job is due for longer than the threshold, or jobs failed within the last day.',
  ),
  'agentless worker': part(
    'agentless worker',
    'Agentless hosts are not polled on time.',
    'No worker has reported for 30 seconds, or polls are overdue.',
  ),
  mail: part('mail', 'The server cannot send mail.', 'The last mail could not be sent.'),
  LDAP: part(
    'LDAP',
    'People cannot sign in with their account of the directory.',
    'The directory does not answer, or refuses the bind account.',
  ),
  ISE: part(
    'ISE',
    'The server cannot request quarantines from Cisco ISE.',
    'Cisco ISE does not answer, refuses the account, or does not have the policy.',
  ),
  CACT: part(
    'CACT',
    'The server cannot request quarantines from Forescout CounterACT.',
    'CounterACT does not answer, refuses an account, or does not have the property.',
  ),
  'asset stream': part(
    'asset stream',
    'A consumer of the inventory is behind.',
    'The consumer does not read, or published messages do not arrive.',
  ),
  disk: part(
    'disk',
    'The volume of the data directory fills up. When it is full, the server stores nothing more.',
    'The free space is below the threshold.',
  ),
  licence: part(
    'licence',
    'The licence does not cover this installation, or soon will not.',
    'The licence expires soon, has expired, is not signed by a known issuer, or covers fewer hosts than there are.',
  ),
  clock: part(
    'clock',
    'Clocks differ. Sessions, signatures and event times depend on them.',
    'The clock of the server differs from that of the database, or the clocks of hosts are more than five minutes off.',
  ),
  backups: part(
    'backups',
    'There is no recent backup.',
    'The last scheduled backup failed or is late, its folder is full or cannot be written, or the newest complete backup is older than the threshold.',
  ),
  deliveries: part(
    'deliveries',
    'Notifications or events do not reach their receiver.',
    'A receiver does not answer, or refuses a message.',
  ),
  knowledge: part(
    'knowledge',
    'The data about attack tools and vulnerable devices is old. New attack tools may not be recognised.',
    'The data in force is older than the threshold.',
  ),
  reports: part(
    'reports',
    'A scheduled report was not created, or did not reach everybody.',
    'The last run of a schedule failed, or a recipient refused it.',
  ),
  audit: part(
    'audit',
    'The audit trail is not protected at present, or it was changed.',
    'A checkpoint or its copy could not be written. Or the trail does not match its checkpoints.',
  ),
  'policy rules': part(
    'policy rules',
    'Rules were changed in the database, not by the server. Armed hosts get no new policy.',
    'A rule was changed, deleted, restored or inserted in the database, or a server of an earlier release changed the rules.',
  ),
}
