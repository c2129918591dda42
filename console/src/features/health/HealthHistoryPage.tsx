import { type HealthChange, healthHistory, healthHistoryDays } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
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
import { changeColumns, changeFilters, changesView } from './history.view.tsx'

/** A row leads to all changes of its part. */
const hrefOf = ({ subsystem }: HealthChange) => `/settings/health/history?subsystem=${encodeURIComponent(subsystem)}`
const keyOf = (change: HealthChange) => String(change.id)

/** Every change of a part of the product. */
export const HealthHistoryPage = () => {
  useTitle('History of health')
  const { api } = useServices()
  const view = useView('/inside/settings/health/history', changesView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, changesView), [filters, search, sort])
  const source = useMemo(() => listSource(api, healthHistory, query, keyOf), [api, query])
  return (
    <ListFrame
      title="History of health"
      counts={counts}
      actions={<Link to="/settings/health">How it is now</Link>}
      filters={
        <FilterBar view={view} filters={changeFilters} searchPlaceholder="Part, state, what was seen">
          <ColumnsMenu columns={changeColumns} view={view} />
          <MoreMenu
            label="More"
            curl={() => curlOf(window.location.origin, healthHistory, { query: { ...query, PageSize: 100 } })}
          />
        </FilterBar>
      }
      table={
        <DataTable
          label="Changes"
          columns={changeColumns}
          source={source}
          view={view}
          topics={['health']}
          hrefOf={hrefOf}
          opensPage
          empty={
            <EmptyState icon="health" title="No part has changed">
              <p>
                A part that gets worse, or better, for two looks in a row is written down here, and kept for{' '}
                {healthHistoryDays} days. Until then each is as <Link to="/settings/health">the page of health</Link>{' '}
                shows it.
              </p>
            </EmptyState>
          }
          onCounts={setCounts}
        />
      }
    />
  )
}
