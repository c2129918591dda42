import { FullPage } from '@portcullis/platform/console/ui/FullPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useParams } from '@tanstack/react-router'
import { EventDetail } from './EventDetail.tsx'
import { strings } from './strings.ts'

/** The full page of an event. */
export const EventPage = () => {
  const { eventId } = useParams({ from: '/inside/events/$eventId' })
  useTitle(`${strings.event} ${eventId}`)
  return (
    <FullPage title={strings.event} back={<Link to="/events">{strings.events}</Link>}>
      <EventDetail eventId={eventId} />
    </FullPage>
  )
}
