import { Button } from '@mantine/core'
import { type Delivery, listDeliveries } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
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
import { SelectionBar } from '../../ui/table/SelectionBar.tsx'
import { useSelection } from '../../ui/table/useSelection.ts'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { DeliveryDrawer } from './DeliveryDrawer.tsx'
import { deliveriesView, deliveryColumns, deliveryFilters } from './deliveries.view.tsx'
import { isOpen, stuckKey, useDeliveryActions } from './delivery-actions.ts'
import { Streams } from './Streams.tsx'
import { Waiting } from './Waiting.tsx'

const stuckGap = 3_000
const idOf = ({ id }: Delivery) => id
const hrefOf = ({ id }: Delivery) => `/settings/deliveries?open=${encodeURIComponent(id)}`

/** What leaves this server: streams of events, and messages to people and webhooks. */
export const DeliveriesPage = () => {
  useTitle('Deliveries')
  const { api, session } = useServices()
  const view = useView('/inside/settings/deliveries', deliveriesView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, deliveriesView), [filters, search, sort])
  const source = useMemo(() => listSource(api, listDeliveries, query, idOf), [api, query])
  const selection = useSelection(source, { filtered: counts?.filtered ?? null })
  const stuck = useQuery({
    queryKey: stuckKey,
    queryFn: async ({ signal }) =>
      (await api.call(listDeliveries, { query: { isStuck: 'true', PageSize: 1 }, signal })).recordsFiltered,
  })
  useLiveRefresh(['deliveries'], stuckGap, () => void stuck.refetch())
  const all = useDeliveryActions()
  const chosen = useDeliveryActions(selection.clear)
  const canRetry = session.may('notices:dismiss')
  const canDrop = session.may('config:write')
  const stuckNow = stuck.data ?? 0
  const rows = selection.rows()
  return (
    <ListFrame
      title="Deliveries"
      counts={counts}
      actions={
        stuckNow === 0 ? null : (
          <>
            <Link to="/settings/deliveries" search={{ isStuck: 'true' }}>
              {stuckNow.toLocaleString('en')} stuck
            </Link>
            {canRetry ? (
              <Button size="compact-sm" variant="default" onClick={() => all.retry(null)}>
                Send all stuck now
              </Button>
            ) : null}
            {canDrop ? (
              <Button size="compact-sm" variant="default" onClick={() => all.drop(null, stuckNow)}>
                Drop all stuck…
              </Button>
            ) : null}
          </>
        )
      }
      filters={
        <>
          <Waiting />
          <Streams />
          <FilterBar view={view} filters={deliveryFilters} searchPlaceholder="Message, receiver, failure">
            <ColumnsMenu columns={deliveryColumns} view={view} />
            <MoreMenu
              label="More"
              curl={() => curlOf(window.location.origin, listDeliveries, { query: { ...query, PageSize: 100 } })}
            />
          </FilterBar>
        </>
      }
      table={
        <DataTable
          label="Deliveries"
          columns={deliveryColumns}
          source={source}
          view={view}
          topics={['deliveries']}
          hrefOf={hrefOf}
          {...(canRetry ? { selection } : {})}
          empty={
            <EmptyState icon="upload" title="Nothing was sent yet">
              <p>
                Mails and webhooks of notices appear here: what was delivered, what waits for a receiver that is away,
                and what was refused.
              </p>
              <p>
                Who is told, and how: <Link to="/settings/notifications">notification groups</Link>.
              </p>
            </EmptyState>
          }
          onCounts={setCounts}
        />
      }
      drawer={open === null ? null : <DeliveryDrawer id={open} query={query} close={() => view.set({ open: null })} />}
      selection={
        canRetry ? (
          <SelectionBar selection={selection} filtered={counts?.filtered ?? null}>
            {rows.some(isOpen) ? (
              <>
                <Button size="compact-sm" variant="default" onClick={() => chosen.retry(rows)}>
                  Send now
                </Button>
                {canDrop ? (
                  <Button size="compact-sm" variant="default" onClick={() => chosen.drop(rows)}>
                    Drop…
                  </Button>
                ) : null}
              </>
            ) : (
              <span>These have ended; nothing is left to do.</span>
            )}
          </SelectionBar>
        ) : null
      }
    />
  )
}
