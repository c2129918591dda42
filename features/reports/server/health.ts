import type { HealthStatus } from '#features/contract.ts'
import type { ReportsContext } from './context.ts'
import { createReportsRead } from './reports.read.ts'
import type { SchedulesService } from './schedules.service.ts'

/** Delay after which a due run counts as overdue. Schedules are checked every five seconds. */
const overdueMs = 5 * 60_000

/** Returns whether the last run of each schedule succeeded and reached all recipients. */
export const reportsHealth = async (
  { db, clock, mail }: ReportsContext,
  { list }: SchedulesService,
): Promise<{ status: HealthStatus; description: string }> => {
  const schedules = (await list()).data.filter(({ isEnabled }) => isEnabled)
  if (schedules.length === 0) return { status: 'Unknown', description: 'Not configured' }
  const overdue = schedules.find(({ nextRunAt }) => clock.now() - Date.parse(nextRunAt ?? '') > overdueMs)
  if (overdue !== undefined)
    return {
      status: 'Error',
      description: `${overdue.name} was due ${overdue.nextRunAt}, but no server ran it. Check the server log.`,
    }
  // The subsystem "mail" reports runs whose only problem is a mail that waits for the mail server.
  const runIds = schedules.flatMap(({ lastRun }) => lastRun?.id ?? [])
  const waiting = (await mail.isFailing()) ? await createReportsRead(db).waitingForMail(runIds) : new Set<string>()
  const failing = schedules.flatMap(({ name, problem, lastRun }) => {
    const isReported = lastRun !== null && waiting.has(lastRun.id)
    const why =
      problem || (isReported ? '' : lastRun?.error || (lastRun?.state === 'failed' ? 'The last run failed.' : ''))
    return why === '' ? [] : [`${name}: ${why}`]
  })
  const count = schedules.length === 1 ? '1 schedule' : `${schedules.length} schedules`
  if (failing.length > 0)
    return { status: 'Warning', description: `${failing.length} of ${count}. ${failing[0]}`.slice(0, 500) }
  return {
    status: 'OK',
    description:
      waiting.size > 0
        ? `${count}; ${waiting.size === 1 ? '1 report waits' : `${waiting.size} reports wait`} for the mail server. See the part "mail".`
        : `${count}; all last runs succeeded.`,
  }
}
