import { Columns } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { DayChart } from './DayChart.tsx'
import { chartOf, type TrendFacts } from './trends.ts'

/** Attachments and coverage by day. */
export const WallTrends = ({ dates, facts }: { dates: readonly string[]; facts: TrendFacts }) => (
  <Columns template="repeat(auto-fit, minmax(min(480px, 100%), 1fr))" gap={16}>
    {(['attachments', 'coverage'] as const).map((measure) => (
      <DayChart key={measure} {...chartOf(measure, facts, dates)} controls={null} failure={null} />
    ))}
  </Columns>
)
