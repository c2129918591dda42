import { type HealthChange, healthHistory, healthHistoryDays } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ListPage } from '../../ui/list/ListPage.tsx'
import { useList } from '../../ui/list/useList.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { changeColumns, changeFilters, changesView } from './history.view.tsx'

/** A row leads to all changes of its part. */
const hrefOf = ({ subsystem }: HealthChange) => `/settings/health/history?subsystem=${encodeURIComponent(subsystem)}`
const keyOf = (change: HealthChange) => String(change.id)

/** Every change of a part of the product. */
export const HealthHistoryPage = () => {
  useTitle('History of health')
  const list = useList('/inside/settings/health/history', changesView, healthHistory, keyOf)
  return (
    <ListPage
      title="History of health"
      list={list}
      actions={<Link to="/settings/health">How it is now</Link>}
      filters={changeFilters}
      searchPlaceholder="Part, state, what was seen"
      label="Changes"
      columns={changeColumns}
      topics={['health']}
      hrefOf={hrefOf}
      opensPage
      empty={
        <EmptyState icon="health" title="No part has changed">
          <p>
            A part that gets worse, or better, for two looks in a row is written down here, and kept for{' '}
            {healthHistoryDays} days. Until then each is as <Link to="/settings/health">the page of health</Link> shows
            it.
          </p>
        </EmptyState>
      }
    />
  )
}
