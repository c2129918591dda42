import type { BackupFacts } from './doctor.read.ts'
import { error, type Finding, ok, warning } from './finding.ts'

const dayMs = 86_400_000
/** A due backup that has not started for this long is late. */
const lateMs = dayMs / 24
const oldDays = 7

/** Checks the age of the newest backup and the schedule. A stopped server may be late. */
export const backups = (facts: BackupFacts | null, now: number, isRunning: boolean): Finding[] => {
  const name = 'backups'
  if (facts === null) return []
  const { newestAt, isScheduled, nextAt, lastError } = facts
  const days = newestAt === null ? null : Math.floor((now - newestAt.getTime()) / dayMs)
  const seen = `${days === null ? 'none yet' : `the newest is ${days === 0 ? 'less than a day' : days === 1 ? '1 day' : `${days} days`} old`}; ${isScheduled ? 'scheduled' : 'no schedule'}`
  if (isScheduled && lastError !== '')
    return [
      error(
        name,
        `the last one failed: ${lastError}`,
        'Fix the cause, then choose Back up now under Settings, Backups.',
      ),
    ]
  if (isScheduled && isRunning && nextAt !== null && now - nextAt.getTime() > lateMs)
    return [error(name, `${seen}, but late since ${nextAt.toISOString()}`, 'Read the log of the server.')]
  return days !== null && days > oldDays
    ? [warning(name, seen, 'Make a backup, or schedule backups under Settings, Backups.')]
    : [ok(name, seen)]
}
