import { eventAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Columns, Note, Quiet, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import { type Channel, type DeliveryState, type getNotice, type ResponseOf, readableEvent } from '#features/contract.ts'
import { channelLabels, deliveryLabels } from '../shared/labels.ts'
import type { Line } from '../shared/line.ts'
import { strings } from './strings.ts'

type Data = ResponseOf<typeof getNotice>

export const Why = ({ data, line }: { data: Data; line: Line | null }) => (
  <Stack aria-label={strings.why} as="section" gap={6}>
    <h3>{strings.whyTitle}</h3>
    <p>{data.why}</p>
    {data.matched.length === 0 ? null : (
      <ul>
        {data.matched.map((line) => (
          <li key={line}>
            <DeviceText value={line} />
          </li>
        ))}
      </ul>
    )}
    <Facts
      rows={[
        [strings.happened, strings.happenedTimes({ count: data.count })],
        ...(line === null
          ? []
          : [
              [strings.first, <Time key="first" value={line.firstAt} form="local" />] as const,
              [strings.last, <Time key="last" value={line.lastAt} form="local" />] as const,
            ]),
      ]}
    />
  </Stack>
)

export const Events = ({ data }: { data: Data }) => (
  <Stack aria-label={strings.events} as="section" gap={6}>
    <h3>
      {data.events.length < data.count && data.events.length > 0
        ? strings.newestEvents({ shown: data.events.length, count: data.count })
        : strings.eventsTitle}
    </h3>
    {data.events.length === 0 ? (
      <Note>{strings.eventsGone}</Note>
    ) : (
      <Stack as="ol" gap={6}>
        {data.events.map((event) => (
          <Columns as="li" key={event.eventID} template="64px minmax(0, 1fr) auto" breaks num>
            <PlainLink href={eventAddress(event.eventID)}>{String(event.eventID)}</PlainLink>
            <span>
              <DeviceText value={event.eventEntityID} />
              <Quiet block>
                <DeviceText value={readableEvent(event.details)} absent="" />
              </Quiet>
            </span>
            <Time value={event.creationTime} />
          </Columns>
        ))}
      </Stack>
    )}
  </Stack>
)

export const Notified = ({ data }: { data: Data }) => {
  const { session } = useServices()
  return (
    <Stack aria-label={strings.notified} as="section" gap={6}>
      <h3>{strings.notified}</h3>
      {data.told.length === 0 ? (
        <Note>{strings.notifiedNone({ link: (text) => <Link to="/settings/notifications">{text}</Link> })}</Note>
      ) : (
        <Stack as="ol" gap={6}>
          {data.told.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two deliveries may look the same
            <Columns as="li" key={index} template="minmax(0, 1fr) auto" breaks num>
              <span>
                {strings.sentTo({
                  channel: channelLabels[one.channel as Channel] ?? one.channel,
                  destination: <DeviceText value={one.destination} />,
                })}
                <Quiet block>
                  {strings.sentByGroup({
                    group: one.groupName,
                    state: deliveryLabels[one.state as DeliveryState] ?? one.state,
                  })}
                </Quiet>
              </span>
              <Time value={one.at} />
            </Columns>
          ))}
        </Stack>
      )}
      {data.told.length > 0 && session.may('config:read') ? (
        <Link to="/settings/deliveries">{strings.allDeliveries}</Link>
      ) : null}
    </Stack>
  )
}
