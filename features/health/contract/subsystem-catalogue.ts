import type { Guidance } from '#features/events/contract/event-definition.ts'

/** The explanation of a problem with a subsystem. docs/guide/health.md has the details under the same name. */
interface SubsystemDefinition extends Guidance {
  /** How to set up an optional subsystem. */
  readonly setUp?: string
  /** True: it is outside this server, such as a mail server. */
  readonly isConnected?: true
}

/** The subsystems that the server probes, by the names that clients see, and the alerts about them. */
export const subsystemCatalogue = {
  database: {
    meaning: 'The server cannot use its database, or the database is slow.',
    cause: 'PostgreSQL does not answer within 5 seconds, or answers more slowly than the threshold.',
    cure: 'PostgreSQL is unavailable or slow. Check that it runs and that its disk is neither full nor overloaded. The server log contains the failed statement. If DATABASE_URL is set, check that this machine can reach that address.',
  },
  'agent gateway': {
    meaning: 'Many hosts do not check in.',
    cause: 'The share of hosts that missed three check-ins is above the threshold.',
    cure: 'Many hosts do not check in. Check that they can reach the address and port of this server (firewall, proxy, name, certificate). No data is lost: agents keep their reports.',
  },
  'event processing': {
    meaning: 'Reports of hosts wait to be stored, or readers of the event stream are behind.',
    cause: 'Reports arrive faster than the database stores them.',
    cure: 'Reports arrive faster than the server stores them. Check the database first, then the load of this machine (Settings, Health: Processor). Until the cause is fixed, increase the check-in interval under Settings, Product.',
  },
  'job queue': {
    meaning: 'Long-running work does not start, or it failed.',
    cause: 'A job is due for longer than the threshold, or jobs failed within the last day.',
    cure: 'A job failed or has not started. The Jobs tray at the top shows the job and the reason. Repeat the action that started it. If jobs wait and none runs, restart the server; waiting jobs then continue.',
  },
  'agentless worker': {
    meaning: 'Agentless hosts are not polled on time.',
    cause: 'No worker has reported for 30 seconds, or polls are overdue.',
    cure: 'Agentless hosts wait to be polled. Under Agentless hosts, activate the worker, or start another worker with the command shown there.',
    setUp: 'Add the hosts to poll under Agentless hosts. The server starts a worker.',
    isConnected: true,
  },
  mail: {
    meaning: 'The server cannot send mail.',
    cause: 'The last mail could not be sent.',
    cure: 'The mail server is unavailable or refuses messages. Run the connection test under Settings, Mail: it shows which step fails. The server keeps messages and sends them later.',
    setUp: 'Under Settings, Mail, enter the server and sender, then send a test message.',
    isConnected: true,
  },
  LDAP: {
    meaning: 'People cannot sign in with their account of the directory.',
    cause: 'The directory does not answer, or refuses the bind account.',
    cure: 'The directory is unavailable or refuses the bind account. Run the connection test under Settings, Directory: it shows which step fails. Local accounts can still sign in.',
    setUp: 'Under Settings, Directory, enter the address and groups, test the connection, then enable it.',
    isConnected: true,
  },
  ISE: {
    meaning: 'The server cannot request quarantines from Cisco ISE.',
    cause: 'Cisco ISE does not answer, refuses the account, or does not have the policy.',
    cure: 'Cisco ISE is unavailable or refuses requests. Run the connection test under Settings, Cisco ISE: it shows which step fails. The server retries waiting quarantines.',
    setUp: 'Under Settings, Cisco ISE, enter the address, user and policy, test the connection, then enable it.',
    isConnected: true,
  },
  CACT: {
    meaning: 'The server cannot request quarantines from Forescout CounterACT.',
    cause: 'CounterACT does not answer, refuses an account, or does not have the property.',
    cure: 'CounterACT is unavailable or refuses requests. Run the connection test under Settings, CounterACT: it shows which step fails. The server retries waiting quarantines.',
    setUp: 'Under Settings, CounterACT, enter the address and users, test the connection, then enable it.',
    isConnected: true,
  },
  'asset stream': {
    meaning: 'A consumer of the inventory is behind.',
    cause: 'The consumer does not read, or published messages do not arrive.',
    cure: 'A consumer of the inventory is behind or unreachable. The page Asset stream shows which one. No data is lost: the consumer continues from its position.',
    setUp:
      'Read the stream under /prime/webui/assetproducer, or start the server with NATS_URL. The page Asset stream has instructions.',
    isConnected: true,
  },
  disk: {
    meaning: 'The volume of the data directory fills up. When it is full, the server stores nothing more.',
    cause: 'The free space is below the threshold.',
    cure: 'The data volume is filling up, and PostgreSQL stops when it is full. Free space, move the data directory to a larger volume, or keep events for fewer days (Settings, Product).',
  },
  licence: {
    meaning: 'The licence does not cover this installation, or soon will not.',
    cause:
      'The licence expires soon, has expired, is not signed by a known issuer, or covers fewer hosts than there are.',
    cure: 'The licence has expired, expires soon, or covers fewer hosts than you have. Enter a new licence under Settings, Licence. Everything keeps working.',
  },
  clock: {
    meaning: 'Clocks differ. Sessions, signatures and event times depend on them.',
    cause:
      'The clock of the server differs from that of the database, or the clocks of hosts are more than five minutes off.',
    cure: 'The clock of this machine differs from the clock of the database or of hosts. Synchronise the clocks with NTP (`timedatectl` shows the state). Sessions, signatures and event times depend on them.',
  },
  backups: {
    meaning: 'There is no recent backup.',
    cause:
      'The last scheduled backup failed or is late, its folder is full or cannot be written, or the newest complete backup is older than the threshold.',
    cure: 'The last scheduled backup failed or is late, or the newest backup is too old. Settings, Backups shows the cause. Fix it, then choose Back up now.',
    setUp:
      'Under Settings, Backups, choose a folder and enable scheduled backups. If you back up the database by other means, no action is needed.',
  },
  deliveries: {
    meaning: 'Notifications or events do not reach their receiver.',
    cause: 'A receiver does not answer, or refuses a message.',
    cure: 'Deliveries fail. The page Deliveries shows the recipient and its response. Fix the problem and retry, or discard deliveries that you no longer need. The server retries all others.',
    setUp: 'Add a channel to a notification group under Notifications.',
    isConnected: true,
  },
  knowledge: {
    meaning: 'The data about attack tools and vulnerable devices is old. New attack tools may not be recognised.',
    cause: 'The data in force is older than the threshold.',
    cure: 'The data on attack tools and vulnerable devices is old. Update the server, or upload a newer knowledge file under Settings, Knowledge.',
  },
  reports: {
    meaning: 'A scheduled report was not created, or did not reach everybody.',
    cause: 'The last run of a schedule failed, or a recipient refused it.',
    cure: 'The last run of a report failed or did not reach all recipients. The page Reports shows which one and why. Fix the cause and run the report again. If its owner no longer has the required permissions, save the schedule to become its owner.',
    setUp: 'Schedule a report under Reports.',
  },
  audit: {
    meaning: 'The audit trail is not protected at present, or it was changed.',
    cause: 'A checkpoint or its copy could not be written. Or the trail does not match its checkpoints.',
    cure: 'A checkpoint or its copy could not be written, or the audit trail was changed. Check that the server can write to the checkpoint folder and the folder of its key file. If the trail was changed, keep the trail and checkpoints as they are and run `portcullis verify-audit`. docs/guide/audit.md explains each message.',
  },
  'policy rules': {
    meaning: 'Rules were changed in the database, not by the server. Armed hosts get no new policy.',
    cause:
      'A rule was changed, deleted, restored or inserted in the database, or a server of an earlier release changed the rules.',
    cure: 'Rules were changed, deleted, restored or inserted in the database, or their seal was removed, not by the server. Armed hosts keep their last policy and get no new one. `portcullis doctor` names what differs. Restore the database from a backup. Or correct and review all rules in the console, stop the server and run `portcullis admin accept-rules`.',
  },
} as const satisfies Record<string, SubsystemDefinition>
export type SubsystemName = keyof typeof subsystemCatalogue
export const subsystemNames = Object.keys(subsystemCatalogue) as SubsystemName[]

/** Returns the explanation of a subsystem, with its section in the guide. */
export const subsystemOf = (name: SubsystemName): SubsystemDefinition => ({
  ...subsystemCatalogue[name],
  guide: `health.md#${name.toLowerCase().replaceAll(' ', '-')}`,
})
