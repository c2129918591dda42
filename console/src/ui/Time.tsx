import { exactUtc, localTime, parseTime, relativeTime } from '../lib/time.ts'
import { strings } from './strings.ts'
import { useNow } from './useNow.ts'

export interface TimeProps {
  /** A time of the interface, with or without a zone. */
  value: string | null | undefined
  /** `relative` (3 h), or `local` for the date and time in the reader's zone. */
  form?: 'relative' | 'local'
  absent?: string
}

/** A time: relative or local, with the exact UTC on hover. */
export const Time = ({ value, form = 'relative', absent = '–' }: TimeProps) => {
  const now = useNow()
  const at = parseTime(value)
  if (at === null) return <span>{absent}</span>
  return (
    <time dateTime={new Date(at).toISOString()} title={strings.atAt2Here({ at: exactUtc(at), at2: localTime(at) })}>
      {form === 'relative' ? relativeTime(at, now) : localTime(at)}
    </time>
  )
}
