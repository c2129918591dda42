import type { SubsystemName } from './health.ts'

/** Advice for one subsystem. docs/guide/health.md has the details under the same name. */
export interface SubsystemGuide {
  /** Cause and cure of a warning or error, with the page of the console or the command. */
  readonly cure: string
  /** How to set up an optional subsystem. */
  readonly setUp?: string
}

export const subsystemGuide: Readonly<Record<SubsystemName, SubsystemGuide>> = {
  database: {
    cure: 'PostgreSQL is unavailable or slow. Check that it runs and that its disk is neither full nor overloaded. The server log contains the failed statement. If DATABASE_URL is set, check that this machine can reach that address.',
  },
  'agent gateway': {
    cure: 'Many hosts do not check in. Check that they can reach the address and port of this server (firewall, proxy, name, certificate). No data is lost: agents keep their reports.',
  },
  'event processing': {
    cure: 'Reports arrive faster than the server stores them. Check the database first, then the load of this machine (Settings, Health: Processor). Until the cause is fixed, increase the check-in interval under Settings, Product.',
  },
  'job queue': {
    cure: 'A job failed or has not started. The Jobs tray at the top shows the job and the reason. Repeat the action that started it. If jobs wait and none runs, restart the server; waiting jobs then continue.',
  },
  'agentless worker': {
    cure: 'Agentless hosts wait to be polled. Under Agentless hosts, activate the worker, or start another worker with the command shown there.',
    setUp: 'Add the hosts to poll under Agentless hosts. The server starts a worker.',
  },
  mail: {
    cure: 'The mail server is unavailable or refuses messages. Run the connection test under Settings, Mail: it shows which step fails. The server keeps messages and sends them later.',
    setUp: 'Under Settings, Mail, enter the server and sender, then send a test message.',
  },
  LDAP: {
    cure: 'The directory is unavailable or refuses the bind account. Run the connection test under Settings, Directory: it shows which step fails. Local accounts can still sign in.',
    setUp: 'Under Settings, Directory, enter the address and groups, test the connection, then enable it.',
  },
  ISE: {
    cure: 'Cisco ISE is unavailable or refuses requests. Run the connection test under Settings, Cisco ISE: it shows which step fails. The server retries waiting quarantines.',
    setUp: 'Under Settings, Cisco ISE, enter the address, user and policy, test the connection, then enable it.',
  },
  CACT: {
    cure: 'CounterACT is unavailable or refuses requests. Run the connection test under Settings, CounterACT: it shows which step fails. The server retries waiting quarantines.',
    setUp: 'Under Settings, CounterACT, enter the address and users, test the connection, then enable it.',
  },
  'asset stream': {
    cure: 'A consumer of the inventory is behind or unreachable. The page Asset stream shows which one. No data is lost: the consumer continues from its position.',
    setUp:
      'Read the stream under /prime/webui/assetproducer, or start the server with NATS_URL. The page Asset stream has instructions.',
  },
  disk: {
    cure: 'The data volume is filling up, and PostgreSQL stops when it is full. Free space, move the data directory to a larger volume, or keep events for fewer days (Settings, Product).',
  },
  licence: {
    cure: 'The licence has expired, expires soon, or covers fewer hosts than you have. Enter a new licence under Settings, Licence. Everything keeps working.',
  },
  clock: {
    cure: 'The clock of this machine differs from the clock of the database or of hosts. Synchronise the clocks with NTP (`timedatectl` shows the state). Sessions, signatures and event times depend on them.',
  },
  backups: {
    cure: 'The last scheduled backup failed or is late, or the newest backup is too old. Settings, Backups shows the cause. Fix it, then choose Back up now.',
    setUp:
      'Under Settings, Backups, choose a folder and enable scheduled backups. If you back up the database by other means, no action is needed.',
  },
  deliveries: {
    cure: 'Deliveries fail. The page Deliveries shows the recipient and its response. Fix the problem and retry, or discard deliveries that you no longer need. The server retries all others.',
    setUp: 'Add a channel to a notification group under Notifications.',
  },
  knowledge: {
    cure: 'The data on attack tools and vulnerable devices is old. Update the server, or upload a newer knowledge file under Settings, Knowledge.',
  },
  reports: {
    cure: 'The last run of a report failed or did not reach all recipients. The page Reports shows which one and why. Fix the cause and run the report again. If its owner no longer has the required permissions, save the schedule to become its owner.',
    setUp: 'Schedule a report under Reports.',
  },
  audit: {
    cure: 'A checkpoint or its copy could not be written, or the audit trail was changed. Check that the server can write to the checkpoint folder and the folder of its key file. If the trail was changed, keep the trail and checkpoints as they are and run `portcullis verify-audit`. docs/guide/audit.md explains each message.',
  },
  'policy rules': {
    cure: 'Rules were changed, deleted, restored or inserted in the database, or their seal was removed, not by the server. Armed hosts keep their last policy and get no new one. `portcullis doctor` names what differs. Restore the database from a backup. Or correct and review all rules in the console, stop the server and run `portcullis admin accept-rules`.',
  },
}
