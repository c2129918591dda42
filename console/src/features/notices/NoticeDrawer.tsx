import { Button } from '@mantine/core'
import {
  type Channel,
  type DeliveryState,
  getNotice,
  listHealthNotices,
  listRiskNotices,
  type ResponseOf,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { eventAddress } from '../../lib/addresses.ts'
import type { Api } from '../../lib/api.ts'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { channelWords, deliveryWords } from '../../ui/notices/labels.ts'
import { noticesKey } from '../../ui/notices/useNotices.ts'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SidePanel, SidePanelHead } from '../../ui/SidePanel.tsx'
import { Time } from '../../ui/Time.tsx'
import { type Line, lineOfHealth, lineOfRisk, type NoticeList } from './line.ts'
import { NoticeHosts } from './NoticeHosts.tsx'
import classes from './notices.module.css'
import { strings } from './strings.ts'

export interface NoticeDrawerProps {
  id: number
  list: NoticeList
  /** The notice as the list has it; null: the list has it not. */
  line: Line | null
  canDismiss: boolean
  pin: (line: Line) => void
  dismiss: (line: Line) => void
  close: () => void
}

/** A notice that is not among the shown ones: filtered away, further down, or dismissed. */
const findLine = async (api: Pick<Api, 'call'>, list: NoticeList, id: number, signal: AbortSignal) => {
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

type LineProps = Pick<NoticeDrawerProps, 'canDismiss' | 'pin' | 'dismiss'> & { line: Line }

/** What happened, and what can be done with the notice. */
const LineHead = ({ line, canDismiss, pin, dismiss }: LineProps) => (
  <>
    <div className={classes.line}>
      <SeverityTag severity={line.severity} word={line.word} />
      {line.about === null ? null : <PlainLink href={line.about.href}>{line.about.words}</PlainLink>}
      {line.isDismissed ? null : (
        <span className={classes.decide}>
          <Button size="compact-sm" variant="default" onClick={() => pin(line)}>
            {line.isPinned ? strings.unpin : strings.pin}
          </Button>
          {canDismiss ? (
            <Button
              size="compact-sm"
              variant="default"
              title={strings.forAllItComesBackWhen}
              onClick={() => dismiss(line)}
            >
              {strings.dismiss}
            </Button>
          ) : null}
        </span>
      )}
    </div>
    <p className={classes.happened}>
      <DeviceText value={line.description} absent="" />
    </p>
  </>
)

const Why = ({ data, line }: { data: Data; line: Line | null }) => (
  <section aria-label={strings.why} className={classes.section}>
    <h3>{strings.whyDidIGetThis}</h3>
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
        [strings.happened, data.count === 1 ? 'once' : strings.countTimes({ count: data.count })],
        ...(line === null
          ? []
          : [
              [strings.first, <Time key="first" value={line.firstAt} form="local" />] as const,
              [strings.last, <Time key="last" value={line.lastAt} form="local" />] as const,
            ]),
      ]}
    />
  </section>
)

const Events = ({ data }: { data: Data }) => (
  <section aria-label={strings.events} className={classes.section}>
    <h3>
      {data.events.length < data.count && data.events.length > 0
        ? strings.theNewestEventsOfCountEvents({ events: data.events.length, count: data.count })
        : strings.theEventsBehindIt}
    </h3>
    {data.events.length === 0 ? (
      <p className={classes.quiet}>{strings.noneOfThemIsStoredAny}</p>
    ) : (
      <ol className={classes.events}>
        {data.events.map((event) => (
          <li key={event.eventID}>
            <PlainLink href={eventAddress(event.eventID)}>{String(event.eventID)}</PlainLink>
            <span>
              <DeviceText value={event.eventEntityID} />
              <span className={classes.details}>
                <DeviceText value={event.details} absent="" />
              </span>
            </span>
            <Time value={event.creationTime} />
          </li>
        ))}
      </ol>
    )}
  </section>
)

const Told = ({ data }: { data: Data }) => {
  const { session } = useServices()
  return (
    <section aria-label={strings.told} className={classes.section}>
      <h3>{strings.whoWasTold}</h3>
      {data.told.length === 0 ? (
        <p className={classes.quiet}>
          {strings.nobodyByMailOrWebhookNo({ link: (text) => <Link to="/settings/notifications">{text}</Link> })}
        </p>
      ) : (
        <ol className={classes.told}>
          {data.told.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two deliveries may be alike in all that is shown
            <li key={index}>
              <span>
                {strings.valueToDevicetextSpan({
                  value: channelWords[one.channel as Channel] ?? one.channel,
                  deviceText: <DeviceText value={one.destination} />,
                  span: (
                    <span className={classes.details}>
                      {strings.groupGroupnameValue({
                        groupName: one.groupName,
                        value: deliveryWords[one.state as DeliveryState] ?? one.state,
                      })}
                    </span>
                  ),
                })}
              </span>
              <Time value={one.at} />
            </li>
          ))}
        </ol>
      )}
      {data.told.length > 0 && session.may('config:read') ? (
        <Link to="/settings/deliveries">{strings.allDeliveries}</Link>
      ) : null}
    </section>
  )
}

const Body = ({ id, list, line: listed, canDismiss, pin, dismiss }: Omit<NoticeDrawerProps, 'close'>) => {
  const { api } = useServices()
  const story = useQuery({
    queryKey: [noticesKey, 'story', id],
    queryFn: ({ signal }) => api.call(getNotice, { params: { id }, signal }),
    retry: false,
  })
  const elsewhere = useQuery({
    queryKey: [noticesKey, 'one', list, id],
    queryFn: ({ signal }) => findLine(api, list, id, signal),
    enabled: listed === null,
  })
  const line = listed ?? elsewhere.data ?? null
  const data = story.data
  if (data === undefined)
    return story.error === null ? (
      <DetailSkeleton />
    ) : (
      <ErrorState failure={story.error} retry={() => void story.refetch()} />
    )
  return (
    <>
      <SidePanelHead>
        <h2>
          <DeviceText value={line?.title ?? data.title} />
        </h2>
        <MoreMenu
          label={strings.moreOfThisNotice}
          curl={() => curlOf(window.location.origin, getNotice, { params: { id } })}
        />
      </SidePanelHead>
      <div className={classes.drawerBody}>
        {line === null ? null : <LineHead {...{ line, canDismiss, pin, dismiss }} />}
        {data.dismissedBy === '' ? null : (
          <p className={classes.quiet} role="note">
            {strings.dismissedForAllByDevicetextIt({ deviceText: <DeviceText value={data.dismissedBy} /> })}
          </p>
        )}
        {data.hosts.length === 0 ? null : (
          <section aria-label={strings.hosts} className={classes.section}>
            <h3>{data.hosts.length === 1 ? strings.host : strings.hosts}</h3>
            <NoticeHosts hosts={data.hosts} evidence={data.matched} />
            {line?.about?.words === 'Devices of this model' ? (
              <PlainLink href={line.about.href}>{strings.allHostsWithThisModel}</PlainLink>
            ) : null}
          </section>
        )}
        <Why data={data} line={line} />
        <Events data={data} />
        <Told data={data} />
      </div>
    </>
  )
}

/** The drawer of a notice: why it is there, what is behind it, who was told, and what can be done. */
export const NoticeDrawer = ({ close, ...rest }: NoticeDrawerProps) => (
  <SidePanel label={strings.notice} close={close}>
    <Body key={`${rest.list} ${rest.id}`} {...rest} />
  </SidePanel>
)
