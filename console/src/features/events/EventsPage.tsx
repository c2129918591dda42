import { exportEventsCsv, exportEventsPdf, type FleetEvent, getEvents } from '@portcullis/contract'
import { useMemo, useState } from 'react'
import { eventAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ExportMenu } from '../../ui/ExportMenu.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { lazily, useIdlePreload } from '../../ui/lazily.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SidePanel } from '../../ui/SidePanel.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { exportKeysOf } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { eventColumns, eventFilters, eventsView } from './events.view.tsx'

const EventDetail = lazily(async () => (await import('./EventDetail.tsx')).EventDetail, <DetailSkeleton />)
const hrefOf = (event: FleetEvent) => eventAddress(event.eventID)

/** Everything that happened, newest first. */
export const EventsPage = () => {
  useTitle('Events')
  useIdlePreload(EventDetail)
  const { api } = useServices()
  const view = useView('/inside/events', eventsView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, eventsView), [filters, search, sort])
  const source = useMemo(() => listSource(api, getEvents, query, (event) => String(event.eventID)), [api, query])
  return (
    <ListFrame
      title="Events"
      counts={counts}
      filters={
        <FilterBar view={view} filters={eventFilters} searchPlaceholder="Host, device, what happened">
          <ColumnsMenu columns={eventColumns} view={view} />
          <ExportMenu
            name="events"
            report="events"
            csv={exportEventsCsv}
            pdf={exportEventsPdf}
            query={query}
            columns={exportKeysOf(eventColumns, view.state.columns)}
            rows={counts?.filtered ?? null}
          />
          <MoreMenu
            label="More"
            curl={() => curlOf(window.location.origin, getEvents, { query: { ...query, PageSize: 100 } })}
          />
        </FilterBar>
      }
      table={
        <DataTable
          label="Events"
          columns={eventColumns}
          source={source}
          view={view}
          topics={['events']}
          hrefOf={hrefOf}
          empty={
            <EmptyState icon="events" title="Nothing has happened yet">
              <p>
                The first event comes with the first host: its enrolment, then every device that is attached or goes.
              </p>
            </EmptyState>
          }
          onCounts={setCounts}
        />
      }
      drawer={
        open === null ? null : (
          <SidePanel label="Event" fullPage={eventAddress(open)} close={() => view.set({ open: null })}>
            <EventDetail key={open} eventId={open} />
          </SidePanel>
        )
      }
    />
  )
}
