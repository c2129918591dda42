import { type FleetEvent, readableEvent } from '@portcullis/contract'
import { DeviceText } from './DeviceText.tsx'
import classes from './EventLines.module.css'
import { eventSeverity } from './findings.ts'
import { Icon, kindIcon } from './icons.tsx'
import { SeverityTag } from './SeverityTag.tsx'
import { Time } from './Time.tsx'

/** A few events, newest first. `withHost` shows the host of each event. */
export const EventLines = ({ events, withHost = false }: { events: readonly FleetEvent[]; withHost?: boolean }) => (
  <ol className={classes.lines}>
    {events.map((event) => (
      <li key={event.eventID} className={classes.line}>
        <span className={classes.time}>
          <Time value={event.creationTime} />
        </span>
        <span className={classes.icon}>
          {event.peripheralIcon === '-1' ? null : <Icon name={kindIcon(event.peripheralIcon)} />}
        </span>
        <div>
          <span>{event.description}</span>{' '}
          {event.severity <= 4 ? (
            <SeverityTag severity={eventSeverity(event.severity)} word={event.severityString} />
          ) : null}
          {withHost ? (
            <span className={classes.host}>
              <DeviceText value={event.eventEntityID} />
            </span>
          ) : null}
          <div className={classes.details}>
            <DeviceText value={readableEvent(event.details)} absent="" />
          </div>
        </div>
      </li>
    ))}
  </ol>
)
