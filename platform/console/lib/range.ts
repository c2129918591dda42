import type { ViewSpec } from './view-state.ts'

const hour = 3_600_000

/** Formats an instant to the minute, in UTC. */
export const toMinute = (at: number): string => new Date(at).toISOString().replace(/:\d\d\.\d{3}Z$/, 'Z')

/** Returns the start of a local day, some days before now. */
const startOfDay = (now: number, daysBefore: number): number => {
  const day = new Date(now)
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() - daysBefore)
  return day.getTime()
}

/**
 * Ranges relative to now. An address contains their name, so that a link or a saved view means the same range of another
 * day. The end is inclusive, to the minute.
 */
const relative: Readonly<Record<string, (now: number) => [from: number, to?: number]>> = {
  today: (now) => [startOfDay(now, 0)],
  yesterday: (now) => [startOfDay(now, 1), startOfDay(now, 0) - 60_000],
  '1h': (now) => [now - hour],
  '24h': (now) => [now - 24 * hour],
  '7d': (now) => [now - 7 * 24 * hour],
  '30d': (now) => [now - 30 * 24 * hour],
}
export const relativeRanges: readonly string[] = Object.keys(relative)

/** Returns a range as `from..to`: a relative range is computed, any other text stays unchanged. */
export const rangeAt = (value: string, now: number): string => {
  const range = Object.hasOwn(relative, value) ? relative[value]?.(now) : undefined
  if (range === undefined) return value
  const [from, to] = range
  return `${toMinute(from)}..${to === undefined ? '' : toMinute(to)}`
}

/** Returns the two ends of a range. A relative range is the first of them. */
export const endsOf = (value: string): [from: string, to: string] => {
  const at = value.indexOf('..')
  return at < 0 ? [value, ''] : [value.slice(0, at), value.slice(at + 2)]
}

/** Returns the range with these ends, or undefined. */
export const rangeOf = (from: string | undefined, to: string | undefined): string | undefined => {
  if (from === undefined && to === undefined) return undefined
  return to === undefined && relativeRanges.includes(from ?? '') ? from : `${from ?? ''}..${to ?? ''}`
}

/** Returns filters with relative ranges as times. */
export const withTimes = (
  filters: Readonly<Record<string, string>>,
  { ranges = {} }: Pick<ViewSpec, 'ranges'>,
  now: number,
): Record<string, string> => {
  const times: Record<string, string> = { ...filters }
  for (const [name, until] of Object.entries(ranges)) {
    const value = filters[name]
    if (value === undefined || !relativeRanges.includes(value)) continue
    const range = rangeAt(value, now)
    if (until === null) times[name] = range
    else {
      const [from, to] = endsOf(range)
      times[name] = from
      if (to !== '') times[until] = to
    }
  }
  return times
}
