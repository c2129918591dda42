import { NativeSelect } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { getTrends, policyActivity } from '#features/contract.ts'
import { DayChart } from './DayChart.tsx'
import { strings } from './strings.ts'
import { chartOf, lastDays, type Measure, measureLabels } from './trends.ts'

const periods = ['14', '30', '90'] as const
// One more device does not visibly change the bar of a day.
const chartGap = 30_000

/** A number of the fleet by day: the address chooses which, and how many days. */
export const TrendsChart = () => {
  const { clock } = useServices()
  const { chart = 'attachments', days = '14' } = useSearch({ from: '/inside/' })
  const navigate = useNavigate()
  const count = Number(days)
  const isActivity = chart === 'attachments'
  const activity = useRead(['overview', 'activity', count], policyActivity, {
    query: { days: count },
    enabled: isActivity,
  })
  const trends = useRead(['overview', 'trends', count], getTrends, { query: { days: count }, enabled: !isActivity })
  const shown = isActivity ? activity : trends
  useLiveRefresh(['events'], chartGap, () => void shown.refetch())
  const set = (search: { chart?: Measure | undefined; days?: (typeof periods)[number] | undefined }) =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...search }), replace: true })
  return (
    <DayChart
      {...chartOf(chart, { activity: activity.data, trends: trends.data }, lastDays(clock.now(), count))}
      failure={shown.error === null ? null : <ErrorState query={shown} inline />}
      controls={
        <>
          <NativeSelect
            size="xs"
            aria-label={strings.chartShows}
            data={measureLabels()}
            value={chart}
            onChange={({ currentTarget: { value } }) => set({ chart: value as Measure })}
          />
          <NativeSelect
            size="xs"
            aria-label={strings.period}
            data={periods.map((value) => ({ value, label: strings.dayCount({ count: Number(value) }) }))}
            value={days}
            onChange={({ currentTarget: { value } }) => set({ days: value as (typeof periods)[number] })}
          />
        </>
      }
    />
  )
}
