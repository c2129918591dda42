import { Button } from '@mantine/core'
import { listRiskNotices } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { useNoticeCounts } from '../../ui/notices/useNotices.ts'
import { SelectionBar } from '../../ui/table/SelectionBar.tsx'
import { useSelection } from '../../ui/table/useSelection.ts'
import type { View } from '../../ui/useView.ts'
import { type Line, lineOfRisk } from './line.ts'
import { NoticeGrid } from './NoticeGrid.tsx'
import { useNoticeActions } from './notice-actions.ts'
import classes from './notices.module.css'
import { riskFilters, riskQueryOf } from './notices.view.ts'
import { strings } from './strings.ts'

const Nothing = () => (
  <EmptyState icon="bell" title={strings.emptyTitle}>
    <p>{strings.emptyText}</p>
    <p>{strings.emptyGroups({ link: (text) => <Link to="/settings/notifications">{text}</Link> })}</p>
  </EmptyState>
)

const NoMatch = ({ clear }: { clear: () => void }) => (
  <EmptyState icon="filter" title={strings.noMatch}>
    <Button variant="subtle" size="compact-sm" onClick={clear}>
      {strings.clearFilters}
    </Button>
  </EmptyState>
)

/** Risk alerts: pinned ones first, then the newest. */
export const RiskInbox = ({ view }: { view: View }) => {
  const { api, session } = useServices()
  const counts = useNoticeCounts()
  const { filters, search } = view.state
  const query = useMemo(() => riskQueryOf({ filters, search }), [filters, search])
  const isFiltered = Object.keys(query).length > 0
  const load = useCallback(
    async (pageNumber: number, pageSize: number, signal?: AbortSignal): Promise<Line[]> => {
      const notices = await api.call(listRiskNotices, {
        query: { ...query, pageNumber, pageSize },
        ...(signal === undefined ? {} : { signal }),
      })
      return notices.map(lineOfRisk)
    },
    [api, query],
  )
  const source = useMemo(
    () => ({
      key: ['listRiskNotices', query] as const,
      idOf: ({ id }: Line) => String(id),
      load: async (page: number, size: number, signal?: AbortSignal) => {
        const data = await load(page, size, signal)
        return { recordsTotal: data.length, recordsFiltered: data.length, data }
      },
    }),
    [load, query],
  )
  const canDismiss = session.may('notices:dismiss')
  // The list does not return how many alerts match its filters. The number is known only without filters.
  const selection = useSelection(source, { filtered: isFiltered ? null : (counts.data?.riskNotifications ?? null) })
  const { dismiss } = useNoticeActions('risk', () => undefined)
  return (
    <div className={classes.list}>
      <FilterBar view={view} filters={riskFilters} searchPlaceholder={strings.searchPlaceholder} />
      <NoticeGrid
        list="risk"
        label={strings.riskAlerts}
        view={view}
        name={JSON.stringify(query)}
        read={(size, signal) => load(1, size, signal)}
        canDismiss={canDismiss}
        {...(canDismiss ? { selection } : {})}
        empty={<Nothing />}
        {...(isFiltered ? { noMatch: <NoMatch clear={view.clearFilters} /> } : {})}
      />
      {canDismiss ? (
        <SelectionBar selection={selection} filtered={counts.data?.riskNotifications ?? null}>
          <Button size="compact-sm" variant="default" onClick={() => dismiss(selection.rows(), selection.clear)}>
            {strings.dismissMenu}
          </Button>
        </SelectionBar>
      ) : null}
    </div>
  )
}
