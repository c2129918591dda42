import { instantOf, wallOf } from '@portcullis/platform/server/wall-clock.ts'
import type { ReportCadence, ReportRange } from '#features/contract.ts'

const dayMs = 86_400_000

/** Limit for counting missed runs. */
const mostMissed = 1_000

const dayOf = (wall: number): number => Math.floor(wall / dayMs) * dayMs

const daysOfMonth = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate()

const isDay = (cadence: ReportCadence, day: number): boolean => {
  const date = new Date(day)
  if (cadence.every === 'week') return (date.getUTCDay() || 7) === cadence.weekday
  if (cadence.every === 'month')
    return date.getUTCDate() === Math.min(cadence.day ?? 1, daysOfMonth(date.getUTCFullYear(), date.getUTCMonth()))
  return true
}

const timeOf = ({ time }: ReportCadence): number => (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * 60_000

/** Returns the first scheduled time after an instant. */
export const nextRun = (cadence: ReportCadence, after: number): number => {
  for (let day = dayOf(wallOf(after, cadence.timeZone)); ; day += dayMs) {
    if (!isDay(cadence, day)) continue
    const at = instantOf(day + timeOf(cadence), cadence.timeZone)
    if (at > after) return at
  }
}

/** Returns the newest due time by `now`, the number of missed ones before it, and the next. `due` was the next one. */
export const dueRun = (
  cadence: ReportCadence,
  due: number,
  now: number,
): { at: number; missed: number; next: number } => {
  let [at, missed, next] = [due, 0, nextRun(cadence, due)]
  for (; next <= now && missed < mostMissed; next = nextRun(cadence, next)) {
    at = next
    missed++
  }
  return next <= now ? { at: now, missed, next: nextRun(cadence, now) } : { at, missed, next }
}

/** Returns the instant one day, week or month earlier on the zone's clock, limited to the last day of a month. */
export const rangeStart = (range: Exclude<ReportRange, 'all' | 'previous'>, to: number, zone: string): number => {
  const wall = wallOf(to, zone)
  const [day, time] = [dayOf(wall), wall - dayOf(wall)]
  if (range !== 'month') return instantOf(day + time - (range === 'week' ? 7 : 1) * dayMs, zone)
  const date = new Date(day)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() - 1]
  const first = new Date(Date.UTC(year, month, 1))
  const last = daysOfMonth(first.getUTCFullYear(), first.getUTCMonth())
  return instantOf(Date.UTC(year, month, Math.min(date.getUTCDate(), last)) + time, zone)
}
