import { policyActivity } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useServices } from '../../lib/services.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import classes from './ActivityStrip.module.css'
import { strings } from './strings.ts'

const days = 14
// One more device does not visibly change the bar of a day.
const stripGap = 30_000
/** Height of a bar in px, at the busiest day. */
const tallest = 40

const dayName = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Shows attachments and blocks of the last two weeks. Each day links to its events. */
export const ActivityStrip = () => {
  const { api } = useServices()
  const activity = useQuery({
    queryKey: ['overview', 'activity'],
    queryFn: ({ signal }) => api.call(policyActivity, { query: { days }, signal }),
  })
  useLiveRefresh(['events'], stripGap, () => void activity.refetch())
  const bars = activity.data?.data ?? []
  const most = Math.max(1, ...bars.map((bar) => bar.attachments))
  const height = (n: number): number => (n === 0 ? 0 : Math.max(2, Math.round((n / most) * tallest)))
  return (
    <section className={classes.strip} aria-label={strings.activity}>
      {bars.map(({ day, attachments, blocked }) => {
        const label = strings.activityOfDay({
          day: dayName.format(new Date(day)),
          attachments,
          blocked,
        })
        return (
          <Link
            key={day}
            to="/events"
            search={{ category: 'USB', fromDate: `${day}T00:00:00Z`, toDate: `${day}T23:59:59Z` }}
            className={classes.day}
            title={label}
            aria-label={label}
          >
            <svg width="100%" height={tallest} aria-hidden="true">
              <rect
                className={classes.attached}
                width="100%"
                y={tallest - height(attachments)}
                height={height(attachments)}
              />
              <rect className={classes.blocked} width="100%" y={tallest - height(blocked)} height={height(blocked)} />
            </svg>
            <span className={classes.name}>{day.slice(8)}</span>
          </Link>
        )
      })}
    </section>
  )
}
