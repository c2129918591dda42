import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Delivery, listDeliveries } from '#features/contract.ts'
import { DeliveryDrawer } from './DeliveryDrawer.tsx'
import { deliveriesTable } from './deliveries.view.tsx'
import { isOpen, stuckKey, useDeliveryActions } from './delivery-actions.ts'
import { Streams } from './Streams.tsx'
import { strings } from './strings.ts'
import { Waiting } from './Waiting.tsx'

const stuckGap = 3_000
const idOf = ({ id }: Delivery) => id
const hrefOf = ({ id }: Delivery) => `/settings/deliveries?open=${encodeURIComponent(id)}`

/** Outgoing deliveries: event streams, and messages to people and webhooks. */
export const DeliveriesPage = () => {
  useTitle(strings.deliveries)
  const { api, session } = useServices()
  const list = useList('/inside/settings/deliveries', deliveriesTable.view, listDeliveries, idOf)
  const { open } = list.view.state
  const selection = useSelection(list.source, { filtered: list.counts?.filtered ?? null })
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
    <ListPage
      title={strings.deliveries}
      list={list}
      actions={
        stuckNow === 0 ? null : (
          <>
            <Link to="/settings/deliveries" search={{ isStuck: 'true' }}>
              {strings.stuckCount({ count: stuckNow })}
            </Link>
            {canRetry ? (
              <Button size="compact-sm" variant="default" onClick={() => all.retry(null)}>
                {strings.sendAllStuck}
              </Button>
            ) : null}
            {canDrop ? (
              <Button size="compact-sm" variant="default" onClick={() => all.drop(null, stuckNow)}>
                {strings.dropAllMenu}
              </Button>
            ) : null}
          </>
        )
      }
      searchPlaceholder={strings.searchPlaceholder}
      above={
        <>
          <Waiting />
          <Streams />
        </>
      }
      label={strings.deliveries}
      table={deliveriesTable}
      topics={['deliveries']}
      hrefOf={hrefOf}
      selection={canRetry ? selection : undefined}
      empty={
        <EmptyState icon="upload" title={strings.emptyTitle}>
          <p>{strings.emptyText}</p>
          <p>{strings.emptyGroups({ link: (text) => <Link to="/settings/notifications">{text}</Link> })}</p>
        </EmptyState>
      }
      drawer={
        open === null ? null : (
          <DeliveryDrawer id={open} query={list.query} close={() => list.view.set({ open: null })} />
        )
      }
      bar={
        canRetry ? (
          <SelectionBar selection={selection} filtered={list.counts?.filtered ?? null}>
            {rows.some(isOpen) ? (
              <>
                <Button size="compact-sm" variant="default" onClick={() => chosen.retry(rows)}>
                  {strings.sendNow}
                </Button>
                {canDrop ? (
                  <Button size="compact-sm" variant="default" onClick={() => chosen.drop(rows)}>
                    {strings.dropMenu}
                  </Button>
                ) : null}
              </>
            ) : (
              <span>{strings.nothingToDo}</span>
            )}
          </SelectionBar>
        ) : null
      }
    />
  )
}
