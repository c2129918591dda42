/** A range of time as the address has it: RFC 3339 texts. Without both, the server returns the last 24 hours. */
export interface Range {
  from?: string | undefined
  to?: string | undefined
}

export type PresetName = 'day' | 'today' | 'yesterday' | 'week' | 'month'

/** Returns the beginning of a day in the time zone of the user. */
const dayStart = (now: number, daysBefore: number): Date => {
  const day = new Date(now)
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() - daysBefore)
  return day
}

/** Returns the ranges that one click chooses. Days begin at midnight in the time zone of the user. */
export const presetsAt = (now: number): Record<PresetName, Range> => {
  const since = (daysBefore: number): Range => ({ from: dayStart(now, daysBefore).toISOString() })
  return {
    day: {},
    today: since(0),
    yesterday: { ...since(1), to: new Date(dayStart(now, 0).getTime() - 1).toISOString() },
    week: since(6),
    month: since(29),
  }
}

/** Returns the preset with this range, or null if the range is another one. */
export const presetOf = (range: Range, now: number): PresetName | null =>
  (Object.entries(presetsAt(now)) as [PresetName, Range][]).find(
    ([, { from, to }]) => from === range.from && to === range.to,
  )?.[0] ?? null

const twoDigits = (part: number): string => String(part).padStart(2, '0')

/** Returns a time for an input of a local date and time. Empty if the text is not a time. */
export const inputValue = (text: string | undefined): string => {
  const at = new Date(text ?? '')
  if (Number.isNaN(at.getTime())) return ''
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(twoDigits).join('-')
  return `${date}T${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`
}

/** Returns the time that an input of a local date and time has. */
export const inputTime = (value: string): string | undefined =>
  value === '' || Number.isNaN(Date.parse(value)) ? undefined : new Date(value).toISOString()

/** Returns whether a range ends before it begins. Without an end, it ends now. */
export const isReversed = ({ from, to }: Range, now: number): boolean =>
  from !== undefined && Date.parse(from) >= (to === undefined ? now : Date.parse(to))
