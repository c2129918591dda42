import { listReportRuns, type ReportRun } from '@portcullis/contract'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { ReportsFrame } from './ReportsFrame.tsx'
import { RunDrawer } from './RunDrawer.tsx'
import { runColumns, runFilters, runsView } from './runs.view.tsx'

const hrefOf = (run: ReportRun) => `/reports/history?run=${run.id}`

/** What became of each run. Mails lead here: `run` in the address opens it. */
export const HistoryPage = () => {
  useTitle('History of reports')
  const { api } = useServices()
  const navigate = useNavigate({ from: '/reports/history' })
  const search = useSearch({ from: '/inside/reports/history' })
  const view = useView('/inside/reports/history', runsView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search: needle, sort } = view.state
  const query = useMemo(() => listQueryOf({ filters, search: needle, sort }, runsView), [filters, needle, sort])
  const source = useMemo(() => listSource(api, listReportRuns, query, (run) => run.id), [api, query])
  const open = view.state.open ?? search.run ?? null
  const close = () => void navigate({ to: '.', search: (old) => ({ ...old, run: undefined, open: undefined }) })
  return (
    <ReportsFrame>
      <ListFrame
        title="History of reports"
        counts={counts}
        filters={
          <FilterBar view={view} filters={runFilters} searchPlaceholder="Report, file, failure">
            <ColumnsMenu columns={runColumns} view={view} />
            <MoreMenu
              label="More"
              curl={() => curlOf(window.location.origin, listReportRuns, { query: { ...query, PageSize: 100 } })}
            />
          </FilterBar>
        }
        table={
          <DataTable
            label="Runs"
            columns={runColumns}
            source={source}
            view={view}
            topics={['reports']}
            hrefOf={hrefOf}
            empty={
              <EmptyState icon="report" title="No report was made yet">
                <p>Each run comes here: its file, who got it, and why when something failed.</p>
              </EmptyState>
            }
            onCounts={setCounts}
          />
        }
        drawer={open === null ? null : <RunDrawer id={open} close={close} />}
      />
    </ReportsFrame>
  )
}
