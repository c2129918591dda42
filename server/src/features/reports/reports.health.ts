import type { HealthStatus } from '@portcullis/contract'
import type { Clock } from '#platform/clock.ts'
import type { SchedulesService } from './schedules.service.ts'

/** A run that nobody has ordered for so long: schedules are looked at every five seconds. */
const overdueMs = 5 * 60_000

/** Whether the last run of each schedule was made, and reached everybody. */
export const reportsHealth = async (
  list: SchedulesService['list'],
  clock: Clock,
): Promise<{ status: HealthStatus; description: string }> => {
  const schedules = (await list()).data.filter(({ isEnabled }) => isEnabled)
  if (schedules.length === 0) return { status: 'Unknown', description: 'Not configured' }
  const overdue = schedules.find(({ nextRunAt }) => clock.now() - Date.parse(nextRunAt ?? '') > overdueMs)
  if (overdue !== undefined)
    return { status: 'Error', description: `${overdue.name} was due ${overdue.nextRunAt}, and no server runs it.` }
  const failing = schedules.flatMap(({ name, problem, lastRun }) => {
    const why = problem || lastRun?.error || (lastRun?.state === 'failed' ? 'The last run failed.' : '')
    return why === '' ? [] : [`${name}: ${why}`]
  })
  const count = schedules.length === 1 ? '1 schedule' : `${schedules.length} schedules`
  if (failing.length > 0)
    return { status: 'Warning', description: `${failing.length} of ${count}. ${failing[0]}`.slice(0, 500) }
  return { status: 'OK', description: `${count}; nothing failed when they ran last.` }
}
