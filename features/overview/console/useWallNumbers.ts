import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { agentsClassificationSummary, countNotices, getTrends, policyActivity } from '#features/contract.ts'
import { changeText } from './NumberTile.tsx'
import { strings } from './strings.ts'
import { lastDays } from './trends.ts'
import { numbersOf } from './useYesterday.ts'

const days = 14
/** Interval of the numbers, in ms. A screen on a wall has no live channel to follow: an API token may not open it. */
const refetchInterval = 30_000
// Nobody focuses a screen on a wall, and a browser may count it as hidden.
const often = { refetchInterval, refetchIntervalInBackground: true } as const

/** Reads the numbers of the wallboard every 30 seconds. */
export const useWallNumbers = () => {
  const { clock } = useServices()
  const summary = useRead(['wall', 'summary'], agentsClassificationSummary, often)
  const alerts = useRead(['wall', 'alerts'], countNotices, often)
  const trends = useRead(['wall', 'trends'], getTrends, { query: { days }, ...often })
  const activity = useRead(['wall', 'activity'], policyActivity, { query: { days }, ...often })
  const dates = lastDays(clock.now(), days)
  const yesterday = trends.data?.data.find(({ day }) => day === dates.at(-2))
  const numbers = summary.data && numbersOf(summary.data)
  const tile = (
    title: string,
    name: keyof NonNullable<typeof numbers>,
    more: { of?: number; severity?: 'red' | 'amber' },
  ) => ({
    title,
    value: numbers?.[name],
    of: more.of,
    severity: more.severity,
    change: numbers === undefined || yesterday === undefined ? '' : changeText(numbers[name] - yesterday[name]),
  })
  const total = summary.data === undefined ? {} : { of: summary.data.total }
  return {
    tiles: [
      tile(strings.connected, 'connected', total),
      tile(strings.protected, 'protected', total),
      { title: strings.openAlerts, value: alerts.data?.total, of: undefined, severity: 'amber' as const, change: '' },
      tile(strings.withAttackTools, 'attackTools', { severity: 'red' }),
      tile(strings.vulnerable, 'vulnerable', { severity: 'amber' }),
      tile(strings.notAllowed, 'unapproved', { severity: 'amber' }),
    ],
    trends: { dates, facts: { activity: activity.data, trends: trends.data } },
    updatedAt: summary.dataUpdatedAt,
    failure: summary.error ?? alerts.error ?? trends.error ?? activity.error,
  }
}
