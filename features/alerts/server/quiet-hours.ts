import type { QuietHours } from '#features/contract.ts'

const minutesOf = (wallTime: string): number => Number(wallTime.slice(0, 2)) * 60 + Number(wallTime.slice(3))

/** Returns whether this server knows a time zone. */
export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Returns the minutes since midnight in a time zone. */
const wallMinutes = (at: number, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    .format(at)
    .split(':')
  return Number(parts[0]) * 60 + Number(parts[1])
}

/** Returns whether mail and webhooks must wait. 22:00 to 06:00 spans midnight; equal times mean never. */
export const isQuiet = (at: number, { from, to, timeZone }: QuietHours): boolean => {
  const [start, end, now] = [minutesOf(from), minutesOf(to), wallMinutes(at, timeZone)]
  return start <= end ? now >= start && now < end : now >= start || now < end
}

const minuteMs = 60_000
const hourMs = 3_600_000

/** Returns the end of the current quiet hours, with clock changes in between. */
export const endOfQuiet = (now: number, hours: QuietHours): number => {
  let at = now
  for (let looks = 0; looks < 3 && isQuiet(at, hours); looks++) {
    const left = (minutesOf(hours.to) - wallMinutes(at, hours.timeZone) + 1_440) % 1_440
    at = Math.floor(at / minuteMs) * minuteMs + left * minuteMs
  }
  return at - hourMs > now && !isQuiet(at - hourMs, hours) ? at - hourMs : at
}
