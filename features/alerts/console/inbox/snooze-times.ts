import { strings } from './strings.ts'

const hourMs = 3_600_000

/** Returns eight o'clock of a day after now, in the time zone of the person. */
const morning = (now: Date, days: number): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 8)

/** Returns the ends of a snooze that the console offers. On a Sunday, tomorrow is the Monday. */
export const snoozeTimes = (now: Date): { label: string; at: Date }[] => {
  const daysToMonday = (8 - now.getDay()) % 7 || 7
  return [
    { label: strings.snoozeHour, at: new Date(now.getTime() + hourMs) },
    { label: strings.snoozeTomorrow, at: morning(now, 1) },
    ...(daysToMonday === 1 ? [] : [{ label: strings.snoozeMonday, at: morning(now, daysToMonday) }]),
    { label: strings.snoozeMonth, at: morning(now, 30) },
  ]
}
