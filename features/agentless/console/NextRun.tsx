import { parseTime } from '@portcullis/platform/console/lib/time.ts'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useNow } from '@portcullis/platform/console/ui/useNow.ts'
import { strings } from './strings.ts'

/** Shows when a host is polled next. After that time, the poll waits for a worker. */
export const NextRun = ({ value }: { value: string | null }) => {
  const now = useNow()
  const at = parseTime(value)
  return at !== null && at <= now ? <span>{strings.due}</span> : <Time value={value} form="until" />
}
