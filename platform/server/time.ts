import { invalid } from './app-error.ts'

/** Formats a time as `yyyy-MM-ddTHH:mm:ss.fff` in UTC without a zone, as the fixed schemas require. */
export const zoneless = (time: Date): string => time.toISOString().slice(0, 23)

/** Returns SQL that formats a timestamptz like `zoneless`. The argument is an expression from our own source. */
export const zonelessSql = (expression: string): string =>
  `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')`

/** Returns SQL that formats a timestamptz as RFC 3339 with `Z`, as in our own schemas. Null stays null. */
export const utcSql = (expression: string): string =>
  `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A time as precise as it was written: it covers [from, to) in its unit. */
export interface TimeSpan {
  from: Date
  to: Date
}

const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d{2}:?\d{2}| \d{2}:?\d{2})?)?$/i
const american = /^(\d{2})\/(\d{2})\/(\d{4})$/

/**
 * The last moment with a four-digit year: later ones have other forms in the database. Clients write 9999-12-31 for "no
 * end".
 */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const spanFrom = (at: number, length: number): TimeSpan => ({
  from: new Date(Math.min(at, lastMoment - 1)),
  to: new Date(Math.min(at + length, lastMoment)),
})

const fields = (text: string): { year: number; month: number; day: number; rest: RegExpExecArray | null } | null => {
  const us = american.exec(text)
  if (us !== null) return { year: Number(us[3]), month: Number(us[1]), day: Number(us[2]), rest: null }
  const match = iso.exec(text)
  if (match === null) return null
  return { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]), rest: match }
}

/**
 * Parses a time in the forms that clients use; null: invalid. An offset that lost its `+` in the query counts as `+`.
 */
const parseTime = (text: string): TimeSpan | null => {
  const f = fields(text.trim())
  if (f === null || f.month < 1 || f.month > 12 || f.day < 1) return null
  const start = Date.UTC(f.year, f.month - 1, f.day)
  if (new Date(start).getUTCDate() !== f.day || f.year < 1900) return null
  if (f.rest === null || f.rest[4] === undefined) return spanFrom(start, 86_400_000)
  const [, , , , hourText, minuteText, secondText, fraction, zone] = f.rest
  const hour = Number(hourText)
  const minute = Number(minuteText)
  const second = Number(secondText ?? 0)
  if (hour > 23 || minute > 59 || second > 59) return null
  let offset = 0
  if (zone !== undefined && zone.toUpperCase() !== 'Z') {
    const digits = zone.replace(/[^\d]/g, '')
    const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))]
    if (hours > 23 || minutes > 59) return null
    offset = (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
  }
  const milliseconds = fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))
  const at = start + ((hour * 60 + minute - offset) * 60 + second) * 1000 + milliseconds
  const unit =
    secondText === undefined ? 60_000 : fraction === undefined ? 1000 : 10 ** Math.max(0, 3 - fraction.length)
  return spanFrom(at, unit)
}

/** Like `parseTime`, but an invalid time is a 400 that names the field and the forms. */
export const requireTime = (field: string, text: string): TimeSpan => {
  const span = parseTime(text)
  if (span === null)
    throw invalid(field, 'must be a time such as 2031-05-04T10:11:12Z, a date such as 2031-05-04, or 05/04/2031')
  return span
}

/** Returns the day of a time in UTC, as `yyyy-MM-dd`. */
export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
