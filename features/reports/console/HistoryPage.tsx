import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { listReportRuns, type ReportRun } from '#features/contract.ts'
import { ReportsFrame } from './ReportsFrame.tsx'
import { RunDrawer } from './RunDrawer.tsx'
import { runsTable } from './runs.view.tsx'
import { strings } from './strings.ts'

const hrefOf = (run: ReportRun) => `/reports/history?run=${run.id}`

const idOf = (run: ReportRun) => run.id

/** The runs of reports. Links in emails open a run by `run` in the URL. */
export const HistoryPage = () => {
  useTitle(strings.historyTitle)
  const navigate = useNavigate({ from: '/reports/history' })
  const search = useSearch({ from: '/inside/reports/history' })
  const list = useList('/inside/reports/history', runsTable.view, listReportRuns, idOf)
  const open = list.view.state.open ?? search.run ?? null
  const close = () => void navigate({ to: '.', search: (old) => ({ ...old, run: undefined, open: undefined }) })
  return (
    <ReportsFrame>
      <ListPage
        title={strings.historyTitle}
        list={list}
        searchPlaceholder={strings.searchPlaceholder}
        label={strings.runs}
        table={runsTable}
        topics={['reports']}
        hrefOf={hrefOf}
        empty={
          <EmptyState icon="report" title={strings.historyEmptyTitle}>
            <p>{strings.historyEmptyText}</p>
          </EmptyState>
        }
        drawer={open === null ? null : <RunDrawer id={open} close={close} />}
      />
    </ReportsFrame>
  )
}
