/** Marks a local time without a zone, which does not identify an instant. */
export const zoneless = Symbol('zoneless')

const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\d{0,9} ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?$/i
/** The classic text of Splunk. */
const US = /^(\d\d?)\/(\d\d?)\/(\d{4}),? (\d\d?):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: ([AP])M)?$/i
/** PowerShell 5 and other serializers of .NET. Milliseconds since 1970; the offset only says how to show them. */
const DOTNET = /^\/Date\((-?\d{1,16})(?:[+-]\d{4})?\)\/$/
/** Factors to milliseconds by the number of digits: seconds, milliseconds, microseconds and nanoseconds since 1970. */
const units: readonly [number, number][] = [
  [10, 1_000],
  [13, 1],
  [16, 1e-3],
  [19, 1e-6],
]

/** Converts a local time in milliseconds, read as if it were UTC, to milliseconds since 1970. */
export type ToInstant = (wall: number) => number

/**
 * Returns a time as milliseconds since 1970. Undefined if it is invalid.
 *
 * @param toInstant converts times without a zone; undefined: their zone is unknown
 */
export const timeOf = (text: string, toInstant?: ToInstant): number | typeof zoneless | undefined => {
  const digits = /^(\d{10,19})(?:\.\d+)?$/.exec(text)?.[1]
  if (digits !== undefined) {
    const unit = units.find(([length]) => length === digits.length)?.[1]
    return unit === undefined ? undefined : Math.floor(Number(text) * unit)
  }
  const dotnet = DOTNET.exec(text)?.[1]
  if (dotnet !== undefined) return Number(dotnet)
  const [, year, month, day, hour, minute, second, fraction = '', offset] = ISO.exec(text) ?? []
  const us = year === undefined ? US.exec(text) : null
  if (year === undefined && us === null) return undefined
  const parts =
    us === null
      ? [year, month, day, hour, minute, second]
      : [
          us[3],
          us[1],
          us[2],
          us[8] === undefined ? us[4] : (Number(us[4]) % 12) + (/p/i.test(us[8]) ? 12 : 0),
          us[5],
          us[6],
        ]
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = parts.map(Number)
  const ms = Number((us === null ? fraction : (us[7] ?? '')).slice(0, 3).padEnd(3, '0'))
  const local = Date.UTC(y, mo - 1, d, h, mi, s, ms)
  const read = new Date(local)
  // Date.UTC turns 31 April into 1 May.
  if (read.getUTCMonth() !== mo - 1 || read.getUTCDate() !== d || h > 23 || mi > 59 || s > 59) return undefined
  if (offset === undefined) return toInstant?.(local) ?? zoneless
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? []
  return local - (sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000)
}
