import type { QuietHours } from '@portcullis/contract'

const minutesOf = (wallTime: string): number => Number(wallTime.slice(0, 2)) * 60 + Number(wallTime.slice(3))

/** Whether a time zone is known here. */
export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Minutes since midnight on the clocks of a zone. */
const wallMinutes = (at: number, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    .format(at)
    .split(':')
  return Number(parts[0]) * 60 + Number(parts[1])
}

/** True while mail and webhooks are to wait. From 22:00 to 06:00 is over midnight; from 06:00 to 06:00 is never. */
export const isQuiet = (at: number, { from, to, timeZone }: QuietHours): boolean => {
  const [start, end, now] = [minutesOf(from), minutesOf(to), wallMinutes(at, timeZone)]
  return start <= end ? now >= start && now < end : now >= start || now < end
}

const minuteMs = 60_000
const hourMs = 3_600_000

/** When the quiet hours that are now end. Clocks that are put forward or back meanwhile are looked at again. */
export const endOfQuiet = (now: number, hours: QuietHours): number => {
  let at = now
  for (let looks = 0; looks < 3 && isQuiet(at, hours); looks++) {
    const left = (minutesOf(hours.to) - wallMinutes(at, hours.timeZone) + 1_440) % 1_440
    at = Math.floor(at / minuteMs) * minuteMs + left * minuteMs
  }
  return at - hourMs > now && !isQuiet(at - hourMs, hours) ? at - hourMs : at
}
