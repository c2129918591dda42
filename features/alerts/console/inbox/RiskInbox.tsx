import { Button, NativeSelect } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { FilterBar } from '@portcullis/platform/console/ui/filters/FilterBar.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { Link } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { listRiskNotices } from '#features/contract.ts'
import { type Line, lineOfRisk } from '../shared/line.ts'
import { useAlertCounts } from '../shared/useAlerts.ts'
import { AlertGrid } from './AlertGrid.tsx'
import { alertsTable, riskOrderOf, riskOrders, riskQueryOf } from './alerts.view.ts'
import { AssignMenu, SnoozeMenu } from './CaseActions.tsx'
import { MutedModels } from './MutedModels.tsx'
import { strings } from './strings.ts'
import { useCases } from './useCases.tsx'

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

/** Risk alerts: pinned ones first, then the most severe. */
export const RiskInbox = ({ view }: { view: View }) => {
  const { api, clock, session } = useServices()
  const counts = useAlertCounts()
  const { filters, search, sort } = view.state
  const sortBy = riskOrderOf(sort)
  const query = useMemo(() => riskQueryOf({ filters, search }, clock.now()), [clock, filters, search])
  const isFiltered = Object.keys(query).length > 0
  const load = useCallback(
    async (pageNumber: number, pageSize: number, signal?: AbortSignal): Promise<Line[]> => {
      const alerts = await api.call(listRiskNotices, {
        query: { ...query, sortBy, pageNumber, pageSize },
        ...(signal === undefined ? {} : { signal }),
      })
      return alerts.map(lineOfRisk)
    },
    [api, query, sortBy],
  )
  const source = useMemo(
    () => ({
      key: ['listRiskNotices', query, sortBy] as const,
      idOf: ({ id }: Line) => String(id),
      load: async (page: number, size: number, signal?: AbortSignal) => {
        const data = await load(page, size, signal)
        return { recordsTotal: data.length, recordsFiltered: data.length, data }
      },
    }),
    [load, query, sortBy],
  )
  const canDismiss = session.may('notices:dismiss')
  // The list does not return how many alerts match its filters. The number is known only without filters.
  const selection = useSelection(source, { filtered: isFiltered ? null : (counts.data?.riskNotifications ?? null) })
  const cases = useCases(() => undefined)
  return (
    <Stack grow gap={10}>
      <FilterBar view={view} filters={alertsTable.filters} searchPlaceholder={strings.searchPlaceholder}>
        <NativeSelect
          size="xs"
          aria-label={strings.order}
          value={sortBy}
          data={riskOrders.map((order) => ({ ...order }))}
          onChange={(event) => view.set({ sort: event.currentTarget.value })}
        />
        <MutedModels />
      </FilterBar>
      <AlertGrid
        list="risk"
        label={strings.riskAlerts}
        view={view}
        name={JSON.stringify([query, sortBy])}
        read={(size, signal) => load(1, size, signal)}
        canDismiss={canDismiss}
        {...(canDismiss ? { selection } : {})}
        empty={<Nothing />}
        {...(isFiltered ? { noMatch: <NoMatch clear={view.clearFilters} /> } : {})}
      />
      {canDismiss ? (
        <SelectionBar selection={selection} filtered={counts.data?.riskNotifications ?? null}>
          <AssignMenu cases={selection.rows()} actions={cases} />
          <SnoozeMenu cases={selection.rows()} actions={cases} done={selection.clear} />
          <Button size="compact-sm" variant="default" onClick={() => cases.close(selection.rows(), selection.clear)}>
            {strings.askClose}
          </Button>
        </SelectionBar>
      ) : null}
      {cases.dialog}
    </Stack>
  )
}
