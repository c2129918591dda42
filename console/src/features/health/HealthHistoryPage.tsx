import { type HealthChange, healthHistory, healthHistoryDays } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ListPage } from '../../ui/list/ListPage.tsx'
import { useList } from '../../ui/list/useList.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { changeColumns, changeFilters, changesView } from './history.view.tsx'
import { strings } from './strings.ts'

/** A row leads to all changes of its part. */
const hrefOf = ({ subsystem }: HealthChange) => `/settings/health/history?subsystem=${encodeURIComponent(subsystem)}`
const keyOf = (change: HealthChange) => String(change.id)

/** Every change of a part of the product. */
export const HealthHistoryPage = () => {
  useTitle(strings.historyOfHealth)
  const list = useList('/inside/settings/health/history', changesView, healthHistory, keyOf)
  return (
    <ListPage
      title={strings.historyOfHealth}
      list={list}
      actions={<Link to="/settings/health">{strings.howItIsNow}</Link>}
      filters={changeFilters}
      searchPlaceholder={strings.partStateWhatWasSeen}
      label={strings.changes}
      columns={changeColumns}
      topics={['health']}
      hrefOf={hrefOf}
      opensPage
      empty={
        <EmptyState icon="health" title={strings.noPartHasChanged}>
          <p>
            {strings.aPartThatGetsWorseOr({
              healthHistoryDays,
              link: (text) => <Link to="/settings/health">{text}</Link>,
            })}
          </p>
        </EmptyState>
      }
    />
  )
}
