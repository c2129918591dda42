import { exactUtc, localTime, parseTime, relativeTime } from '../lib/time.ts'
import { strings } from './strings.ts'
import { useNow } from './useNow.ts'

export interface TimeProps {
  /** A time of the API, with or without a zone. */
  value: string | null | undefined
  /**
   * `relative` (3 h) and `ago` (3 h ago) are for times in the past, `until` (in 3 h) for times to come, and `local` for the
   * date and time in the time zone of the user.
   */
  form?: 'relative' | 'ago' | 'until' | 'local'
  absent?: string
}

// Shorter ages are shown as "now".
const recent = 5_000

const textOf = (form: NonNullable<TimeProps['form']>, at: number, now: number): string => {
  if (form === 'local') return localTime(at)
  // The server's clock can be ahead of the reader's: what has happened is never in the future.
  const text = relativeTime(form === 'until' ? at : Math.min(at, now), now)
  return form === 'ago' && now - at >= recent ? strings.ago({ age: text }) : text
}

/** A time, with its exact UTC and local time on hover. */
export const Time = ({ value, form = 'relative', absent = '–' }: TimeProps) => {
  const now = useNow()
  const at = parseTime(value)
  if (at === null) return <span>{absent}</span>
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={strings.utcAndLocal({ utc: exactUtc(at), local: localTime(at) })}
    >
      {textOf(form, at, now)}
    </time>
  )
}
