import type { SubsystemName } from './health.ts'

/** What people are told of a part of the product; docs/guide/health.md says it at length, under the part's name. */
export interface SubsystemGuide {
  /** Cause and cure when it is not in order, with the place in the console or the command. */
  readonly cure: string
  /** How it is put to use, where it can be left out. */
  readonly setUp?: string
}

export const subsystemGuide: Readonly<Record<SubsystemName, SubsystemGuide>> = {
  database: {
    cure: 'PostgreSQL is away or slow: check that it runs and that its disk is neither full nor busy; the log of the server names the statement that failed. With DATABASE_URL, check that address from this machine.',
  },
  'agent gateway': {
    cure: 'Most hosts do not check in: check that they reach the address and port of this server (firewall, proxy, name, certificate). Nothing is lost meanwhile, agents keep their reports.',
  },
  'event processing': {
    cure: 'More comes in than is stored: look at the database first, then at the load of this machine (Settings, Health: Processor). Raise the seconds between check-ins under Settings, Product, while it lasts.',
  },
  'job queue': {
    cure: 'A job failed or is not taken: Jobs (the tray at the top) names it and why. Repeat what ordered it; if jobs wait and none runs, start the server again: they are kept and go on.',
  },
  'agentless worker': {
    cure: 'Computers wait to be polled: under Agentless, activate the worker, or start one more by the command shown there.',
    setUp: 'Under Agentless, add the computers to poll; a worker is started beside the server.',
  },
  mail: {
    cure: 'The mail server refused or is away: Settings, Mail has a test that names the step. Mails wait, and are sent when it works again.',
    setUp: 'Settings, Mail: enter server and sender, and send a test.',
  },
  LDAP: {
    cure: 'The directory is away or refuses the bind account: Settings, Directory has a test that names the step. Local accounts can sign in meanwhile.',
    setUp: 'Settings, Directory: enter address and groups, test, then turn it on.',
  },
  ISE: {
    cure: 'Cisco ISE is away or refuses: Settings, Cisco ISE has a test that names the step. Quarantines wait, and are carried out when it works again.',
    setUp: 'Settings, Cisco ISE: enter address, user and policy, test, then turn it on.',
  },
  CACT: {
    cure: 'CounterACT is away or refuses: Settings, CounterACT has a test that names the step. Quarantines wait, and are carried out when it works again.',
    setUp: 'Settings, CounterACT: enter address and users, test, then turn it on.',
  },
  'asset stream': {
    cure: 'What follows the inventory is behind or cannot be reached: Asset stream names the consumer. Nothing is lost, it goes on from its position.',
    setUp:
      'Read the stream under /prime/webui/assetproducer, or start the server with NATS_URL. The page Asset stream says how.',
  },
  disk: {
    cure: 'The volume of the data fills up, and PostgreSQL stops when it is full: free space, move the data directory to a larger volume, or keep events for fewer days (Settings, Product).',
  },
  licence: {
    cure: 'The licence ended, ends soon or covers fewer hosts than there are: enter a new one under Settings, Licence. Nothing stops working.',
  },
  clock: {
    cure: 'The clocks of this machine and of the database differ, or those of hosts do: synchronise them (NTP; `timedatectl` shows the state). Sessions, signatures and times of events depend on them.',
  },
  backups: {
    cure: 'The newest backup is too old: make one (`npm run cli -- backup make --out FILE`), and have cron or a systemd timer make them; docs/guide/operations.md shows how.',
    setUp:
      'Make a backup: `npm run cli -- backup make --out FILE`. If the database is backed up by other means, nothing is needed here.',
  },
  deliveries: {
    cure: 'What is to be delivered does not get through: Deliveries names the peer and its answer. Correct it and retry, or drop what is not wanted any more; the rest goes on by itself.',
    setUp: 'Give a notification group a channel under Notifications.',
  },
  knowledge: {
    cure: 'What is known of attack tools and vulnerable devices is old: update the server, or publish a newer set under Settings, Knowledge.',
  },
  reports: {
    cure: 'The last run of a schedule failed, or did not reach everybody: Reports names it and why. Correct that and run it now; an owner who lost his rights is replaced by saving the schedule.',
    setUp: 'Schedule a list under Reports.',
  },
  audit: {
    cure: 'A checkpoint or its second sink is missing, or the trail is not as it was written: free or mount the folder of checkpoints, let the server write beside its key file; in the other case keep both as they are, and run `npm run cli -- verify-audit`. docs/guide/audit.md says what each message means.',
  },
}
