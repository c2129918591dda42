import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Columns, Page, PageHead, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { agentsClassificationSummary, getAgents } from '#features/contract.ts'
import { HealthLine } from './HealthLine.tsx'
import { LastDay } from './LastDay.tsx'
import { OpenAlerts } from './OpenAlerts.tsx'
import { SetUpCard } from './SetUpCard.tsx'
import { strings } from './strings.ts'
import { Tiles } from './Tiles.tsx'
import { TrendsChart } from './TrendsChart.tsx'
import { WorstHosts, worstCount } from './WorstHosts.tsx'

// Faster changes would be hard to read.
const numbersGap = 3_000

/** Summary of the fleet: six numbers, hosts with findings, the last 24 hours, and health. */
export const OverviewPage = ({ empty }: { empty: ReactNode }) => {
  useTitle(strings.overview)
  const summary = useRead(['overview', 'summary'], agentsClassificationSummary)
  const worst = useRead(['overview', 'worst'], getAgents, {
    query: { Severity: '>=30', SortBy: 'severity_desc', PageSize: worstCount },
  })
  useLiveRefresh(['summary', 'agents'], numbersGap, () => {
    void summary.refetch()
    void worst.refetch()
  })

  const data = summary.data
  if (data?.total === 0)
    return (
      <Page scroll gap={16}>
        <PageHead justify="space-between">
          <h1>{strings.overview}</h1>
          <HealthLine />
        </PageHead>
        <SetUpCard />
        {empty}
      </Page>
    )
  if (summary.error !== null && data === undefined) {
    return <ErrorState query={summary} />
  }
  return (
    <Page scroll gap={16}>
      <PageHead justify="space-between">
        <h1>{strings.overview}</h1>
        <Row as="span" wrap gap="4px 20px" small>
          <HealthLine />
          <Link to="/wall">{strings.wall}</Link>
        </Row>
      </PageHead>
      <SetUpCard />
      <Tiles data={data} />
      <TrendsChart />
      <Columns template="repeat(auto-fit, minmax(min(400px, 100%), 1fr))" gap={16} align="start">
        <OpenAlerts />
        <WorstHosts worst={worst.data} />
        <LastDay />
      </Columns>
    </Page>
  )
}
