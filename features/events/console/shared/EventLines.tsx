import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Quiet, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { type FleetEvent, readableEvent } from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'

/** A few events, newest first. `withHost` shows the host of each event. */
export const EventLines = ({ events, withHost = false }: { events: readonly FleetEvent[]; withHost?: boolean }) => (
  <Stack as="ol" gap={0} small>
    {events.map((event) => (
      <Columns
        key={event.eventID}
        as="li"
        template="64px 16px minmax(0, 1fr)"
        gap={10}
        style={{ paddingBlock: 6, borderBottom: '1px solid var(--pc-line)' }}
      >
        <Quiet style={{ textAlign: 'right' }}>
          <Time value={event.creationTime} />
        </Quiet>
        <Quiet>{event.peripheralIcon === '-1' ? null : <Icon name={kindIcon(event.peripheralIcon)} />}</Quiet>
        <div>
          <span>{event.description}</span>{' '}
          {event.severity <= 4 ? (
            <SeverityTag severity={eventSeverity(event.severity)} word={event.severityString} />
          ) : null}
          {withHost ? (
            <Text breaks style={{ marginLeft: 6 }}>
              <DeviceText value={event.eventEntityID} />
            </Text>
          ) : null}
          <Text as="div" quiet breaks>
            <DeviceText value={readableEvent(event.details)} absent="" />
          </Text>
        </div>
      </Columns>
    ))}
  </Stack>
)
