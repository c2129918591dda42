import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link } from '@tanstack/react-router'
import { type HealthChange, healthHistory, healthHistoryDays } from '#features/contract.ts'
import { changesTable } from './history.view.tsx'
import { strings } from './strings.ts'

/** A row leads to all changes of its part. */
const hrefOf = ({ subsystem }: HealthChange) => `/settings/health/history?subsystem=${encodeURIComponent(subsystem)}`
const keyOf = (change: HealthChange) => String(change.id)

/** The changes of all parts of the product. */
export const HealthHistoryPage = () => {
  useTitle(strings.historyTitle)
  const list = useList('/inside/settings/health/history', changesTable.view, healthHistory, keyOf)
  return (
    <ListPage
      title={strings.historyTitle}
      list={list}
      actions={<Link to="/settings/health">{strings.currentHealth}</Link>}
      searchPlaceholder={strings.searchPlaceholder}
      label={strings.changes}
      table={changesTable}
      topics={['health']}
      hrefOf={hrefOf}
      opensPage
      empty={
        <EmptyState icon="health" title={strings.noChangesYet}>
          <p>
            {strings.historyEmptyText({
              days: healthHistoryDays,
              link: (text) => <Link to="/settings/health">{text}</Link>,
            })}
          </p>
        </EmptyState>
      }
    />
  )
}
