const dayMs = 86_400_000
const weekMs = 7 * dayMs

/** A week of a chart: its first and its last day (UTC), and its new hosts. */
export interface Week {
  first: string
  last: string
  hosts: number
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Sums days to weeks, oldest first. The last week ends today. */
export const weeksOf = (days: readonly { day: string; hosts: number }[], now: number, length: number): Week[] => {
  const end = (Math.floor(now / dayMs) + 1) * dayMs
  const count = Math.ceil((length * dayMs) / weekMs)
  return Array.from({ length: count }, (_, index) => {
    const from = end - (count - index) * weekMs
    const inWeek = days.filter(({ day }) => Date.parse(day) >= from && Date.parse(day) < from + weekMs)
    return {
      first: dayOf(from),
      last: dayOf(from + weekMs - dayMs),
      hosts: inWeek.reduce((sum, { hosts }) => sum + hosts, 0),
    }
  })
}
