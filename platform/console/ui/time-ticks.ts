/** A mark of an axis of time. */
export interface TimeTick {
  at: number
  label: string
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** Steps of an axis: minutes of a day, then days, then months. Each is a round part of the next one. */
const steps: readonly { size: number; minutes?: number; days?: number; months?: number }[] = [
  ...[1, 5, 15, 30, 60, 180, 360, 720].map((minutes) => ({ size: minutes * minute, minutes })),
  ...[1, 2, 7, 14].map((days) => ({ size: days * day, days })),
  ...[1, 3, 6, 12, 24, 60, 120].map((months) => ({ size: months * 30 * day, months })),
]

const timeName = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false })
const dayName = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const monthName = new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric' })

/** Returns at most `most` round times between two times, in the time zone of the user. */
export const timeTicks = (from: number, to: number, most: number): TimeTick[] => {
  const step = steps.find(({ size }) => (to - from) / size <= most)
  if (step === undefined || to <= from) return []
  const { minutes, days, months } = step
  const at = new Date(from)
  at.setHours(0, 0, 0, 0)
  if (months !== undefined) at.setMonth(Math.floor(at.getMonth() / months) * months, 1)
  const ticks: TimeTick[] = []
  while (at.getTime() <= to) {
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0
    const name = months !== undefined ? monthName : isMidnight ? dayName : timeName
    if (at.getTime() >= from) ticks.push({ at: at.getTime(), label: name.format(at) })
    // Calendar arithmetic, because not every day has 24 hours.
    if (months !== undefined) at.setMonth(at.getMonth() + months)
    else if (days !== undefined) at.setDate(at.getDate() + days)
    else at.setTime(at.getTime() + (minutes ?? 1) * minute)
  }
  return ticks.slice(0, most)
}
