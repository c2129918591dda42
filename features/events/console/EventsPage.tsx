import { eventAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { lazily, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { exportEventsCsv, exportEventsPdf, type FleetEvent, getEvents } from '#features/contract.ts'
import { ExportMenu } from '#features/reports/console/shared/ExportMenu.tsx'
import { EventHistogram } from './EventHistogram.tsx'
import { eventsTable } from './events.view.tsx'
import { strings } from './strings.ts'

const EventDetail = lazily(async () => (await import('./EventDetail.tsx')).EventDetail, <DetailSkeleton />)
const hrefOf = (event: FleetEvent) => eventAddress(event.eventID)

const idOf = (event: FleetEvent) => String(event.eventID)

/** Lists the events, newest first. */
export const EventsPage = () => {
  useTitle(strings.events)
  useIdlePreload(EventDetail)
  const list = useList('/inside/events', eventsTable.view, getEvents, idOf)
  const { open } = list.view.state
  return (
    <ListPage
      title={strings.events}
      list={list}
      searchPlaceholder={strings.search}
      exports={(rows) => (
        <ExportMenu {...rows} name="events" report="events" csv={exportEventsCsv} pdf={exportEventsPdf} />
      )}
      label={strings.events}
      above={<EventHistogram view={list.view} query={list.query} />}
      table={eventsTable}
      topics={['events']}
      hrefOf={hrefOf}
      empty={
        <EmptyState icon="events" title={strings.emptyTitle}>
          <p>{strings.empty}</p>
        </EmptyState>
      }
      drawer={
        open === null ? null : (
          <SidePanel label={strings.event} fullPage={eventAddress(open)} close={() => list.view.set({ open: null })}>
            <EventDetail key={open} eventId={open} />
          </SidePanel>
        )
      }
    />
  )
}
