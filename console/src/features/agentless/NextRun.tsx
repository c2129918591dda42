import { parseTime } from '../../lib/time.ts'
import { Time } from '../../ui/Time.tsx'
import { useNow } from '../../ui/useNow.ts'
import { strings } from './strings.ts'

/** Shows when a host is polled next. After that time, the poll waits for a worker. */
export const NextRun = ({ value }: { value: string | null }) => {
  const now = useNow()
  const at = parseTime(value)
  return at !== null && at <= now ? <span>{strings.due}</span> : <Time value={value} form="until" />
}
