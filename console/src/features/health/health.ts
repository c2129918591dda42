import type { HealthStatus, Subsystem, SubsystemName } from '@portcullis/contract'
import type { Severity } from '../../ui/theme/tokens.ts'

/** How a state is drawn; null for one that needs nobody. */
export const healthSeverity: Record<HealthStatus, Severity | null> = {
  OK: null,
  Warning: 'amber',
  Error: 'red',
  Unknown: null,
}

export const healthWord: Record<HealthStatus, string> = {
  OK: 'in order',
  Warning: 'needs a look',
  Error: 'failing',
  Unknown: 'not configured',
}

const cures: Readonly<Partial<Record<SubsystemName, string>>> = {
  database: 'Check that PostgreSQL runs and is reachable; the log of the server names the failing call.',
  'agent gateway': 'Check that hosts reach this address and port; nothing is lost, agents keep their reports.',
  'event processing': 'Reports wait to be stored. Look at the database and the load of this machine first.',
  'job queue': 'Restart the job process; waiting jobs are kept and go on.',
  disk: 'Free space on the data volume, or move the data directory to a larger one.',
  clock: 'Synchronise the clock of this machine (NTP); signatures and sessions depend on it.',
  licence: 'Enter a valid licence key; nothing stops working meanwhile.',
}

/** What to do about a part that is not in order; null when there is nothing to do. */
export const cureOf = ({ name, status }: Pick<Subsystem, 'name' | 'status'>): string | null =>
  status === 'Warning' || status === 'Error' ? (cures[name] ?? 'The log of the server has the details.') : null
