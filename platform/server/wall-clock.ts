/** Converts times of day in IANA time zones to instants and back. */

const dayMs = 86_400_000
const minuteMs = 60_000

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

/** Returns whether the IANA database has this zone; an offset such as +02:00 is not a zone. */
export const isZone = (zone: string): boolean => {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(zone)) return false
  try {
    formatOf(zone)
    return true
  } catch {
    return false
  }
}

/** Returns the time on the zone's clocks, as if it were UTC. */
export const wallOf = (instant: number, zone: string): number => {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = Number(value)
  return Date.UTC(
    parts.year as number,
    (parts.month as number) - 1,
    parts.day as number,
    parts.hour as number,
    parts.minute as number,
    parts.second as number,
  )
}

const offsetAt = (instant: number, zone: string): number => wallOf(instant, zone) - Math.floor(instant / 1000) * 1000

/**
 * Returns the first instant at which the zone's clocks show a time, given in whole minutes as if it were UTC. For a
 * time that is skipped when clocks go forward, returns the instant of that change.
 */
export const instantOf = (wall: number, zone: string): number => {
  // No offset exceeds 14 hours, and none changes twice within two days.
  const before = offsetAt(wall - dayMs, zone)
  const after = offsetAt(wall + dayMs, zone)
  for (const candidate of [wall - Math.max(before, after), wall - Math.min(before, after)])
    if (wallOf(candidate, zone) === wall) return candidate
  let [low, high] = [wall - after, wall - before]
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs
    if (offsetAt(middle, zone) === after) high = middle
    else low = middle
  }
  return high
}
