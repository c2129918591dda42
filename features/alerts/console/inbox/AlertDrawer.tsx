import { Button } from '@mantine/core'
import {
  type Channel,
  type DeliveryState,
  getNotice,
  listHealthNotices,
  listRiskNotices,
  type ResponseOf,
  readableEvent,
} from '@portcullis/contract'
import { eventAddress } from '@portcullis/platform/console/lib/addresses.ts'
import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Columns, DrawerBody, Note, Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { SidePanel, SidePanelHead } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { channelLabels, deliveryLabels } from '../shared/labels.ts'
import { alertHostsAddress, type InboxList, type Line, lineOfHealth, lineOfRisk } from '../shared/line.ts'
import { alertsKey } from '../shared/useAlerts.ts'
import { AffectedHosts } from './AffectedHosts.tsx'
import { AlertSteps } from './AlertSteps.tsx'
import type { Decision } from './steps.ts'
import { strings } from './strings.ts'

export interface AlertDrawerProps {
  id: number
  list: InboxList
  /** The alert from the list; null if the list does not have it. */
  line: Line | null
  canDismiss: boolean
  pin: (line: Line) => void
  decide: (line: Line, effect: Decision) => void
  dismiss: (line: Line) => void
  close: () => void
}

/** Finds an alert that the list does not show: filtered out, further down or dismissed. */
const findLine = async (api: Pick<Api, 'call'>, list: InboxList, id: number, signal: AbortSignal) => {
  if (list === 'health') {
    const { items } = await api.call(listHealthNotices, { signal })
    const found = items.find((one) => one.id === id)
    return found === undefined ? null : lineOfHealth(found)
  }
  for (const isDismissed of ['false', 'true']) {
    const [found] = await api.call(listRiskNotices, { query: { id: String(id), isDismissed }, signal })
    if (found !== undefined) return lineOfRisk(found)
  }
  return null
}

type Data = ResponseOf<typeof getNotice>

type LineProps = Pick<AlertDrawerProps, 'canDismiss' | 'pin' | 'decide' | 'dismiss'> & { line: Line }

/** The finding, and the actions for it. */
const LineHead = ({ line, canDismiss, pin, decide, dismiss }: LineProps) => (
  <>
    <Row wrap gap={12}>
      <SeverityTag severity={line.severity} word={line.severityLabel} />
      {line.isDismissed ? null : (
        <Row as="span" align="start" end>
          <Button size="compact-sm" variant="default" onClick={() => pin(line)}>
            {line.isPinned ? strings.unpin : strings.pin}
          </Button>
          {canDismiss ? (
            <Button size="compact-sm" variant="default" title={strings.dismissHelp} onClick={() => dismiss(line)}>
              {strings.dismiss}
            </Button>
          ) : null}
        </Row>
      )}
    </Row>
    {line.isDismissed ? null : (
      <Row aria-label={strings.nextSteps} as="section" align="start" wrap>
        <AlertSteps line={line} decide={decide} />
      </Row>
    )}
    <Text as="p" breaks>
      <DeviceText value={readableEvent(line.description)} absent="" />
    </Text>
  </>
)

const Why = ({ data, line }: { data: Data; line: Line | null }) => (
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

const Events = ({ data }: { data: Data }) => (
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

const Notified = ({ data }: { data: Data }) => {
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

const Body = ({ id, list, line: listed, canDismiss, pin, decide, dismiss }: Omit<AlertDrawerProps, 'close'>) => {
  const { api } = useServices()
  const timeline = useRead([alertsKey, 'timeline', id], getNotice, { params: { id }, retry: false })
  const elsewhere = useQuery({
    queryKey: [alertsKey, 'one', list, id],
    queryFn: ({ signal }) => findLine(api, list, id, signal),
    enabled: listed === null,
  })
  const line = listed ?? elsewhere.data ?? null
  const data = timeline.data
  if (data === undefined) return timeline.error === null ? <DetailSkeleton /> : <ErrorState query={timeline} />
  return (
    <>
      <SidePanelHead>
        <h2>
          <DeviceText value={line?.title ?? data.title} />
        </h2>
        <MoreMenu label={strings.moreActions} curl={() => curlOf(getNotice, { params: { id } })} />
      </SidePanelHead>
      <DrawerBody>
        {line === null ? null : <LineHead {...{ line, canDismiss, pin, decide, dismiss }} />}
        {data.dismissedBy === '' ? null : (
          <Note role="note">{strings.dismissedBy({ name: <DeviceText value={data.dismissedBy} /> })}</Note>
        )}
        {data.hosts.length === 0 ? null : (
          <Stack aria-label={strings.hosts} as="section" gap={6}>
            <h3>{strings.hostsCount({ count: data.hostsCount || data.hosts.length })}</h3>
            <AffectedHosts hosts={data.hosts} evidence={data.matched} />
            {data.hostsCount > data.hosts.length ? (
              <PlainLink href={alertHostsAddress({ id })}>{strings.showAllHosts({ count: data.hostsCount })}</PlainLink>
            ) : null}
          </Stack>
        )}
        <Why data={data} line={line} />
        <Events data={data} />
        <Notified data={data} />
      </DrawerBody>
    </>
  )
}

/** The drawer of an alert: its cause, its hosts and events, who was notified, and the actions. */
export const AlertDrawer = ({ close, ...rest }: AlertDrawerProps) => (
  <SidePanel label={strings.alert} close={close}>
    <Body key={`${rest.list} ${rest.id}`} {...rest} />
  </SidePanel>
)
