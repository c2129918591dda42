import { strings } from './strings.ts'

/** Parses a time of the API: RFC 3339, or UTC if the zone is missing. Returns null for other text. */
export const parseTime = (text: string | null | undefined): number | null => {
  if (text === null || text === undefined || text === '') return null
  const zoned = /(?:[zZ]|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text.replace(' ', 'T')}Z`
  const value = Date.parse(zoned)
  return Number.isNaN(value) ? null : value
}

type Unit = [limit: number, size: number, name: string]
const years: Unit = [Number.POSITIVE_INFINITY, 31_557_600, 'y']
const units: Unit[] = [
  [90, 1, 's'],
  [90 * 60, 60, 'min'],
  [36 * 3600, 3600, 'h'],
  [60 * 86_400, 86_400, 'd'],
  [18 * 2_629_800, 2_629_800, 'mo'],
]

/** Returns the time since or until a moment in one short unit: `now`, `42 s`, `3 h`, `in 2 d`. */
export const relativeTime = (at: number, now: number): string => {
  const seconds = Math.round((now - at) / 1000)
  const size = Math.abs(seconds)
  if (size < 5) return strings.now
  const [, unit, name] = units.find(([limit]) => size < limit) ?? years
  const amount = `${Math.max(1, Math.round(size / unit))} ${name}`
  return seconds < 0 ? strings.inAmount({ amount }) : amount
}

/** Returns a time in UTC to the second, as shown on hover: `2031-05-04 10:11:12 UTC`. */
export const exactUtc = (at: number): string =>
  strings.utc({ time: new Date(at).toISOString().slice(0, 19).replace('T', ' ') })

/** Returns a time in the time zone of the user. */
export const localTime = (at: number): string =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(at)

/** Returns a duration in its two largest units: `3 d 4 h`, `12 min 5 s`. */
export const durationText = (seconds: number): string => {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}
